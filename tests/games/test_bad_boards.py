"""Every bad board is refused with a short BoardError, which names the cell where one is at fault."""

from typing import Any

import numpy as np
import pytest

from tilewright.agents import make_agent
from tilewright.errors import BoardError, IllegalMoveError
from tilewright.games import make_game
from tilewright.games.episode import Episode

EMPTY = "0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"


def with_second(value: Any) -> list[list[Any]]:
    """An empty board but for its second cell."""
    return [[0, value, 0, 0], [0] * 4, [0] * 4, [0] * 4]


def refusal(source: Any, game_spec: str = "2048") -> str:
    """The message for a bad board: at most two lines, none of them long."""
    with pytest.raises(BoardError) as caught:
        make_game(game_spec).parse(source)
    message = str(caught.value)
    assert len(message.splitlines()) <= 2
    assert len(message) < 250
    return message


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (3, "3 is not a tile of 2048"),
        (-2, "-2 is not a tile of 2048"),
        (1, "1 is not a tile of 2048"),
        (131073, "131073 is not a tile of 2048"),
        (262144, "262144 is not a tile of 2048"),
        pytest.param(10**5000, "is not a tile of 2048", id="5001 digits"),
        (2.0, "2.0 is not a whole number"),
        (np.float32(2), "2.0 is not a whole number"),
        (float("nan"), "nan is not a whole number"),
        (float("inf"), "inf is not a whole number"),
        (True, "True is not a whole number"),
        (None, "None is not a whole number"),
        ("2", "'2' is not a whole number"),
        ("two\nlines\nor\nmore" * 100, "is not a whole number"),
        ([2], "[2] is not a whole number"),
        ({"2": 2}, "is not a whole number"),
    ],
)
def test_a_bad_cell_is_named_with_its_reason(value: Any, reason: str) -> None:
    for source in (with_second(value), {"board": with_second(value)}):
        message = refusal(source)
        assert message.startswith("cell 2 (row 1, column 2): ")
        assert reason in message


@pytest.mark.parametrize("word", ["3", "-2", "131073", "٢", "²", "2.0", "1e3", "two", "x", "9" * 500, "0x2", "--2"])
def test_a_bad_word_is_named_with_its_cell(word: str) -> None:
    assert refusal(EMPTY.replace("0 / 0 0", f"0 / 0 {word}", 1)).startswith("cell 6 (row 2, column 2): ")


@pytest.mark.parametrize("word", ["NaN", "2.0", "true", "null", '"2"', "[2]", "1" * 900])
def test_a_bad_json_value_is_named_with_its_cell(word: str) -> None:
    message = refusal(f"[[0,0,0,0],[0,0,0,0],[0,0,0,0],[0,0,0,{word}]]")
    assert message.startswith("cell 16 (row 4, column 4): ")


@pytest.mark.parametrize(("value", "spec"), [(4, "threes"), (24576, "threes"), (12288, "threes:max_tile=6144")])
def test_threes_refuses_tiles_that_are_not_its_own(value: int, spec: str) -> None:
    assert refusal(with_second(value), spec).startswith(f"cell 2 (row 1, column 2): {value} is ")


def test_a_digit_beyond_the_largest_tile_is_refused() -> None:
    assert refusal("0f" + 14 * "0", "threes:max_tile=6144").startswith("cell 2 (row 1, column 2): 12288 is beyond")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("", "the text is empty"),
        (" \n ", "the text is empty"),
        ("hello", "'hello' is not a board; give 16 numbers, or 16 hexadecimal digits"),
        ("11200000000000g", "is not a board; give 16 numbers, or 16 hexadecimal digits"),
        ("https://2048verse.com/", "has no part of 16 hexadecimal digits"),
        ("https://2048verse.com/p/12a246033", "has no part of 16 hexadecimal digits"),
        (b"1120000000000001", "is not a board"),
        ("0 " * 15, "15 numbers"),
        ("0 " * 17, "17 numbers"),
        ("0" * 15, "15 hexadecimal digits"),
        ("0" * 17, "17 hexadecimal digits"),
        ("hint=1", "0 numbers"),
        ("2 0 0 / 0 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "row 1 has 3 numbers"),
        ("0 0 0 0 / 0 0 / 0 0 0 0 0 0 / 0 0 0 0", "row 2 has 2 numbers"),
        ("/ 0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "row 1 has 0 numbers"),
        ("0 0 0 0 // 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "row 2 has 0 numbers"),
        ("0 0 0 0 0 0 0 0 / 0 0 0 0 0 0 0 0", "row 1 has 8 numbers"),
        ("0 0 0 0 / 0 0 0 0 / 0 0 0 0", "12 numbers"),
        ("[[2, 0", "JSON"),
        ("{]", "JSON"),
        pytest.param("[" * 1000, "JSON", id="1000 brackets"),
        ("{}", "is not a board"),
        ('{"tiles": []}', "is not a board"),
        ('{"board": "0 0"}', "is not a board"),
        ("[]", "0 numbers"),
        ([[0] * 4] * 3, "3 rows"),
        ([[0] * 4] * 5, "5 rows"),
        ([[0] * 4, [0] * 3, [0] * 4, [0] * 4], "row 2 is [0, 0, 0]"),
        ([[0] * 4, 0, [0] * 4, [0] * 4], "row 2 is 0"),
        ([[[0] * 4] * 4], "1 row;"),
        ([[]] * 4, "row 1 is []"),
        (np.zeros((4, 3), int), "row 1 is"),
        (np.zeros((2, 2, 4), int), "row 1 is"),
        (np.array(2), "is not a board"),
        (None, "is not a board"),
        (2, "is not a board"),
        (2.5, "is not a board"),
        ({2, 4}, "is not a board"),
    ],
)
def test_a_wrong_shape_is_told(source: Any, reason: str) -> None:
    assert reason in refusal(source)


def test_megabytes_of_digits_are_refused_before_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.games.notation.re", None)  # whoever looks into the text fails
    assert "10,000,000 characters" in refusal("1" * 10_000_000)


@pytest.mark.parametrize(
    ("text", "cell", "digit"),
    [
        ("112000000000000g", "cell 16 (row 4, column 4)", "'g'"),
        ("0x11200x0000000000", "cell 6 (row 2, column 2)", "'x'"),
        ("O000000000000000", "cell 1 (row 1, column 1)", "'O'"),
    ],
)
def test_a_bad_hexadecimal_digit_is_named_with_its_cell(text: str, cell: str, digit: str) -> None:
    assert refusal(text) == f"{cell}: {digit} is not a hexadecimal digit (0 to 9, a to f)"


def test_a_board_without_tiles_is_no_position_of_a_game() -> None:
    game = make_game("2048")
    board = game.parse(EMPTY)
    assert board.is_empty
    assert game.legal(board) == []
    assert game.largest(board) == game.tile_sum(board) == 0
    assert len(game.outcomes(board)) == 32
    for refused in (
        game.is_over,
        game.parse_position,
        make_agent("greedy").move,
        lambda start: Episode(game, 0, 0, start),
    ):
        with pytest.raises(BoardError, match="the board has no tiles, so it is not a position of 2048"):
            refused(board)
    with pytest.raises(IllegalMoveError, match=r"left moves nothing on '0 0 0 0 / .*'; the board has no tiles"):
        game.slide(board, "left")


def test_an_afterstate_is_no_position_of_threes() -> None:
    game = make_game("threes")
    after, _ = game.slide("1 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "left")
    with pytest.raises(BoardError, match="entry=…: this board is an afterstate"):
        game.parse_position(after)


@pytest.mark.parametrize(
    "note",
    [
        *("hint=9", "hint=0", "hint=", "hint=4", "hint=+", "hint=+7", "hint=+3", "hint=+3072", "hint=+0000489"),
        *("hint=++", "hint=-1", "hint=+6x", "hint=²", "hint=+٢"),
        *("bag=555", "bag=000", "bag=44", "bag=4444", "bag=", "bag=abc", "bag=-11", "bag=²²²"),
        *("entry=", "entry=g", "entry=A", "entry=-1", "entry=5"),
        *("colour=red", "=1", "hint=1=2", "Hint=1", "hint=1 hint=2", "bag=444 bag=444"),
        "x" * 500 + "=1",
        "hint=" + "1" * 500,
    ],
)
def test_a_wrong_note_is_told_by_its_name(note: str) -> None:
    message = refusal(f"0 0 0 0 / 0 3 0 0 / 0 0 0 0 / 0 0 0 0 {note}", "threes")
    assert note.partition("=")[0][:15] in message


@pytest.mark.parametrize(
    "value",
    [
        *(9, None, True, 1.5, "1\n2\n3\n", [1, 1], {"1": 1}),
        pytest.param(10**5000, id="5001 digits"),
        pytest.param("1" * 10**6, id="a megabyte"),
    ],
)
def test_a_wrong_note_of_json_is_told(value: Any) -> None:
    assert "hint=" in refusal({"board": [0] * 16, "hint": value}, "threes")


def test_a_small_board_has_no_entry_cells_outside_it() -> None:
    assert "entry=3" in refusal("0 0 0 / 0 0 0 entry=3", "threes:rows=2,columns=3,start_tiles=3")


def test_2048_has_no_notes() -> None:
    assert "hint" in refusal(f"{EMPTY} hint=1")
    assert "hint" in refusal({"board": [0] * 16, "hint": "1"})


def test_a_board_that_no_tile_can_enter_has_no_outcomes() -> None:
    game, threes = make_game("2048"), make_game("threes")
    with pytest.raises(BoardError, match="is not an afterstate: it has no note entry=…"):
        threes.outcomes(threes.parse(EMPTY))
    with pytest.raises(BoardError, match="no cell is empty"):
        game.outcomes(game.parse([2, 4] * 8))
