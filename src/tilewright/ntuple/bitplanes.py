"""A board as four bit planes, from which tuples are read.

A plane holds one bit of all sixteen tile codes: bit 3 of every code in the highest sixteen bits of the word, bit 0 in
the lowest. Within a plane the top left cell is the highest bit, as in a set of cells (see `games.bitboard`).

Gathering the bits of a tuple from such a word (`pext`) gives an index whose upper bits are the *upper bits of all its
codes*. So the weights of small tiles lie close together, and so do those of boards that differ in small tiles only: the
weights in use at a time are on fewer pages and cache lines than with one code after the other.
"""

import numpy as np

from tilewright._core.bits import pext
from tilewright._core.jit import Word, inline
from tilewright.games.rules import Rules

__all__ = ["symmetric_planes", "tuple_mask"]

u64 = np.uint64
_EVERY_PLANE = 0x0001_0001_0001_0001


def _on_every_plane(cell_set: int) -> np.uint64:
    return np.uint64(cell_set * _EVERY_PLANE)


def tuple_mask(cells: str) -> np.uint64:
    """Return the bits of a tuple's cells (hexadecimal digits) on all four planes.

    >>> f"{tuple_mask('0f'):x}"
    '8001800180018001'
    """
    return _on_every_plane(sum(1 << 15 - int(cell, 16) for cell in cells))


BIT_3, BIT_2, BIT_1, BIT_0 = (u64(0x1111111111111111 << bit) for bit in (3, 2, 1, 0))

# Which cells stay, move left and move right when a board is transposed or mirrored.
CELLS_STAY, CELLS_LEFT, CELLS_RIGHT = (_on_every_plane(cells) for cells in (0xA5A5, 0x0A0A, 0x5050))
BLOCKS_STAY, BLOCKS_LEFT, BLOCKS_RIGHT = (_on_every_plane(cells) for cells in (0xCC33, 0x00CC, 0x3300))
EVEN_COLUMNS, ODD_COLUMNS = _on_every_plane(0xAAAA), _on_every_plane(0x5555)
LEFT_HALF, RIGHT_HALF = _on_every_plane(0xCCCC), _on_every_plane(0x3333)
EVEN_ROWS, ODD_ROWS = _on_every_plane(0xF0F0), _on_every_plane(0x0F0F)
UPPER_HALF, LOWER_HALF = _on_every_plane(0xFF00), _on_every_plane(0x00FF)


@inline
def _planes(cells: Word) -> Word:
    upper = (pext(cells, BIT_3) << u64(48)) | (pext(cells, BIT_2) << u64(32))
    return upper | (pext(cells, BIT_1) << u64(16)) | pext(cells, BIT_0)


@inline
def _transpose(planes: Word) -> Word:
    """Swap single cells across 2x2 blocks, then the blocks."""
    a = (planes & CELLS_STAY) | ((planes & CELLS_LEFT) << u64(3)) | ((planes & CELLS_RIGHT) >> u64(3))
    return (a & BLOCKS_STAY) | ((a & BLOCKS_LEFT) << u64(6)) | ((a & BLOCKS_RIGHT) >> u64(6))


@inline
def _mirror(planes: Word, columns: int) -> Word:
    a = ((planes & EVEN_COLUMNS) >> u64(1)) | ((planes & ODD_COLUMNS) << u64(1))
    a = ((a & LEFT_HALF) >> u64(2)) | ((a & RIGHT_HALF) << u64(2))
    return a << u64(4 - columns)


@inline
def _flip(planes: Word, rows: int) -> Word:
    a = ((planes & UPPER_HALF) >> u64(8)) | ((planes & LOWER_HALF) << u64(8))
    a = ((a & EVEN_ROWS) >> u64(4)) | ((a & ODD_ROWS) << u64(4))
    return a << u64(4 * (4 - rows))


@inline
def symmetric_planes(rules: Rules, cells: Word) -> tuple[Word, ...]:
    """Return the planes of all eight symmetries; the first four are those of a board that is not square."""
    b = _planes(cells)
    m, f, t = _mirror(b, rules.columns), _flip(b, rules.rows), _transpose(b)
    n = _mirror(t, rules.columns)
    return b, m, f, _flip(m, rules.rows), t, n, _flip(t, rules.rows), _flip(n, rules.rows)
