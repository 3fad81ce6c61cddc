"""Words of files as states of a game: which of them kernels may read.

A state in a file is two 64-bit words (see `rules.State`), and any bits can stand there. A sound state has tiles of the
game on cells of the board, and nothing impossible besides. Games need not be able to reach it.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "Codes", "Words", "bits_of", "board_cells", "codes_of", "is_entry_possible"]

Words: TypeAlias = NDArray[np.uint64]
Codes: TypeAlias = NDArray[np.uint8]  # uint8[n, 16]: the nibbles of n boards, the top left cell first
Bools: TypeAlias = NDArray[np.bool_]


def codes_of(cells: Words) -> Codes:
    """Return the sixteen nibbles of each word as uint8[n, 16].

    >>> codes_of(np.array([0x1200_0030_0000_0000], np.uint64))[0, :8]
    array([1, 2, 0, 0, 0, 0, 3, 0], dtype=uint8)
    """
    return (cells[:, None] >> np.arange(60, -1, -4, dtype=np.uint64) & np.uint64(15)).astype(np.uint8)


def bits_of(cell_sets: Words) -> Bools:
    """Return the sets of cells in the lowest sixteen bits of each word as bool[n, 16]."""
    return (cell_sets[:, None] >> np.arange(15, -1, -1, dtype=np.uint64) & np.uint64(1)).astype(np.bool_)


def board_cells(rows: int, columns: int) -> Bools:
    """Return bool[16]: which of the sixteen nibbles are cells of a board of this shape."""
    row, column = np.divmod(np.arange(16), 4)
    return (row < rows) & (column < columns)


def is_entry_possible(occupied: Bools, entry: Bools, rows: int, columns: int) -> Bools:
    """Tell after which moves of Threes the next tile may enter at these cells, and at no others.

    A tile enters behind a line that has moved. So all cells are on one edge, they are empty, and each is in a row or
    column that has a tile: an empty line does not move. Whatever else a line holds, it can have moved there.

    Args:
        occupied: bool[n, 16], the cells with tiles.
        entry: bool[n, 16], the cells where the next tile may enter.
        rows: The number of rows of the board.
        columns: The number of columns of the board.

    Returns:
        bool[n].
    """
    tiles = occupied.reshape(-1, 4, 4)
    by_edge = np.zeros((4, len(tiles), 4, 4), np.bool_)
    for edge, row in enumerate((0, rows - 1)):
        by_edge[edge, :, row, :] = tiles.any(axis=1)
    for edge, column in enumerate((0, columns - 1), 2):
        by_edge[edge, :, :, column] = tiles.any(axis=2)
    impossible = entry & ~(by_edge & ~tiles).reshape(4, -1, 16)
    return np.asarray(entry.any(axis=1) & ~impossible.any(axis=2).all(axis=0), np.bool_)
