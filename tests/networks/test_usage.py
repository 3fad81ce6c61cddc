"""The weights that play looks up, against a naive player and a naive search of two plies."""

import dataclasses

import numpy as np
import pytest

from tilewright import Episode, evaluate, make_game
from tilewright.agents.expectimax import ModelSearch
from tilewright.agents.ntuple import ModelAgent
from tilewright.errors import UsageError
from tilewright.games.board import Board
from tilewright.networks.model import Model
from tilewright.networks.shapes import NetworkShape
from tilewright.networks.stages import UNWRITTEN
from tilewright.networks.usage import only_what_is_used, used_weights

GAMES = ["2048:rows=3,columns=3", "threes:rows=3,columns=3"]


def random_model(game: str, **shape: object) -> Model:
    made = NetworkShape(("0145", "012"), **shape)  # type: ignore[arg-type]
    weights = np.random.default_rng(1).uniform(1, 50, made.table_size).astype(np.float32)
    return Model(make_game(game), made, "afterstate", weights)


@pytest.mark.parametrize("game", GAMES)
def test_without_the_other_weights_all_values_along_the_games_are_the_same(game: str) -> None:
    """One and two plies deep, at every board of the games that were marked."""
    model = random_model(game)
    cut = only_what_is_used(model, 3, seed=5, threads=2)
    assert 0 < np.count_nonzero(cut.weights) < np.count_nonzero(model.weights)
    for number in range(3):
        episode = Episode(model.game, 5, number)
        while not episode.is_over:
            for depth in (1, 2):
                values = [ModelSearch(depth=depth, network=one).values(episode.board) for one in (model, cut)]
                assert values[0] == values[1]
            episode.move(ModelAgent(model).move(episode.board))


def test_exactly_the_weights_are_marked_that_some_board_reads() -> None:
    """The weight of a pair of tiles is used just if a board with that pair is looked at, by the naive search below."""
    shape = NetworkShape(("01",), symmetric=False)
    weights = np.random.default_rng(2).uniform(1, 50, shape.table_size).astype(np.float32)
    model = Model(make_game("2048:rows=2,columns=2"), shape, "afterstate", weights)
    used = used_weights(model, 20, seed=1, threads=1)
    read: set[tuple[int, int]] = set()
    for number in range(20):
        episode = Episode(model.game, 1, number)
        while not episode.is_over:
            for after in _afterstates(episode.board):
                read.add(_first_two(after))
                for state in _outcomes(after):
                    read |= {_first_two(later) for later in _afterstates(state)}
            episode.move(ModelAgent(model).move(episode.board))
    assert used.sum() == len(read)


def _afterstates(board: Board) -> list[Board]:
    return [board.game.slide(board, action)[0] for action in board.game.legal(board)]


def _outcomes(after: Board) -> list[Board]:
    return [board for board, _ in after.game.outcomes(after)]


def _first_two(board: Board) -> tuple[int, int]:
    return board.tiles[0][0], board.tiles[0][1]


def test_stages_that_promote_keep_what_is_read_instead() -> None:
    model = random_model(GAMES[0], stages=("32",), promote=True)
    half = model.shape.promoted_from or 0
    model.weights[half + 1 :: 2] = UNWRITTEN
    cut = only_what_is_used(model, 10, threads=1)
    before, after = (evaluate(ModelAgent(one), one.game, games=10, seed=0, threads=1) for one in (model, cut))
    np.testing.assert_array_equal(before.scores, after.scores)


def test_only_afterstate_values_can_be_cut() -> None:
    model = dataclasses.replace(random_model(GAMES[0]), method="state")
    with pytest.raises(UsageError, match="a network of state values; only those of afterstates"):
        used_weights(model, 1)
