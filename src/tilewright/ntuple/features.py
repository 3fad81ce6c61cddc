"""Extra features of a board: counts that tuples cannot see, each one more look-up (Yeh et al. 2016, IV-A and IV-E).

large     how many 2048, 4096, 8192, 16384 and 32768 tiles there are (0 to 7 each), as one index
empty     how many cells are empty
distinct  how many different tiles there are
pairs     how many neighbours can merge: v next to v
steps     how many neighbours are one step apart: v next to 2v
hint      the next tile in Threes: not known, 1, 2, 3 or a bonus
"""

from typing import Any, NamedTuple, TypeAlias

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
_LARGE, _EMPTY, _DISTINCT, _PAIRS, _STEPS, _HINT = range(6)
FeatureSet: TypeAlias = Any  # NoFeatures or Features


class NoFeatures(NamedTuple):
    pass


class Features(NamedTuple):
    """How many there are is part of the type: sums over all look-ups unroll."""

    kinds: tuple[Int, ...]  # numbers of FEATURES, in its order
    offsets: tuple[Word, ...]  # where each feature's table begins


def count_features(features: FeatureSet) -> int:
    raise TypeError("count_features is for kernels")


def compute_feature_indices(
    features: FeatureSet, rules: Rules, state: State, cells: Word, stage: Word, indices: NDArray[np.uint32], first: Int
) -> None:
    """Write down the places of all features, in tables that begin `stage` further."""
    raise TypeError("list_features is for kernels")


@implements(count_features, NoFeatures)
def count_none(features: NoFeatures) -> int:
    return 0


@implements(compute_feature_indices, NoFeatures)
def list_none(
    features: NoFeatures, rules: Rules, state: State, cells: Word, stage: Word, indices: NDArray[np.uint32], first: Int
) -> None:
    pass


@implements(count_features, Features)
def count_all(features: Features) -> int:
    return len(features.kinds)


@implements(compute_feature_indices, Features)
def list_all(
    features: Features, rules: Rules, state: State, cells: Word, stage: Word, indices: NDArray[np.uint32], first: Int
) -> None:
    for i in range(len(features.kinds)):
        index = feature_index(features.kinds[i], rules, state, cells)
        indices[first + i] = np.uint32(stage + features.offsets[i] + u64(index))


@inline
def feature_index(kind: Int, rules: Rules, state: State, cells: Word) -> Int:
    """The index of the board in the table of one feature."""
    if kind == _LARGE:
        return _large_tiles(cells)
    if kind == _EMPTY:
        return np.int64(popcount(empty_cells(cells, rules.board)))
    if kind == _DISTINCT:
        return _distinct_tiles(cells)
    if kind == _PAIRS:
        return _neighbours(cells, u64(0)) + _neighbours(transpose(cells), u64(0))
    if kind == _STEPS:
        return _neighbours(cells, u64(1)) + _neighbours(transpose(cells), u64(1))
    return hint_index(rules, state)


@inline
def hint_index(rules: Rules, state: State) -> Int:
    return min(hint_of(rules, state), HINTS - 1)


@inline
def _large_tiles(cells: Word) -> Int:
    """Three bits for each of the codes 11 (1011) to 15 (1111): how many there are, at most seven."""
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
    """How many tiles have a right neighbour whose code is equal, or differs by one."""
    count = 0
    for row in range(4):
        for column in range(3):
            index = u64(60 - 16 * row - 4 * column)
            here, there = (cells >> index) & u64(15), (cells >> (index - u64(4))) & u64(15)
            if here and there and max(here, there) - min(here, there) == apart:
                count += 1
    return count
