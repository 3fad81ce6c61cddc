"""Moves of one line: the readable rule of each game, and the fast tables made from it.

`move_line(rule, line)` specifies the moves of a game, on a plain array of tile codes. It is used twice: to fill the
tables, and to move boards with tiles that do not fit in a nibble.

A table has an entry for each of the 65,536 lines of four nibbles (first cell highest): the moved line in the low 16
bits, and in the high 16 bits what the game derives the reward from. The tables of all directions are concatenated to
one array; `offsets[action]` is the index where the table of an action begins.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, Word, inline, kernel
from tilewright.games.rules import LineOffsets, LineTable

__all__ = [
    "LINES",
    "Line",
    "LineRule",
    "arrange_tables",
    "build_line_table",
    "join_rows",
    "look_up_rows",
    "move_line",
    "rewards_of_rows",
]

u64 = np.uint64
LineRule: TypeAlias = tuple[int, ...]  # a NamedTuple type of some game
Line: TypeAlias = NDArray[np.int64]  # tile codes, changed in place
LINES = 65536


def move_line(rule: LineRule, line: Line) -> Int:
    """Move `line` towards its first cell, in place; returns the high half of the table entry."""
    raise TypeError("move_line is a verb for kernels")


def build_line_table(rule: LineRule, rows: int, columns: int) -> tuple[LineTable, LineOffsets]:
    """Build the table of all moves on a board of this shape from `move_line`."""
    return arrange_tables(lambda length: _line_tables(rule, length), rows, columns)


def arrange_tables(
    tables: Callable[[int], tuple[LineTable, LineTable]], rows: int, columns: int
) -> tuple[LineTable, LineOffsets]:
    """Concatenate the tables of all directions; a square board needs two, any other board four.

    Args:
        tables: Gives the tables for lines of a length: moves to the first cell, and moves to the last cell.
        rows: The number of rows of the board.
        columns: The number of columns of the board.

    Returns:
        The concatenated tables, and the offset of each action in them.
    """
    left, right = tables(columns)
    if rows == columns:
        return np.concatenate([left, right]), np.array([0, 1, 1, 0], np.uint64) << np.uint64(16)
    up, down = tables(rows)
    return np.concatenate([up, right, down, left]), np.arange(4, dtype=np.uint64) << np.uint64(16)


def _line_tables(rule: LineRule, length: int) -> tuple[LineTable, LineTable]:
    """Moves to the first and to the last cell, for lines of `length` cells; entries of longer lines are 0."""
    first, last = np.zeros(LINES, np.uint32), np.zeros(LINES, np.uint32)
    _fill_line_tables(rule, np.empty(length, np.int64), first, last)
    return first, last


@kernel
def _fill_line_tables(rule: LineRule, line: Line, first: LineTable, last: LineTable) -> None:
    """Fill both tables; `line` is overwritten."""
    length = len(line)
    for number in range(0, LINES, 16 ** (4 - length)):
        for i in range(length):
            line[i] = (number >> (12 - 4 * i)) & 15
        high = move_line(rule, line)
        first[number] = _pack(line, high)
        for i in range(length):
            line[length - 1 - i] = (number >> (12 - 4 * i)) & 15
        high = move_line(rule, line)
        last[number] = _pack(line[::-1], high)


@inline
def _pack(line: Line, high: int) -> np.uint32:
    packed = high << 16
    for i in range(len(line)):
        packed |= (line[i] & 15) << (12 - 4 * i)
    return np.uint32(packed)


@inline
def look_up_rows(table: LineTable, offset: Word, cells: Word) -> tuple[Word, Word, Word, Word]:
    """The table entries of the four rows, from the top."""
    return (
        u64(table[offset | (cells >> u64(48))]),
        u64(table[offset | ((cells >> u64(32)) & u64(0xFFFF))]),
        u64(table[offset | ((cells >> u64(16)) & u64(0xFFFF))]),
        u64(table[offset | (cells & u64(0xFFFF))]),
    )


@inline
def rewards_of_rows(rewards: NDArray[np.int64], a: Word, b: Word, c: Word, d: Word) -> Int:
    """The sum of the rewards of four rows, whose numbers are the high halves of their table entries."""
    high = u64(16)
    return rewards[a >> high] + rewards[b >> high] + rewards[c >> high] + rewards[d >> high]


@inline
def join_rows(a: Word, b: Word, c: Word, d: Word) -> Word:
    """The board whose rows are the low halves of four table entries."""
    low = u64(0xFFFF)
    return ((a & low) << u64(48)) | ((b & low) << u64(32)) | ((c & low) << u64(16)) | (d & low)
