"""Extra features of a board: counts that tuples cannot see, each one more look-up (Yeh et al. 2016, IV-A and IV-E).

large_tiles         the numbers of 2048, 4096, 8192, 16384 and 32768 tiles (0 to 7 each), as one index
empty_cells         the number of empty cells
distinct_tiles      the number of different tiles
mergeable_pairs     the number of neighbours with equal codes: v next to v
neighbouring_pairs  the number of neighbours with consecutive codes: v next to 2v
hint                the next tile in Threes: unknown, 1, 2, 3 or a bonus
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.bits import popcount
from tilewright._core.jit import Int, Word, implements, inline
from tilewright.games.bitboard import LOWEST_BITS, empty_cells, transpose
from tilewright.games.rules import Rules, State, hint_of

__all__ = [
    "FEATURES",
    "HINTS",
    "FeatureSet",
    "Features",
    "NoFeatures",
    "compute_feature_indices",
    "count_features",
    "hint_index",
]

u64 = np.uint64
FEATURES = {
    "large_tiles": 8**5,
    "empty_cells": 17,
    "distinct_tiles": 16,
    "mergeable_pairs": 25,
    "neighbouring_pairs": 25,
    "hint": 5,
}  # name -> table size
HINTS = FEATURES["hint"]
_LARGE_TILES, _EMPTY_CELLS, _DISTINCT_TILES, _MERGEABLE_PAIRS, _NEIGHBOURING_PAIRS, _HINT = range(6)


class NoFeatures(NamedTuple):
    """A network of tuples alone."""


class Features(NamedTuple):
    """Some features. Their number is part of the type, so that sums over all look-ups unroll."""

    kinds: tuple[Int, ...]  # positions in FEATURES
    offsets: tuple[Word, ...]  # where the table of each feature begins


FeatureSet: TypeAlias = NoFeatures | Features


def count_features(features: FeatureSet) -> int:
    """Return the number of features."""
    raise TypeError("count_features is a verb for kernels")


def compute_feature_indices(
    features: FeatureSet, rules: Rules, state: State, cells: Word, stage: Word, indices: NDArray[np.uint32], first: Int
) -> None:
    """Write the indices of all features to `indices[first:]`; `stage` is where the weights of the stage begin."""
    raise TypeError("compute_feature_indices is a verb for kernels")


@implements(count_features, NoFeatures)
def count_none(features: NoFeatures) -> int:
    """Return 0."""
    return 0


@implements(compute_feature_indices, NoFeatures)
def compute_no_indices(
    features: NoFeatures, rules: Rules, state: State, cells: Word, stage: Word, indices: NDArray[np.uint32], first: Int
) -> None:
    """Write nothing."""


@implements(count_features, Features)
def count_all(features: Features) -> int:
    """Return the length of `kinds`."""
    return len(features.kinds)


@implements(compute_feature_indices, Features)
def compute_all_indices(
    features: Features, rules: Rules, state: State, cells: Word, stage: Word, indices: NDArray[np.uint32], first: Int
) -> None:
    """Write the index of every feature."""
    for i in range(len(features.kinds)):
        index = feature_index(features.kinds[i], rules, state, cells)
        indices[first + i] = np.uint32(stage + features.offsets[i] + u64(index))


@inline
def feature_index(kind: Int, rules: Rules, state: State, cells: Word) -> Int:
    """Return the index of a board in the table of one feature."""
    if kind == _LARGE_TILES:
        return _large_tiles(cells)
    if kind == _EMPTY_CELLS:
        return np.int64(popcount(empty_cells(cells, rules.board)))
    if kind == _DISTINCT_TILES:
        return _distinct_tiles(cells)
    if kind == _MERGEABLE_PAIRS:
        return _neighbours(cells, u64(0)) + _neighbours(transpose(cells), u64(0))
    if kind == _NEIGHBOURING_PAIRS:
        return _neighbours(cells, u64(1)) + _neighbours(transpose(cells), u64(1))
    return hint_index(rules, state)


@inline
def hint_index(rules: Rules, state: State) -> Int:
    """Return the hint as an index: 0 unknown, 1, 2, 3, and 4 for any bonus."""
    return min(hint_of(rules, state), HINTS - 1)


@inline
def _large_tiles(cells: Word) -> Int:
    """Return the number of tiles of the codes 11 (1011) to 15 (1111), at most seven each, in three bits each."""
    ones, twos = cells & LOWEST_BITS, (cells >> u64(1)) & LOWEST_BITS
    fours, eights = (cells >> u64(2)) & LOWEST_BITS, (cells >> u64(3)) & LOWEST_BITS
    twelves = eights & fours
    return (
        _up_to_seven(eights & ~fours & twos & ones)
        | _up_to_seven(twelves & ~twos & ~ones) << 3
        | _up_to_seven(twelves & ~twos & ones) << 6
        | _up_to_seven(twelves & twos & ~ones) << 9
        | _up_to_seven(twelves & twos & ones) << 12
    )


@inline
def _up_to_seven(bits: Word) -> Int:
    return min(np.int64(popcount(bits)), 7)


@inline
def _distinct_tiles(cells: Word) -> Int:
    seen = u64(0)
    while cells:
        seen |= u64(1) << (cells & u64(15))
        cells >>= u64(4)
    return np.int64(popcount(seen >> u64(1)))


@inline
def _neighbours(cells: Word, apart: Word) -> Int:
    """Return the number of tiles with a right neighbour whose code differs by `apart`."""
    count = 0
    for row in range(4):
        for column in range(3):
            index = u64(60 - 16 * row - 4 * column)
            here, there = (cells >> index) & u64(15), (cells >> (index - u64(4))) & u64(15)
            if here and there and max(here, there) - min(here, there) == apart:
                count += 1
    return count
