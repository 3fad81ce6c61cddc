"""Boards in text: every form that is read and written."""

from typing import Any

import numpy as np
import pytest

from tilewright.errors import BoardError
from tilewright.games import make_game

GAME = make_game("2048")
THREES = make_game("threes")
ROWS = [[2, 0, 0, 0], [0, 4, 0, 0], [0, 0, 8, 0], [0, 0, 0, 16]]
BOARD = GAME.parse(ROWS)
EMPTY = "0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"


@pytest.mark.parametrize(
    "source",
    [
        "2 0 0 0 / 0 4 0 0 / 0 0 8 0 / 0 0 0 16",
        "2 0 0 0 0 4 0 0 0 0 8 0 0 0 0 16",
        "2 . . . / . 4 . . / . . 8 . / . . . 16",
        "2,0,0,0,0,4,0,0,0,0,8,0,0,0,0,16",
        "  2, 0, 0, 0 /0 4 0 0/ 0 0 8 0 / 0 0 0 16 /  ",
        "2 0 0 0\n0 4 0 0\n0 0 8 0\n0 0 0 16\n",
        "1000020000300004",
        "0x1000020000300004",
        "https://2048verse.com/p/1000020000300004",
        "HTTPS://2048VERSE.COM/P/1000020000300004",
        "2048verse.com/p/1000020000300004",
        "https://board.2048verse.com/1000020000300004/classic/false/4x4",
        "https://example.org/play?seed=0123456789abcdef0&board=1000020000300004#top",
        "[[2, 0, 0, 0], [0, 4, 0, 0], [0, 0, 8, 0], [0, 0, 0, 16]]",
        "[2, 0, 0, 0, 0, 4, 0, 0, 0, 0, 8, 0, 0, 0, 0, 16]",
        '{"board": [[2, 0, 0, 0], [0, 4, 0, 0], [0, 0, 8, 0], [0, 0, 0, 16]]}',
        ROWS,
        tuple(map(tuple, ROWS)),
        [tile for row in ROWS for tile in row],
        {"board": ROWS},
        np.array(ROWS),
        np.array(ROWS, np.uint8).reshape(16),
        [[np.int64(tile) for tile in row] for row in ROWS],
        BOARD,
    ],
)
def test_every_form_of_a_board_is_read(source: Any) -> None:
    assert GAME.parse(source) == BOARD


def test_hexadecimal_digits_are_codes_in_upper_or_lower_case() -> None:
    assert GAME.parse("F" + 15 * "0") == GAME.parse("f" + 15 * "0") == GAME.parse([32768] + [0] * 15)
    assert THREES.parse("f" + 15 * "0").tiles[0][0] == 12288


def test_small_boards_are_read_by_their_own_shape() -> None:
    game = make_game("2048", rows=2, columns=3)
    assert game.parse("2 4 8 / 0 0 16").tiles == ((2, 4, 8), (0, 0, 16))
    assert game.parse("123004") == game.parse("2 4 8 0 0 16")


def test_a_board_of_another_game_is_read_by_its_tiles() -> None:
    cascading = make_game("2048:cascade=true")
    assert cascading.parse(BOARD) == cascading.parse(ROWS)
    with pytest.raises(BoardError, match=r"cell 2 .*: 1 is not a tile of 2048"):
        GAME.parse(THREES.parse([0, 1] + [0] * 14))


def test_links_are_read_by_the_shape_of_the_game() -> None:
    assert make_game("2048:rows=3,columns=3").parse("https://2048verse.com/p/12a246033").tiles == (
        (2, 4, 1024),
        (4, 16, 64),
        (0, 8, 8),
    )
    assert THREES.parse("https://2048verse.com/p/1000020000300004 hint=2").notes == {"hint": "2"}


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        (EMPTY, {}),
        (f"{EMPTY} hint=2", {"hint": "2"}),
        (f"hint=3 {EMPTY} bag=413", {"hint": "3", "bag": "413"}),
        (EMPTY.replace("0", "3", 1) + " bag=001 entry=3", {"bag": "001", "entry": "3"}),
        (f"{EMPTY} hint=+24", {"hint": "+24"}),
        (EMPTY.replace("0", "48", 1) + " hint=+", {"hint": "+"}),
        (EMPTY.replace("0", "192", 1) + " hint=+24", {"hint": "+"}),
        (EMPTY.replace("0", "192", 1) + " hint=+12", {"hint": "+12"}),
        ('{"board": [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0], "hint": 1, "bag": [4, 1, 3]}', {"hint": "1", "bag": "413"}),
        ("0000000000000000 hint=1", {"hint": "1"}),
    ],
)
def test_notes_of_threes_are_read_and_written(text: str, notes: dict[str, str]) -> None:
    board = THREES.parse(text)
    assert board.notes == notes
    assert THREES.parse(THREES.text(board)) == board
