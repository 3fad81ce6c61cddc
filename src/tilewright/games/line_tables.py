"""One line of a board: the slow clear rule of each game, and the fast tables made from it.

`move_line(rule, line)` is the specification of a game's moves, written over a plain array of tile codes. It is used
twice: to fill the tables, and on boards whose tiles no nibble can hold.

A table is made of parts, one for each kind of line and direction. A part has an entry for each of the 65,536 lines
of four nibbles (first cell highest): the moved line in the low 16 bits, what `move_line` returned in the high 16.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, Word, allocating_kernel, inline

__all__ = ["Line", "LineOffsets", "LineRule", "LineTable", "build_line_table", "join_rows", "look_up_rows", "move_line"]

u64 = np.uint64
LineRule: TypeAlias = Any  # a NamedTuple type of some game
Line: TypeAlias = NDArray[np.int64]  # tile codes, changed in place
LineTable: TypeAlias = NDArray[np.uint32]  # uint32[parts * 65536]
LineOffsets: TypeAlias = NDArray[np.uint64]  # uint64[4]: where in the table each action's part begins


def move_line(rule: LineRule, line: Line) -> Int:
    """Move `line` towards its first cell, in place; returns what the table keeps beside the line."""
    raise TypeError("move_line is a verb for kernels")


def build_line_table(rule: LineRule, rows: int, columns: int) -> tuple[LineTable, LineOffsets]:
    """The table of all moves on a board of that shape; a square one needs two parts, any other four."""
    left, right = _line_tables(rule, columns)
    if rows == columns:
        return np.concatenate([left, right]), np.array([0, 1, 1, 0], np.uint64) << np.uint64(16)
    up, down = _line_tables(rule, rows)
    return np.concatenate([up, right, down, left]), np.arange(4, dtype=np.uint64) << np.uint64(16)


@allocating_kernel
def _line_tables(rule: LineRule, width: int) -> tuple[LineTable, LineTable]:
    """Moves to the first and to the last cell, for lines of `width` cells; longer ones map to 0."""
    first, last = np.zeros(65536, np.uint32), np.zeros(65536, np.uint32)
    line = np.empty(width, np.int64)
    for number in range(0, 65536, 16 ** (4 - width)):
        for i in range(width):
            line[i] = (number >> (12 - 4 * i)) & 15
        note = move_line(rule, line)
        first[number] = _pack(line, note)
        for i in range(width):
            line[width - 1 - i] = (number >> (12 - 4 * i)) & 15
        note = move_line(rule, line)
        last[number] = _pack(line[::-1], note)
    return first, last


@inline
def _pack(line: Line, note: int) -> np.uint32:
    packed = note << 16
    for i in range(len(line)):
        packed |= (line[i] & 15) << (12 - 4 * i)
    return np.uint32(packed)


@inline
def look_up_rows(table: LineTable, part: Word, cells: Word) -> tuple[Word, Word, Word, Word]:
    """The table entries of the four rows, from the top."""
    return (
        u64(table[part | (cells >> u64(48))]),
        u64(table[part | ((cells >> u64(32)) & u64(0xFFFF))]),
        u64(table[part | ((cells >> u64(16)) & u64(0xFFFF))]),
        u64(table[part | (cells & u64(0xFFFF))]),
    )


@inline
def join_rows(a: Word, b: Word, c: Word, d: Word) -> Word:
    """The board whose rows are the low halves of four table entries."""
    low = u64(0xFFFF)
    return ((a & low) << u64(48)) | ((b & low) << u64(32)) | ((c & low) << u64(16)) | (d & low)
