"""Extra features of a board: counts that tuples cannot see, each one more look-up (Yeh et al. 2016, IV-A and IV-E).

large_tiles         the numbers of tiles of the codes 11 to 15 (0 to 7 each), as one index: 2048 to 32768 in 2048
empty_cells         the number of empty cells
distinct_tiles      the number of different tiles
mergeable_pairs     the number of neighbours that merge by the rules of the game
neighbouring_pairs  the number of neighbours of which two of the one make the other: v next to 2v
hint                the next tile in Threes: unknown, 1, 2, 3 or a bonus
middle_tiles        the numbers of tiles of the codes 9 to 14 (0 to 3 each), as one index: 192 to 6144 in Threes
merge_counts        empty cells, mergeable pairs and neighbouring pairs, as one index

Features count the tiles that the network sees: those of the downgraded board, if some are too large for its alphabet.

A *hint tuple* is a tuple of cells together with the hint, read from all symmetries of the board; the published Threes
program of Yeh et al. has one, and the features `middle_tiles` and `merge_counts`.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.bits import pext, popcount
from tilewright._core.jit import Int, Word, implements, inline
from tilewright.games.bitboard import LOWEST_BITS, different_nibbles, empty_cells, transpose
from tilewright.games.rules import LEFT, Rules, State, hint_of
from tilewright.ntuple.bitplanes import symmetric_planes

__all__ = [
    "FEATURES",
    "HINTS",
    "FeatureSet",
    "Features",
    "FeaturesAndHintTuples",
    "NoFeatures",
    "compute_feature_indices",
    "count_features",
    "find_neighbours",
    "hint_index",
]

u64 = np.uint64
ZERO = u64(0)
FEATURES = {
    "large_tiles": 8**5,
    "empty_cells": 17,
    "distinct_tiles": 16,
    "mergeable_pairs": 25,
    "neighbouring_pairs": 25,
    "hint": 5,
    "middle_tiles": 4**6,
    "merge_counts": 17 * 25 * 25,
}  # name -> table size
HINTS = FEATURES["hint"]
_LARGE_TILES, _EMPTY_CELLS, _DISTINCT_TILES, _MERGEABLE_PAIRS, _NEIGHBOURING_PAIRS, _HINT, _MIDDLE_TILES = range(7)
_PAIRS = 25  # a board has 0 to 24 pairs of neighbours
_STEPS = u64(16)  # where the second set of codes begins in an entry of `neighbours`


class NoFeatures(NamedTuple):
    """A network of tuples alone."""


class Features(NamedTuple):
    """Some features. Their number is part of the type, so that sums over all look-ups unroll."""

    kinds: tuple[Int, ...]  # positions in FEATURES
    offsets: tuple[Word, ...]  # where the table of each feature begins
    neighbours: NDArray[np.uint32]  # uint32[16], see `find_neighbours`


class FeaturesAndHintTuples(NamedTuple):
    """Some features, and tuples that are read together with the hint."""

    features: Features
    masks: tuple[Word, ...]  # the bits of each hint tuple on the bit planes
    offsets: tuple[Word, ...]  # where the table of each hint tuple begins
    symmetries: tuple[Word, ...]  # one entry for each symmetry that is read


FeatureSet: TypeAlias = NoFeatures | Features | FeaturesAndHintTuples


def find_neighbours(rules: Rules) -> NDArray[np.uint32]:
    """Find by the moves of a game which tiles merge, and which tile two equal ones make.

    Returns:
        uint32[16] by code. The low half of an entry is the set of codes that merge with the code; the high half is the
        set of codes of which two make it, or that two of it make. Nothing is a neighbour of an empty cell.
    """
    found = np.zeros(16, np.uint32)
    offset = int(rules.offsets[LEFT])
    for code in range(1, 16):
        for other in range(1, 16):
            moved = int(rules.moves[offset + (code << 12 | other << 8)])
            if moved >> 8 & 15:
                continue  # the second tile has stayed
            found[code] |= np.uint32(1 << other)
            found[other] |= np.uint32(1 << code)
            made = moved >> 12 & 15
            if code == other and made:
                found[code] |= np.uint32(1 << 16 + made)
                found[made] |= np.uint32(1 << 16 + code)
    return found


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
        index = feature_index(features.kinds[i], features.neighbours, rules, state, cells)
        indices[first + i] = np.uint32(stage + features.offsets[i] + u64(index))


@implements(count_features, FeaturesAndHintTuples)
def count_features_and_hint_tuples(both: FeaturesAndHintTuples) -> int:
    """Return the number of features, and one for every hint tuple in every symmetry."""
    return len(both.features.kinds) + len(both.masks) * len(both.symmetries)


@implements(compute_feature_indices, FeaturesAndHintTuples)
def compute_indices_of_both(
    both: FeaturesAndHintTuples,
    rules: Rules,
    state: State,
    cells: Word,
    stage: Word,
    indices: NDArray[np.uint32],
    first: Int,
) -> None:
    """Write the index of every feature, then those of the hint tuples, whose weights for all hints are adjacent."""
    compute_feature_indices(both.features, rules, state, cells, stage, indices, first)
    k = first + len(both.features.kinds)
    symmetries = symmetric_planes(rules, cells)
    own = stage + u64(hint_index(rules, state))
    for i in range(len(both.symmetries)):
        for t in range(len(both.masks)):
            indices[k] = np.uint32(own + both.offsets[t] + u64(HINTS) * pext(symmetries[i], both.masks[t]))
            k += 1


@inline
def feature_index(kind: Int, neighbours: NDArray[np.uint32], rules: Rules, state: State, cells: Word) -> Int:
    """Return the index of a board in the table of one feature."""
    if kind == _LARGE_TILES:
        return _large_tiles(cells)
    if kind == _EMPTY_CELLS:
        return np.int64(popcount(empty_cells(cells, rules.board)))
    if kind == _DISTINCT_TILES:
        return different_nibbles(cells)
    if kind == _MERGEABLE_PAIRS:
        return _pairs(neighbours, cells, ZERO)
    if kind == _NEIGHBOURING_PAIRS:
        return _pairs(neighbours, cells, _STEPS)
    if kind == _HINT:
        return hint_index(rules, state)
    if kind == _MIDDLE_TILES:
        return _middle_tiles(cells)
    empty = np.int64(popcount(empty_cells(cells, rules.board)))
    return (empty * _PAIRS + _pairs(neighbours, cells, ZERO)) * _PAIRS + _pairs(neighbours, cells, _STEPS)


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
def _middle_tiles(cells: Word) -> Int:
    """Return the number of tiles of the codes 9 to 14, at most three each, in two bits each."""
    index: Int = 0
    for code in range(9, 15):
        others = cells ^ (LOWEST_BITS * u64(code))  # a nibble is zero where the code is
        others |= others >> u64(2)
        others |= others >> u64(1)
        count: Int = 16 - np.int64(popcount(others & LOWEST_BITS))
        index |= min(count, 3) << (2 * (code - 9))
    return index


@inline
def _pairs(neighbours: NDArray[np.uint32], cells: Word, kind: Word) -> Int:
    """Return the number of neighbouring tiles that the sets beginning at bit `kind` of `neighbours` contain."""
    return _pairs_in_rows(neighbours, cells, kind) + _pairs_in_rows(neighbours, transpose(cells), kind)


@inline
def _pairs_in_rows(neighbours: NDArray[np.uint32], cells: Word, kind: Word) -> Int:
    count: Int = 0
    for row in range(4):
        for column in range(3):
            index = u64(60 - 16 * row - 4 * column)
            here, there = (cells >> index) & u64(15), (cells >> (index - u64(4))) & u64(15)
            count += np.int64((u64(neighbours[here]) >> (kind + there)) & u64(1))
    return count
