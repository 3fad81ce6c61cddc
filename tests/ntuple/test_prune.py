"""The weights that play looks up, against a naive player and a naive search of two plies."""

import dataclasses
from collections import Counter

import numpy as np
import pytest

from tilewright import Episode, evaluate, make_game
from tilewright.agents.expectimax import ExpectimaxAgent
from tilewright.agents.ntuple import NTupleAgent
from tilewright.errors import UsageError
from tilewright.games.board import Board
from tilewright.ntuple.model import Model
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.ntuple.prune import count_lookups, prune
from tilewright.ntuple.stages import UNWRITTEN

GAMES = ["2048:rows=3,columns=3", "threes:rows=3,columns=3"]


def random_model(game: str, **shape: object) -> Model:
    made = NTupleArchitecture(("0145", "012"), **shape)  # type: ignore[arg-type]
    weights = np.random.default_rng(1).uniform(1, 50, made.table_size).astype(np.float32)
    return Model(make_game(game), made, "afterstate", weights)


@pytest.mark.parametrize(("game", "downgrade_above"), [(GAMES[0], 0), (GAMES[0], 16), (GAMES[1], 0)])
def test_without_the_other_weights_all_values_along_the_games_are_the_same(game: str, downgrade_above: int) -> None:
    """One and two plies deep, at every board of the games that were marked."""
    model = dataclasses.replace(random_model(game), downgrade_above=downgrade_above)
    cut = prune(model, 3, search_interval=1, seed=5, threads=2)
    assert 0 < np.count_nonzero(cut.weights) < np.count_nonzero(model.weights)
    for number in range(3):
        episode = Episode(model.game, 5, number)
        while not episode.is_over:
            for depth in (1, 2):
                values = [ExpectimaxAgent(depth=depth, model=one).values(episode.board) for one in (model, cut)]
                assert values[0] == values[1]
            episode.move(NTupleAgent(model).move(episode.board))


@pytest.mark.parametrize("every", [1, 3])
def test_weights_are_counted_as_often_as_some_board_reads_them(every: int) -> None:
    """How often a pair of tiles is on the boards that the naive search below looks at."""
    shape = NTupleArchitecture(("01",), symmetric=False)
    weights = np.random.default_rng(2).uniform(1, 50, shape.table_size).astype(np.float32)
    model = Model(make_game("2048:rows=2,columns=2"), shape, "afterstate", weights)
    counts = count_lookups(model, 20, search_interval=every, seed=1, threads=1)
    read: Counter[tuple[int, int]] = Counter()
    for number in range(20):
        episode = Episode(model.game, 1, number)
        while not episode.is_over:
            for after in _afterstates(episode.board):
                read[_first_two(after)] += 1
                if (number + len(episode.history)) % every == 0:
                    read.update(_first_two(later) for state in _outcomes(after) for later in _afterstates(state))
            episode.move(NTupleAgent(model).move(episode.board))
    assert sorted(counts[counts > 0].tolist()) == sorted(read.values())


def test_the_weights_that_are_kept_are_those_looked_up_most_often() -> None:
    model = random_model(GAMES[0])
    counts = count_lookups(model, 10, threads=1)
    for most in (5, 100, 1000, 10**9):
        kept = prune(model, 10, most, threads=1).weights != 0
        assert kept.sum() <= most
        assert counts[kept].min() > (counts[~kept].max() if most < 10**9 else 0)
    with_one_more = counts >= counts[kept := prune(model, 10, 100, threads=1).weights != 0].min() - 1
    assert with_one_more.sum() > 100 or with_one_more.sum() == kept.sum()


def _afterstates(board: Board) -> list[Board]:
    return [board.game.slide(board, action)[0] for action in board.game.legal(board)]


def _outcomes(after: Board) -> list[Board]:
    return [board for board, _ in after.game.outcomes(after)]


def _first_two(board: Board) -> tuple[int, int]:
    return board.tiles[0][0], board.tiles[0][1]


def test_fewer_weights_than_can_be_told_apart_are_refused() -> None:
    """The ends of the 2x2 board's four tuples are looked up far more often than is counted."""
    shape = NTupleArchitecture(("0",))
    model = Model(make_game("2048:rows=2,columns=2"), shape, "afterstate", np.ones(shape.table_size, np.float32))
    with pytest.raises(UsageError, match=r"weights are looked up 65,535 times or more; 1 are too few"):
        prune(model, 20_000, 1, threads=1)


def test_stages_that_promote_keep_what_is_read_instead() -> None:
    model = random_model(GAMES[0], stages=("32",), promote=True)
    half = model.architecture.promoted_from or 0
    model.weights[half + 1 :: 2] = UNWRITTEN
    cut = prune(model, 10, threads=1)
    before, after = (evaluate(NTupleAgent(one), one.game, games=10, seed=0, threads=1) for one in (model, cut))
    np.testing.assert_array_equal(before.scores, after.scores)


def test_only_afterstate_values_can_be_cut() -> None:
    model = dataclasses.replace(random_model(GAMES[0]), value_function="state")
    with pytest.raises(UsageError, match="a network of state values; only those of afterstates"):
        count_lookups(model, 1)
