"""Boards as text: one reader and one writer for the command line, HTTP and Python.

Four forms are read:

    2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2      tile values row by row; `.` or 0 is empty, slashes are optional
    1120000000000001                           tile codes row by row, one hexadecimal digit for each cell
    https://2048verse.com/p/1120000000000001   the same within a link
    [[2, 2, 4, 0], …], {"board": [[…], …]}     JSON, or the same as Python lists and NumPy arrays

Words of the form `name=text`, and the other members of a JSON object, are notes: what the player knows besides the
tiles, such as the hint in Threes.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from tilewright._core.text import excerpt
from tilewright.errors import BoardError

__all__ = ["Shape", "read_board", "read_codes", "write_board"]

MAX_TEXT_LENGTH = 1000
MAX_NOTE_LENGTH = 60
Shape: TypeAlias = tuple[int, int]  # rows, columns
Values: TypeAlias = list[object]  # what each cell contains: an int, or whatever was found there
Notes: TypeAlias = dict[str, str]
_LINK = re.compile(r"([a-z][a-z0-9+.-]*://|([\w-]+\.)+[a-z]{2,}/)\S*", re.IGNORECASE)


def write_board(tiles: Sequence[Sequence[int]], notes: Mapping[str, str]) -> str:
    """Write a board on one line: `2 2 4 0 / 0 0 0 0 / …`, followed by its notes."""
    rows = " / ".join(" ".join(map(str, row)) for row in tiles)
    return " ".join([rows, *(f"{name}={text}" for name, text in notes.items())])


def read_board(source: object, shape: Shape, tile_values: Sequence[int]) -> tuple[Values, Notes]:
    """Read what each cell contains, row by row, and the notes.

    Args:
        source: Text, a sequence, an array, or a mapping with the member "board".
        shape: The number of rows and columns.
        tile_values: The tile values by code, for hexadecimal codes.

    Raises:
        BoardError: The shape is wrong, or the text is in none of the forms.
    """
    if isinstance(source, str):
        values, notes = _read_text(source, shape, tile_values)
    else:
        values, notes = _read_object(source, shape)
    for name, text in notes.items():
        note = f"{name}={text}"
        if len(note) > MAX_NOTE_LENGTH or not note.isprintable():
            raise BoardError(f"{excerpt(note)} is not a note of a board")
    return values, notes


def read_codes(values: Values, code: Callable[[int], int], shape: Shape) -> list[int]:
    """Convert tile values to codes by `code`, which raises BoardError for anything that is not a tile.

    Raises:
        BoardError: A value is not a tile; the message names its cell.
    """
    codes = []
    for i, value in enumerate(values):
        try:
            codes.append(code(value))  # type: ignore[arg-type]
        except BoardError as error:
            raise BoardError(f"{_cell_name(i, shape)}: {error}") from None
    return codes


def _cell_name(i: int, shape: Shape) -> str:
    return f"cell {i + 1} (row {i // shape[1] + 1}, column {i % shape[1] + 1})"


def _read_text(source: str, shape: Shape, tile_values: Sequence[int]) -> tuple[Values, Notes]:
    source = source.strip()
    if not source:
        raise BoardError("the text is empty; give the cells of the board row by row, 0 for an empty one")
    if len(source) > MAX_TEXT_LENGTH:
        raise BoardError(f"a text of {len(source):,} characters is not a board; the longest has {MAX_TEXT_LENGTH:,}")
    if source[0] in "[{":
        try:
            found = json.loads(source)
        except (ValueError, RecursionError) as error:
            raise BoardError(f"the board looks like JSON but is not: {error}") from None
        return _read_object(found, shape)
    if link := _LINK.match(source):
        source = _digits_of_link(link[0], shape) + source[link.end() :]
    words = [word for word in re.split(r"[\s,]+|(/)", source) if word]
    notes: Notes = {}
    for name, _, text in (word.partition("=") for word in words if "=" in word):
        if name in notes:
            raise BoardError(f"the note {excerpt(name)} is given twice")
        notes[name] = text
    words = [word for word in words if "=" not in word]
    if len(words) == 1 and _is_hexadecimal(words[0], shape):
        return _read_hexadecimal(words[0], shape, tile_values), notes
    if len(words) == 1 and isinstance(_number(words[0]), str):
        count = shape[0] * shape[1]
        raise BoardError(f"{excerpt(words[0])} is not a board; give {count} numbers, or {count} hexadecimal digits")
    _check_slashes(words, shape)
    cells: Values = [_number(word) for word in words if word != "/"]
    return _check_count(cells, "number", shape), notes


def _digits_of_link(link: str, shape: Shape) -> str:
    """The last part of a link that has one hexadecimal digit for each cell."""
    count = shape[0] * shape[1]
    parts = [part for part in re.split(r"[^0-9A-Za-z]+", link) if re.fullmatch(rf"[0-9a-fA-F]{{{count}}}", part)]
    if not parts:
        raise BoardError(f"the link {excerpt(link, 60)} has no part of {count} hexadecimal digits")
    return parts[-1]


def _is_hexadecimal(word: str, shape: Shape) -> bool:
    """Whether a single word is meant as codes: it is hexadecimal, or has one letter or digit for each cell."""
    digits = word.removeprefix("0x")
    is_long_enough = len(digits) == shape[0] * shape[1] and digits.isalnum()
    return is_long_enough or re.fullmatch(r"[0-9a-fA-F]{3,}", digits) is not None


def _read_hexadecimal(word: str, shape: Shape, tile_values: Sequence[int]) -> Values:
    values: Values = []
    for i, digit in enumerate(_check_count(list(word.removeprefix("0x")), "hexadecimal digit", shape)):
        if str(digit) not in "0123456789abcdefABCDEF":
            raise BoardError(f"{_cell_name(i, shape)}: {excerpt(digit)} is not a hexadecimal digit (0 to 9, a to f)")
        code = int(str(digit), 16)
        if code >= len(tile_values):
            raise BoardError(
                f"{_cell_name(i, shape)}: {digit} is not a tile code; the largest is {len(tile_values) - 1:x}"
            )
        values.append(tile_values[code])
    return values


def _number(word: str) -> object:
    if word == ".":
        return 0
    return int(word) if re.fullmatch(r"-?[0-9]{1,20}", word) else word


def _check_slashes(words: list[str], shape: Shape) -> None:
    """Slashes are optional; where there are any, they must separate the rows."""
    if "/" not in words:
        return
    rows, columns = shape
    lengths = [len(row.split()) for row in " ".join(words).split("/")]
    if lengths and lengths[-1] == 0:
        lengths.pop()
    for row, length in enumerate(lengths[:rows], 1):
        if length != columns:
            raise BoardError(f"row {row} has {_count(length, 'number')}; each of the {rows} rows has {columns}")


def _read_object(found: object, shape: Shape) -> tuple[Values, Notes]:
    rows, columns = shape
    notes: Notes = {}
    if isinstance(found, Mapping):
        notes = {str(name): _note(text) for name, text in found.items() if name != "board"}
        found = found.get("board")
    found = _to_list(found)
    if not _is_list(found):
        raise BoardError(f"{excerpt(found)} is not a board; a {rows}x{columns} array was expected")
    lines = [_to_list(row) for row in found]  # type: ignore[attr-defined]
    if not any(_is_list(line) for line in lines):
        return _check_count(lines, "number", shape), notes
    for i, line in enumerate(lines):
        if not _is_list(line) or len(line) != columns:  # type: ignore[arg-type]
            raise BoardError(f"row {i + 1} is {excerpt(line)}; each of the {rows} rows has {columns} numbers")
    if len(lines) != rows:
        raise BoardError(f"the array has {_count(len(lines), 'row')}; a {rows}x{columns} board has {rows}")
    return [value for line in lines for value in line], notes  # type: ignore[attr-defined]


def _to_list(found: object) -> object:
    return found.tolist() if isinstance(found, np.ndarray) else found


def _is_list(found: object) -> bool:
    return isinstance(found, Sequence) and not isinstance(found, str | bytes)


def _note(text: object) -> str:
    """A note from JSON; a number in a list is one digit: the cells [10, 11] are ab."""
    if isinstance(text, list | tuple):
        return "".join(f"{part:x}" if isinstance(part, int) else _note(part) for part in text)
    return text if isinstance(text, str) else excerpt(text)


def _check_count(cells: Values, noun: str, shape: Shape) -> Values:
    rows, columns = shape
    if len(cells) != rows * columns:
        raise BoardError(
            f"the board has {_count(len(cells), noun)}; a {rows}x{columns} board has {rows * columns}, row by row"
        )
    return cells


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"
