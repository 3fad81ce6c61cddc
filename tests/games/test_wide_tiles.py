"""2048 beyond the nibbles: 65536 and 131072, made, moved, printed and read."""

import json

import numpy as np
import pytest

from tests.games.naive import Naive2048
from tests.games.sampling import spawned
from tests.games.variants import naive_state
from tilewright.agents import make_agent
from tilewright.games import make_game
from tilewright.games.episode import Episode
from tilewright.games.rules import ILLEGAL, LEFT, typed_state
from tilewright.games.state_kernels import slide_one
from tilewright.play.evaluate import Evaluation
from tilewright.rng import stream_for

GAME = make_game("2048")
WIDE_BOARDS = [
    "65536 131072 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2",
    "32768 32768 65536 4 / 4 65536 65536 4 / 2 0 0 2 / 131072 8 16 32768",
    "65536 2 65536 2 / 2 65536 2 65536 / 65536 2 65536 2 / 2 65536 2 65536",
]


def slid(text: str, action: str = "left") -> tuple[str, int]:
    after, reward = GAME.slide(GAME.parse(text), action)
    return GAME.text(after).split(" / ")[0], reward


@pytest.mark.parametrize(
    ("row", "moved", "reward"),
    [
        ("32768 32768 0 0", "65536 0 0 0", 65536),
        ("32768 32768 32768 32768", "65536 65536 0 0", 131072),
        ("65536 0 65536 2", "131072 2 0 0", 131072),
        ("65536 65536 65536 65536", "131072 131072 0 0", 262144),
        ("32768 32768 65536 0", "65536 65536 0 0", 65536),
        ("0 0 65536 131072", "65536 131072 0 0", 0),
        ("4 4 65536 65536", "8 131072 0 0", 131080),
    ],
)
def test_tiles_merge_beyond_32768(row: str, moved: str, reward: int) -> None:
    assert slid(f"{row} / 0 0 0 0 / 0 0 0 0 / 0 0 0 0") == (moved, reward)


def test_a_move_of_every_lane_earns_all_its_rewards() -> None:
    board = GAME.parse("32768 32768 4 4 / 65536 0 0 65536 / 2 2 2 2 / 131072 0 16 16")
    after, reward = GAME.slide(board, "left")
    assert GAME.text(after) == "65536 8 0 0 / 131072 0 0 0 / 4 4 0 0 / 131072 32 0 0"
    assert reward == 65536 + 8 + 131072 + 4 + 4 + 32


def test_two_131072_do_not_merge() -> None:
    # No game gets there: the tiles of the fullest board a game can reach, 131072 65536 … 8 4, add up to 262,140.
    board = GAME.parse("131072 131072 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    assert "left" not in GAME.legal(board)
    assert slide_one(GAME.rules, typed_state(board.state), LEFT)[1] == ILLEGAL


def test_cascades_go_on_beyond_the_nibbles() -> None:
    game = make_game("2048:cascade=true")
    after, reward = game.slide(game.parse("16384 16384 32768 65536" + " 0" * 12), "left")
    assert after.tiles[0] == (131072, 0, 0, 0)
    assert reward == 32768 + 65536 + 131072


def test_a_chain_of_32768s_is_played_into_a_131072() -> None:
    stream = stream_for(3)
    board, score = GAME.parse("32768 32768 32768 32768 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"), 0
    for _ in range(2):
        after, reward = GAME.slide(board, "left")
        board, _gain = GAME.spawn(after, stream)
        score += reward
    assert board.tiles[0][0] == GAME.largest(board) == 131072
    assert score == 4 * 65536


def test_the_fullest_board_folds_into_a_131072() -> None:
    board, score = GAME.parse("65536 32768 16384 8192 / 512 1024 2048 4096 / 256 128 64 32 / 4 4 8 16"), 0
    naive, state = Naive2048(), naive_state(board)
    lefts, rights = ["left"] * 3, ["right"] * 3
    for action in [*lefts, "right", "up", *lefts, "up", *rights, "up", *lefts]:
        expected = naive.slide(state, action)
        board, reward = GAME.slide(board, action)
        assert (naive_state(board), reward) == expected
        state, score = naive_state(board), score + reward
    assert GAME.text(board) == "131072 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"
    assert score == sum(2**k for k in range(3, 18))


@pytest.mark.parametrize("text", WIDE_BOARDS)
def test_wide_boards_read_back_from_every_form(text: str) -> None:
    board = GAME.parse(text)
    assert GAME.text(board) == text
    assert GAME.parse(board.to_json()) == board
    assert GAME.parse(json.dumps(board.to_json())) == board
    assert GAME.parse(board.tiles) == board
    assert all(str(tile) in str(board) for row in board.tiles for tile in row if tile)
    assert all(f">{tile or ''}</td>" in board._repr_html_() for row in board.tiles for tile in row)


def test_a_wide_board_is_drawn_with_room_for_six_digits() -> None:
    lines = str(GAME.parse(WIDE_BOARDS[0])).splitlines()
    assert lines[1] == "│  65536 │ 131072 │        │        │"
    assert len({len(line) for line in lines}) == 1


@pytest.mark.parametrize("text", WIDE_BOARDS)
def test_symmetric_boards_have_the_same_wide_tiles(text: str) -> None:
    board = GAME.parse(text)
    symmetries = GAME.symmetries(board)
    assert symmetries[1].tiles == tuple(row[::-1] for row in board.tiles)
    assert symmetries[2].tiles == board.tiles[::-1]
    assert symmetries[4].tiles == tuple(zip(*board.tiles, strict=True))
    assert all(GAME.largest(symmetry) == GAME.largest(board) for symmetry in symmetries)


def test_the_largest_tile_is_found_in_every_cell() -> None:
    for tile in (65536, 131072):
        for cell in range(16):
            board = GAME.parse([tile if i == cell else 32768 for i in range(16)])
            assert GAME.largest(board) == tile


@pytest.mark.parametrize("text", WIDE_BOARDS[:2])
def test_a_new_tile_never_comes_onto_a_wide_one(text: str) -> None:
    board = GAME.parse(text)
    empty = [(r, c) for r in range(4) for c in range(4) if board.tiles[r][c] == 0]
    for outcome in spawned(GAME, board, 20_000):
        changed = [(r, c) for r in range(4) for c in range(4) if outcome.tiles[r][c] != board.tiles[r][c]]
        assert len(changed) == 1
        assert changed[0] in empty


def test_wide_tiles_side_by_side_are_a_move_and_others_are_not() -> None:
    assert GAME.is_over(GAME.parse(WIDE_BOARDS[2]))
    assert GAME.legal(GAME.parse("65536 65536 4 2 / 2 4 2 4 / 4 2 4 2 / 2 4 2 4")) == ["right", "left"]


def test_a_game_can_be_won_with_131072() -> None:
    episode = Episode(make_game("2048:win_tile=131072"))
    for tile, won in ((65536, False), (131072, True)):
        episode.board = episode.game.parse([tile] + [0] * 15)
        assert episode.is_won == won


def test_an_evaluation_counts_games_that_reached_wide_tiles() -> None:
    games = np.array([0, 0, 0])
    evaluation = Evaluation("greedy", GAME, 0, 1, games, games, np.array([15, 16, 17]), 1.0)
    reached = {tile: round(3 * rate.value) for tile, rate in evaluation.reach.items()}
    assert reached == {32768: 3, 65536: 2, 131072: 1}


def test_agents_play_on_wide_boards() -> None:
    board = GAME.parse(WIDE_BOARDS[1])
    values = make_agent("greedy").values(board)
    assert list(values) == GAME.legal(board)
    assert values["left"] == GAME.slide(board, "left")[1] == 65536 + 131072 + 4
