"""Boards as 64-bit words: where the cells are, and how the word is transposed and mirrored.

A board is 16 nibbles, row by row, the top left cell in the *highest* nibble, so that `f"{cells:016x}"` reads like the
board. Boards smaller than 4x4 occupy the upper left corner and keep the row length of four; the other nibbles are zero.

    cell    0 1 2 3      board  2 4 . .      cells 0x1200_0030_0000_0000
            4 5 6 7             . . 8 .
            8 9 a b             . . . .
            c d e f             . . . .

A set of cells is a 16-bit mask: bit `p` is the cell of nibble `p`, counted from the lowest nibble.
"""

import numpy as np

from tilewright._core.bits import pdep, pext, popcount
from tilewright._core.jit import Int, Word, inline

__all__ = [
    "LOWEST_BITS",
    "board_mask",
    "different_nibbles",
    "empty_cells",
    "flip",
    "largest_nibble",
    "mirror",
    "nibbles_above",
    "orient",
    "symmetric_cells",
    "symmetric_set",
    "transpose",
]

u64 = np.uint64
LOWEST_BITS = u64(0x1111111111111111)
_LOW_NIBBLES, _LOWEST_OF_BYTES = u64(0x0F0F0F0F0F0F0F0F), u64(0x0101010101010101)


def board_mask(rows: int, columns: int) -> np.uint64:
    """The lowest bit of every nibble that is a cell of a board of this shape."""
    return np.uint64(sum(1 << (60 - 16 * r - 4 * c) for r in range(rows) for c in range(columns)))


@inline
def different_nibbles(cells: Word) -> Int:
    """Count the different codes on a board, zero not among them."""
    codes = u64(0)
    for place in range(16):
        codes |= u64(1) << ((cells >> u64(4 * place)) & u64(15))
    return np.int64(popcount(codes >> u64(1)))


@inline
def transpose(cells: Word) -> Word:
    """Exchange rows and columns: first single cells within 2x2 blocks, then the blocks."""
    a = (
        (cells & u64(0xF0F00F0FF0F00F0F))
        | ((cells & u64(0x0000F0F00000F0F0)) << u64(12))
        | ((cells & u64(0x0F0F00000F0F0000)) >> u64(12))
    )
    return (
        (a & u64(0xFF00FF0000FF00FF))
        | ((a & u64(0x00FF00FF00000000)) >> u64(24))
        | ((a & u64(0x00000000FF00FF00)) << u64(24))
    )


@inline
def orient(cells: Word, action: Int) -> Word:
    """Turn the board so that its rows are the lines that the action moves along: transposed for up and down."""
    vertical = u64(action & 1) - u64(1)  # all ones or zero: no branch, because moves are hard to predict
    return cells ^ ((cells ^ transpose(cells)) & vertical)


@inline
def mirror(cells: Word, columns: int) -> Word:
    """Exchange left and right, on a board with this number of columns."""
    a = ((cells & u64(0xFF00FF00FF00FF00)) >> u64(8)) | ((cells & u64(0x00FF00FF00FF00FF)) << u64(8))
    a = ((a & u64(0xF0F0F0F0F0F0F0F0)) >> u64(4)) | ((a & u64(0x0F0F0F0F0F0F0F0F)) << u64(4))
    return a << u64(4 * (4 - columns))


@inline
def flip(cells: Word, rows: int) -> Word:
    """Exchange top and bottom, on a board with this number of rows."""
    a = (cells >> u64(32)) | (cells << u64(32))
    a = ((a & u64(0xFFFF0000FFFF0000)) >> u64(16)) | ((a & u64(0x0000FFFF0000FFFF)) << u64(16))
    return a << u64(16 * (4 - rows))


@inline
def symmetric_cells(cells: Word, which: Int, rows: int, columns: int) -> Word:
    """The symmetric board number `which`: bit 0 mirrors, bit 1 flips, bit 2 (square boards only) transposes first."""
    if which & 4:
        cells = transpose(cells)
    if which & 1:
        cells = mirror(cells, columns)
    if which & 2:
        cells = flip(cells, rows)
    return cells


@inline
def symmetric_set(cell_set: Word, which: Int, rows: int, columns: int) -> Word:
    """The same symmetry for a set of cells: spread its bits to nibbles, transform them, gather them again."""
    return pext(symmetric_cells(pdep(cell_set, LOWEST_BITS), which, rows, columns), LOWEST_BITS)


@inline
def empty_cells(cells: Word, board: Word) -> Word:
    """The lowest bit of every empty cell; `board` is that of every cell (see `board_mask`)."""
    a = cells | (cells >> u64(1))
    a |= a >> u64(2)
    return ~a & board


@inline
def largest_nibble(cells: Word) -> Int:
    """The largest of the 16 nibbles."""
    largest = u64(0)
    while cells:
        largest = max(largest, cells & u64(15))
        cells >>= u64(4)
    return np.int64(largest)


@inline
def nibbles_above(cells: Word, code: Int) -> Word:
    """The lowest bit of every nibble above `code`, which is 0 to 15: the nibbles whose sum with 15 - code carries."""
    carrying = u64(15 - code) * _LOWEST_OF_BYTES
    even, odd = (cells & _LOW_NIBBLES) + carrying, ((cells >> u64(4)) & _LOW_NIBBLES) + carrying
    return ((even >> u64(4)) & _LOWEST_OF_BYTES) | (odd & (_LOWEST_OF_BYTES << u64(4)))
