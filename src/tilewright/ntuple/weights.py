"""A network as kernels see it: weight tables, and how a board finds its places in them.

A network's value of a board is the sum of the weights it looks up: one for every tuple in every symmetric image of the
board, and one for every extra feature. The *board* is turned into its images and the same tuples are read from each.

A tuple's index is gathered by one instruction from the board's bit planes (see `planes`).
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from tilewright._core.bits import pext, prefetch
from tilewright._core.jit import Int, Word, inline
from tilewright.games.rules import Rules, State, downgraded_cells, hint_of
from tilewright.ntuple.bitplanes import symmetric_planes
from tilewright.ntuple.features import FeatureSet, compute_feature_indices, count_features, hint_index
from tilewright.ntuple.stages import Stages, is_unwritten, stage_of, written_index

__all__ = [
    "Indices",
    "WeightTables",
    "compute_indices",
    "extra_key",
    "lookups",
    "read_weight",
    "state_value",
    "sum_weights",
]

u64 = np.uint64
Indices = NDArray[np.uint32]  # where a board's weights are


class WeightTables(NamedTuple):
    """What kernels need of a network. The lengths of the tuples are part of its type: loops over them unroll."""

    weights: NDArray[Any]  # float32, or int16 in units of `quantum`: all tables behind each other
    quantum: Any  # float32: what a weight of 1 is worth
    masks: tuple[Word, ...]  # the bits of each tuple on a board's planes
    offsets: tuple[Word, ...]  # where each tuple's table begins, in the first stage
    symmetries: tuple[Word, ...]  # one entry for each symmetric image that is read: 8, 4 or 1
    features: FeatureSet
    hints: tuple[Word, ...]  # one entry for each hint that has weights of its own; those of a tuple are side by side
    stages: Stages
    stage_size: Word  # how many places the tables of one stage have
    largest_code: Int  # the largest tile that has weights


@inline
def lookups(tables: WeightTables) -> Int:
    """How many weights make up one value."""
    return len(tables.symmetries) * len(tables.masks) + count_features(tables.features)


@inline
def compute_indices(tables: WeightTables, rules: Rules, state: State, indices: Indices, first: Int) -> None:
    """Write down where the weights of `state` are, from places[first] on, and ask for them to be fetched."""
    cells = downgraded_cells(rules, state, tables.largest_code)
    symmetries = symmetric_planes(rules, cells)
    stage = u64(stage_of(tables.stages, cells)) * tables.stage_size
    own = stage + u64(hint_index(rules, state) if len(tables.hints) > 1 else 0)
    k = first
    for i in range(len(tables.symmetries)):
        for t in range(len(tables.masks)):
            index = own + u64(len(tables.hints)) * (tables.offsets[t] + pext(symmetries[i], tables.masks[t]))
            prefetch(tables.weights, index)
            indices[k] = np.uint32(index)
            k += 1
    compute_feature_indices(tables.features, rules, state, cells, stage, indices, k)


@inline
def extra_key(tables: WeightTables, rules: Rules, state: State) -> Word:
    """What a value may depend on beside the cells: two states that agree in both have one value."""
    if len(tables.hints) > 1 or count_features(tables.features) > 0:
        return u64(hint_of(rules, state))
    return u64(0)


@inline
def read_weight(tables: WeightTables, index: Word) -> Any:
    return tables.weights[written_index(tables.stages, tables.weights, index, tables.stage_size)]


@inline
def sum_weights(tables: WeightTables, indices: Indices, first: Int, offset: Word) -> Int:
    """The sum of the weights at places[first:first + lookups], each `offset` further; four sums at once."""
    n, weights, stages = lookups(tables), tables.weights, tables.stages
    a = b = c = d = zero_accumulator(weights)
    k, missing = first, False
    for _ in range(n // 4):
        one, two = weights[indices[k] + offset], weights[indices[k + 1] + offset]
        three, four = weights[indices[k + 2] + offset], weights[indices[k + 3] + offset]
        a, b, c, d = a + one, b + two, c + three, d + four
        missing |= is_unwritten(stages, weights, one) | is_unwritten(stages, weights, two)
        missing |= is_unwritten(stages, weights, three) | is_unwritten(stages, weights, four)
        k += 4
    for _ in range(n % 4):
        one = weights[indices[k] + offset]
        a += one
        missing |= is_unwritten(stages, weights, one)
        k += 1
    if missing:  # some are read from an earlier stage
        a, b, c, d = (
            zero_accumulator(weights),
            zero_accumulator(weights),
            zero_accumulator(weights),
            zero_accumulator(weights),
        )
        for k in range(first, first + n):
            a += read_weight(tables, indices[k] + offset)
    return np.float32((a + b) + (c + d)) * tables.quantum


def zero_accumulator(weights: NDArray[Any]) -> Any:
    raise TypeError("no_sum is for kernels")


@overload(zero_accumulator, jit_options={"forceinline": True})
def _zero_to_add_to(weights):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  (Numba compares signatures)
    """Whole numbers are added up as such: a sum of int16 would overflow, one of floats would be slower."""
    if isinstance(weights.dtype, types.Integer):
        return lambda weights: np.int64(0)
    return lambda weights: np.float32(0)


@inline
def state_value(tables: WeightTables, rules: Rules, state: State, indices: Indices, first: Int) -> Int:
    """The value of a state; its places are left in `indices`."""
    compute_indices(tables, rules, state, indices, first)
    return sum_weights(tables, indices, first, u64(0))
