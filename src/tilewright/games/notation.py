"""Boards in text: one reader and one writer for the command line, HTTP and Python.

Three forms are read: numbers row by row (separated by spaces, commas or slashes; `.` or 0 is empty), one
hexadecimal digit of tile code a cell, and JSON (a nested array, or an object with the array as "board"). Words of
the form `name=text`, and the other members of a JSON object, are notes: what the player knows beside the tiles.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tilewright.errors import BoardError

__all__ = ["codes_of_values", "excerpt", "read", "write"]

LONGEST_TEXT = 1000
LONGEST_NOTE = 60
Values = list[Any]  # what stands in each cell: an int, or whatever was found there
Notes = dict[str, str]


def write(tiles: Sequence[Sequence[int]], notes: Mapping[str, str]) -> str:
    """`2 2 4 0 / 0 0 0 0 / …`, with notes behind it."""
    rows = " / ".join(" ".join(map(str, row)) for row in tiles)
    return " ".join([rows, *(f"{name}={text}" for name, text in notes.items())])


def read(source: Any, rows: int, columns: int, tile_values: Sequence[int]) -> tuple[Values, Notes]:
    """The values of all cells, row by row, and the notes; raises BoardError if the shape is wrong."""
    if isinstance(source, str):
        values, notes = _read_text(source, rows, columns, tile_values)
    else:
        values, notes = _read_object(source, rows, columns)
    for name, text in notes.items():
        note = f"{name}={text}"
        if len(note) > LONGEST_NOTE or not note.isprintable():
            raise BoardError(f"{excerpt(note)} is no note of a board")
    return values, notes


def codes_of_values(values: Values, code: Callable[[int], int], columns: int) -> list[int]:
    """The codes of all values; an error names the cell."""
    codes = []
    for i, value in enumerate(values):
        try:
            if isinstance(value, str | bool) or not isinstance(value, int | np.integer):
                raise BoardError(f"{excerpt(value)} is not a whole number")
            codes.append(code(int(value)))
        except BoardError as error:
            raise BoardError(f"{cell_name(i, columns)}: {error}") from None
    return codes


def cell_name(i: int, columns: int) -> str:
    return f"cell {i + 1} (row {i // columns + 1}, column {i % columns + 1})"


def excerpt(value: Any) -> str:
    """A short quotation of what was found."""
    try:
        shown = repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:  # Python writes no number of more than some thousand digits
        return "a number of thousands of digits"
    return shown if len(shown) <= 24 else f"{shown[:20]}…"


def _read_text(source: str, rows: int, columns: int, tile_values: Sequence[int]) -> tuple[Values, Notes]:
    source = source.strip()
    if not source:
        raise BoardError("the board is empty text; give its cells row by row, 0 for an empty one")
    if len(source) > LONGEST_TEXT:
        raise BoardError(f"a text of {len(source):,} characters is no board; the longest has {LONGEST_TEXT:,}")
    if source[0] in "[{":
        try:
            found = json.loads(source)
        except (ValueError, RecursionError) as error:
            raise BoardError(f"the board looks like JSON but is not: {error}") from None
        return _read_object(found, rows, columns)
    words = [word for word in re.split(r"[\s,]+|(/)", source) if word]
    notes: Notes = {}
    for name, _, text in (word.partition("=") for word in words if "=" in word):
        if name in notes:
            raise BoardError(f"the note {excerpt(name)} is given twice")
        notes[name] = text
    words = [word for word in words if "=" not in word]
    if len(words) == 1 and re.fullmatch(r"(0x)?[0-9a-fA-F]{3,}", words[0]):
        return _read_hexadecimal(words[0], rows, columns, tile_values), notes
    _check_slashes(words, rows, columns)
    cells: Values = [_number(word) for word in words if word != "/"]
    return _check_count(cells, "number", rows, columns), notes


def _read_hexadecimal(word: str, rows: int, columns: int, tile_values: Sequence[int]) -> Values:
    digits = _check_count(list(word.removeprefix("0x")), "hexadecimal digit", rows, columns)
    return [tile_values[int(digit, 16)] for digit in digits]


def _number(word: str) -> Any:
    if word == ".":
        return 0
    return int(word) if re.fullmatch(r"-?[0-9]{1,20}", word) else word


def _check_slashes(words: list[str], rows: int, columns: int) -> None:
    """Slashes are optional; where there are any, they must part the rows."""
    if "/" not in words:
        return
    lengths = [len(row.split()) for row in " ".join(words).split("/")]
    if lengths and lengths[-1] == 0:
        lengths.pop()
    for row, length in enumerate(lengths[:rows], 1):
        if length != columns:
            raise BoardError(f"row {row} has {_count(length, 'number')}; each of the {rows} rows has {columns}")


def _read_object(found: Any, rows: int, columns: int) -> tuple[Values, Notes]:
    notes: Notes = {}
    if isinstance(found, Mapping):
        notes = {str(name): _note(text) for name, text in found.items() if name != "board"}
        found = found.get("board")
    if isinstance(found, np.ndarray):
        found = found.tolist()
    if not isinstance(found, Sequence) or isinstance(found, str):
        raise BoardError(f"{excerpt(found)} is no board; a {rows}x{columns} array was expected")
    found = [row.tolist() if isinstance(row, np.ndarray) else row for row in found]
    nested = [isinstance(row, Sequence) and not isinstance(row, str) for row in found]
    if not any(nested):
        return _check_count(list(found), "number", rows, columns), notes
    for i, row in enumerate(found):
        if not nested[i] or len(row) != columns:
            raise BoardError(f"row {i + 1} is {excerpt(row)}; each of the {rows} rows has {columns} numbers")
    if len(found) != rows:
        raise BoardError(f"the array has {_count(len(found), 'row')}; a {rows}x{columns} board has {rows}")
    return [value for row in found for value in row], notes


def _note(text: Any) -> str:
    """A note out of JSON; in a list, a number is one digit: the cells [10, 11] are ab."""
    if isinstance(text, list | tuple):
        return "".join(f"{part:x}" if isinstance(part, int) else _note(part) for part in text)
    return text if isinstance(text, str) else excerpt(text)


def _check_count(cells: Values, noun: str, rows: int, columns: int) -> Values:
    if len(cells) != rows * columns:
        raise BoardError(
            f"the board has {_count(len(cells), noun)}; a {rows}x{columns} board has {rows * columns}, row by row"
        )
    return cells


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"
