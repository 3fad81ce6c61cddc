"""α-β against plain minimax, which leaves nothing out."""

import random

import numpy as np
import pytest

from tests.games.variants import random_board
from tests.search import naive_minimax as naive
from tilewright import Board, make_game
from tilewright.games.policy import act_one
from tilewright.games.rules import ACTIONS, typed_state
from tilewright.rng import stream_for
from tilewright.search.heuristic import WEIGHTS, make_heuristic
from tilewright.search.minimax import LOST, MAX_DEPTH, MAX_REPLIES, Minimax, make_minimax

SMALL = ["2048:rows=3,columns=3", "threes:rows=3,columns=3,start_tiles=5"]
OPEN = "2 4 8 16 / 4 0 0 0 / 2 0 0 2 / 0 0 0 0"


def searched(search: Minimax, board: Board) -> dict[str, float]:
    act_one(search, board.game.rules, typed_state(board.state), stream_for(0))
    return {action: float(search.q_values[i]) for i, action in enumerate(ACTIONS) if np.isfinite(search.q_values[i])}


def narrow(board: Board) -> bool:
    """Whether no move of the naive twin's meets a 65536: it does not know how a heuristic sees one."""
    return board.game.largest(board) <= 8192


@pytest.mark.parametrize(
    ("spec", "depth", "boards"),
    [("2048", 1, 40), ("2048", 2, 15), ("threes", 1, 40), ("threes", 2, 15)]
    + [(spec, depth, boards) for spec in SMALL for depth, boards in ((2, 20), (3, 6))],
)
def test_values_are_those_of_plain_minimax(spec: str, depth: int, boards: int) -> None:
    game, rng = make_game(spec), random.Random(depth)
    search = make_minimax(make_heuristic(game), depth)
    done = 0
    while done < boards:
        board = random_board(game, rng)
        if not narrow(board):
            continue
        done += 1
        expected = naive.deepening(board, WEIGHTS[game.name], depth)
        assert searched(search, board) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("2048", "2 8 4 2 / 16 32 2 8 / 4 128 64 4 / 2 16 4 0"),
        ("2048", "256 128 8 2 / 64 32 4 4 / 2 8 2 0 / 4 2 16 2"),
        ("threes", "1 2 3 6 / 12 3 1 2 / 48 24 2 3 / 6 1 3 0 hint=1 bag=222"),
        ("threes", "1 2 3 6 / 12 3 1 2 / 48 24 2 3 / 6 1 3 0 hint=+ bag=222"),
    ],
)
def test_depth_three_on_full_boards(spec: str, text: str) -> None:
    board = make_game(spec).parse(text)
    expected = naive.deepening(board, WEIGHTS[spec], 3)
    assert searched(make_minimax(make_heuristic(board.game), 3), board) == pytest.approx(expected, rel=1e-5)


def test_a_move_that_can_lose_at_once_is_worth_the_loss() -> None:
    """Left leaves one empty cell, and a 4 there merges with nothing; up and down merge and leave room."""
    board = make_game("2048:rows=2,columns=2").parse("0 2 / 8 2")
    search = make_minimax(make_heuristic(board.game), 2)
    values = searched(search, board)
    expected = naive.minimax(board, WEIGHTS["2048"], 2)
    assert values == pytest.approx(expected, rel=1e-5)
    assert min(values.values()) < LOST / 2 < max(values.values())


def test_where_every_move_loses_by_force_the_depth_before_counts() -> None:
    board = make_game("2048:rows=2,columns=2").parse("2 8 / 16 0")
    search = make_minimax(make_heuristic(board.game), MAX_DEPTH)
    values = searched(search, board)
    depth = int(search.status.depth[0])
    assert 1 <= depth < MAX_DEPTH
    assert max(values.values()) > LOST / 2
    assert values == pytest.approx(naive.minimax(board, WEIGHTS["2048"], depth), rel=1e-5)
    assert max(naive.minimax(board, WEIGHTS["2048"], depth + 1).values()) < LOST / 2


def test_a_finished_game_has_no_values() -> None:
    board = make_game("2048:rows=2,columns=2").parse("2 4 / 4 2")
    assert searched(make_minimax(make_heuristic(board.game), 3), board) == {}


@pytest.mark.parametrize("spec", ["2048", "threes"])
def test_a_search_leaves_nothing_behind_for_the_next(spec: str) -> None:
    game, rng = make_game(spec), random.Random(7)
    used = make_minimax(make_heuristic(game), 3)
    for _ in range(20):
        board = random_board(game, rng)
        assert searched(used, board) == searched(make_minimax(make_heuristic(game), 3), board)


@pytest.mark.parametrize("text", ["0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 6144", "0 0 0 0 / 0 48 0 0 / 0 0 0 0 / 0 0 0 0"])
@pytest.mark.parametrize("notes", ["", " hint=+", " hint=1 bag=111"])
def test_there_is_room_for_all_replies(text: str, notes: str) -> None:
    board = make_game("threes").parse(text + notes)
    for action in board.game.legal(board):
        assert len(naive.placements(board.game.slide(board, action)[0])) <= MAX_REPLIES
    assert len(searched(make_minimax(make_heuristic(board.game), 2), board)) == len(board.game.legal(board))


@pytest.mark.parametrize("ms", [0.01, 1, 20])
def test_the_values_at_a_deadline_are_those_of_the_reported_depth(ms: float) -> None:
    """Whatever depth the machine reaches in that time."""
    board = make_game("2048").parse(OPEN)
    search = make_minimax(make_heuristic(board.game), milliseconds=ms)
    values = searched(search, board)
    depth = int(search.status.depth[0])
    assert depth >= 1
    assert values == searched(make_minimax(make_heuristic(board.game), depth), board)


def test_a_nanosecond_is_enough_for_depth_one_and_for_no_more() -> None:
    board = make_game("2048").parse(OPEN)
    search = make_minimax(make_heuristic(board.game), milliseconds=1e-6)
    assert searched(search, board) == searched(make_minimax(make_heuristic(board.game), 1), board)
    assert search.status.depth[0] == 1


def test_a_distant_deadline_does_not_stop_a_search() -> None:
    board = make_game("2048").parse(OPEN)
    search = make_minimax(make_heuristic(board.game), 3, milliseconds=3_600_000)
    assert searched(search, board) == searched(make_minimax(make_heuristic(board.game), 3), board)
    assert search.status.depth[0] == 3


def test_a_deeper_search_judges_far_fewer_boards_than_there_are() -> None:
    board = make_game("2048").parse(OPEN)
    search = make_minimax(make_heuristic(board.game), 3)
    searched(search, board)
    everything = 4 * 20 * 4 * 20
    assert search.status.nodes[0] < everything
