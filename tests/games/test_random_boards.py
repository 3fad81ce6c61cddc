"""Random boards of every variant: slides, legality and outcomes equal the naive games."""

import random

import pytest

from tests.games.naive import DIRECTIONS, score
from tests.games.variants import VARIANTS, naive_state, random_board, twin
from tilewright.errors import IllegalMoveError
from tilewright.games import state_kernels
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.rules import make_outcomes, typed_state
from tilewright.games.threes import Threes

BOARDS = 40


@pytest.fixture(params=VARIANTS, ids=lambda game: game.spec)
def game(request: pytest.FixtureRequest) -> Game:
    found: Game = request.param
    return found


@pytest.fixture
def boards(game: Game) -> list[Board]:
    rng = random.Random(game.spec)
    return [random_board(game, rng) for _ in range(BOARDS)]


def tiles_score(game: Game, board: Board) -> int:
    """The score of the tiles of a board: nothing in 2048."""
    return score(board.tiles) if isinstance(game, Threes) else 0


def test_moves_are_those_of_the_naive_game(game: Game, boards: list[Board]) -> None:
    naive = twin(game)
    for board in boards:
        state = naive_state(board)
        legal = naive.legal(state)
        assert game.legal(board) == legal, board
        assert board.is_empty or game.is_over(board) == (legal == []), board
        for action in DIRECTIONS:
            expected = naive.slide(state, action)
            if expected is None:
                with pytest.raises(IllegalMoveError):
                    game.slide(board, action)
            else:
                after, reward = game.slide(board, action)
                assert (naive_state(after), reward) == expected, board


def test_outcomes_are_those_of_the_naive_game(game: Game, boards: list[Board]) -> None:
    naive = twin(game)
    for board in boards:
        for action in game.legal(board):
            after, _ = game.slide(board, action)
            found = {naive_state(outcome): probability for outcome, probability in game.outcomes(after)}
            assert found == pytest.approx(naive.outcomes(naive_state(after)), rel=1e-9), after


def test_an_outcome_earns_the_points_of_its_new_tile(game: Game, boards: list[Board]) -> None:
    into = make_outcomes()
    for board in boards:
        for action in game.legal(board):
            after, _ = game.slide(board, action)
            before = tiles_score(game, after)
            outcomes = game.outcomes(after)
            state_kernels.outcomes_one(game.rules, typed_state(after.state), into)
            gains = [tiles_score(game, outcome) - before for outcome, _ in outcomes]
            assert into.reward[: len(outcomes)].tolist() == gains, after


def test_the_largest_tile_is_found(game: Game, boards: list[Board]) -> None:
    for board in boards:
        assert game.largest(board) == max(max(row) for row in board.tiles)


def test_the_tiles_are_added_up(game: Game, boards: list[Board]) -> None:
    for board in boards:
        assert game.tile_sum(board) == sum(map(sum, board.tiles))
