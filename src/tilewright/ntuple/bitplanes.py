"""A board as four bit planes, from which tuples are read.

A plane holds one bit of all sixteen tile codes: bit 3 of every code in the highest sixteen bits of the word, bit 0 in
the lowest. Within a plane the top left cell is the highest bit, as in a set of cells (see `games.bitboard`).

Gathering the bits of a tuple from such a word (`pext`) gives an index whose upper bits are the *upper bits of all its
codes*. So the weights of small tiles lie close together, and so do those of boards that differ in small tiles only: the
weights in use at a time are on fewer pages and cache lines than with one code after the other.

The *alphabet* of a network is the number of tiles that a cell distinguishes. With 15 or 16 tiles the gathered bits are
the index. With fewer tiles, tables are smaller: `stored_alphabet ** length` weights. The lowest bit of each code is one
of the lowest bits of the index. Above them is a number of base `stored_alphabet / 2`, whose digits are half the codes:
the upper parts of all codes come first here, too.

Tiles that are too large for the alphabet are read as those of the downgraded board. Where none of its tiles can be
halved, an alphabet below 15 reads them as its largest tile; with 15, the tables have room for them.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.bits import pext
from tilewright._core.jit import Int, Word, implements, inline
from tilewright.games.bitboard import nibbles_above
from tilewright.games.rules import Rules, State, downgraded_cells

__all__ = [
    "MAX_ALPHABET",
    "MAX_TUPLE_LENGTH",
    "MIN_ALPHABET",
    "Alphabet",
    "FullAlphabet",
    "ReducedAlphabet",
    "cells_in_alphabet",
    "make_alphabet",
    "stored_alphabet",
    "symmetric_planes",
    "tuple_index",
    "tuple_mask",
]

u64 = np.uint64
MIN_ALPHABET, MAX_ALPHABET = 8, 16
MAX_TUPLE_LENGTH = 8
_ONE, _TWO, _THREE, _NIBBLE = u64(1), u64(2), u64(3), u64(15)
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


class FullAlphabet(NamedTuple):
    """Four bits a cell: 16 tiles, or 15 without the largest."""

    largest_code: Int  # boards with larger tiles are downgraded to it


class ReducedAlphabet(NamedTuple):
    """Fewer tiles, and smaller tables."""

    largest_code: Int
    lengths: tuple[Word, ...]  # the number of cells of each tuple
    powers: NDArray[np.uint32]  # uint32[256]: the sum of (stored alphabet / 2) ** i over all bits i that are set


Alphabet: TypeAlias = FullAlphabet | ReducedAlphabet


def stored_alphabet(alphabet: int) -> int:
    """Return the number of tiles that tables have room for: 16, or the alphabet rounded up to an even number.

    >>> [stored_alphabet(alphabet) for alphabet in (11, 12, 15, 16)]
    [12, 12, 16, 16]
    """
    return alphabet + alphabet % 2


def make_alphabet(alphabet: int, tuples: Sequence[str]) -> Alphabet:
    """Return the alphabet as kernels need it."""
    if stored_alphabet(alphabet) == MAX_ALPHABET:
        return FullAlphabet(alphabet - 1)
    base = stored_alphabet(alphabet) // 2
    places = np.arange(MAX_TUPLE_LENGTH)
    digits = np.arange(1 << MAX_TUPLE_LENGTH)[:, np.newaxis] >> places & 1
    powers = (digits * base**places).sum(axis=1).astype(np.uint32)
    return ReducedAlphabet(alphabet - 1, tuple(u64(len(cells)) for cells in tuples), powers)


def cells_in_alphabet(alphabet: Alphabet, rules: Rules, state: State) -> Word:
    """Return the nibbles of a state, none larger than the tables have room for."""
    raise TypeError("cells_in_alphabet is a verb for kernels")


def tuple_index(alphabet: Alphabet, planes: Word, mask: Word, number: Int) -> Word:
    """Return the index of a board in the table of tuple number `number`, whose bits on the bit planes are `mask`."""
    raise TypeError("tuple_index is a verb for kernels")


@implements(cells_in_alphabet, FullAlphabet)
def cells_in_full_alphabet(alphabet: FullAlphabet, rules: Rules, state: State) -> Word:
    """Return the downgraded nibbles: the tables have room for all of them."""
    return downgraded_cells(rules, state, alphabet.largest_code)


@implements(cells_in_alphabet, ReducedAlphabet)
def cells_in_reduced_alphabet(alphabet: ReducedAlphabet, rules: Rules, state: State) -> Word:
    """Return the downgraded nibbles; where downgrading leaves a tile that is too large, take the largest one."""
    cells = downgraded_cells(rules, state, alphabet.largest_code)
    too_large = nibbles_above(cells, alphabet.largest_code)
    return (cells & ~(too_large * _NIBBLE)) | (too_large * u64(alphabet.largest_code))


@implements(tuple_index, FullAlphabet)
def gather_bits(alphabet: FullAlphabet, planes: Word, mask: Word, number: Int) -> Word:
    """Return the gathered bits."""
    return pext(planes, mask)


@implements(tuple_index, ReducedAlphabet)
def combine_planes(alphabet: ReducedAlphabet, planes: Word, mask: Word, number: Int) -> Word:
    """Return the number that the upper planes make, and below it the bits of the lowest plane."""
    n, powers = alphabet.lengths[number], alphabet.powers
    bits = pext(planes, mask)
    cells = (_ONE << n) - _ONE
    second, third, highest = (bits >> n) & cells, (bits >> (_TWO * n)) & cells, bits >> (_THREE * n)
    upper = u64(powers[second]) + (u64(powers[third]) << _ONE) + (u64(powers[highest]) << _TWO)
    return (upper << n) | (bits & cells)
