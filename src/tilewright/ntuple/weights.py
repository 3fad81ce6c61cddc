"""A network as kernels see it: its weight tables, and the indices of a board's weights.

The value of a board is the sum of the weights it looks up: one for every tuple in every symmetry of the board, and one
for every extra feature. The *board* is transformed, and the same tuples are read from each of its symmetries.

A tuple's index is gathered from the bit planes of the board (see `bitplanes`).
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from tilewright._core.bits import prefetch
from tilewright._core.jit import Float, Int, Word, inline
from tilewright.games.rules import LARGEST_NIBBLE, Rules, State, downgrade_to, hint_of
from tilewright.ntuple.bitplanes import Alphabet, cells_in_alphabet, symmetric_planes, tuple_index
from tilewright.ntuple.features import FeatureSet, compute_feature_indices, count_features, hint_index
from tilewright.ntuple.stages import Stages, Weights, is_unwritten, stage_of, written_index

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
Indices = NDArray[np.uint32]  # the indices of a board's weights


class WeightTables(NamedTuple):
    """What kernels need of a network.

    The lengths of the Python tuples are part of the type, so that the compiler unrolls loops over them. `symmetries`
    and `hints` are used for their lengths only.
    """

    weights: Weights  # float32, or int16 in multiples of `quantum`: all tables one after the other
    quantum: Float  # float32: the value of a weight of 1
    masks: tuple[Word, ...]  # the bits of each tuple on the bit planes
    offsets: tuple[Word, ...]  # where the table of each tuple begins, in the first stage
    symmetries: tuple[Word, ...]  # one entry for each symmetry that is read: 8, 4 or 1
    features: FeatureSet
    hints: tuple[Word, ...]  # one entry for each hint with weights of its own; those of one entry are adjacent
    stages: Stages
    stage_size: Word  # the number of weights of one stage
    alphabet: Alphabet


@inline
def lookups(tables: WeightTables) -> Int:
    """Return the number of weights that add up to one value."""
    return len(tables.symmetries) * len(tables.masks) + count_features(tables.features)


@inline
def compute_indices(tables: WeightTables, rules: Rules, state: State, indices: Indices, first: Int) -> None:
    """Write the indices of the weights of `state` to `indices[first:first + lookups]`, and prefetch the weights.

    The stage does not depend on the alphabet: it is that of the board downgraded to 32768. Everything else is read from
    the cells with no tile too large for the alphabet.
    """
    seen = downgrade_to(rules, state, LARGEST_NIBBLE)
    cells = cells_in_alphabet(tables.alphabet, rules, seen)
    symmetries = symmetric_planes(rules, cells)
    stage = u64(stage_of(tables.stages, seen.cells)) * tables.stage_size
    own = stage + u64(hint_index(rules, state) if len(tables.hints) > 1 else 0)
    k = first
    for i in range(len(tables.symmetries)):
        for t in range(len(tables.masks)):
            entry = tables.offsets[t] + tuple_index(tables.alphabet, symmetries[i], tables.masks[t], t)
            index = own + u64(len(tables.hints)) * entry
            prefetch(tables.weights, index)
            indices[k] = np.uint32(index)
            k += 1
    compute_feature_indices(tables.features, rules, state, cells, stage, indices, k)


@inline
def extra_key(tables: WeightTables, rules: Rules, state: State) -> Word:
    """Return what a value depends on besides the cells: states with equal cells and equal keys have equal values."""
    if len(tables.hints) > 1 or count_features(tables.features) > 0:
        return u64(hint_of(rules, state))
    return u64(0)


@inline
def read_weight(tables: WeightTables, index: Word) -> Float:
    """Return a weight, or that of an earlier stage while it is unwritten."""
    return tables.weights[written_index(tables.stages, tables.weights, index, tables.stage_size)]


@inline
def sum_weights(tables: WeightTables, indices: Indices, first: Int, offset: Word) -> Float:
    """Return the sum of weights[indices[first:first + lookups] + offset]; four partial sums run in parallel."""
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
        a = b = c = d = zero_accumulator(weights)
        for k in range(first, first + n):
            a += read_weight(tables, indices[k] + offset)
    return np.float32((a + b) + (c + d)) * tables.quantum


def zero_accumulator(weights: Weights) -> Float:
    """Return the zero that weights of this type are summed up from."""
    raise TypeError("zero_accumulator is a verb for kernels")


@overload(zero_accumulator, jit_options={"forceinline": True})
def _zero_of_type(weights):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  (Numba compares signatures)
    """Integers are summed as int64: a sum of int16 would overflow, and one of floats would be slower."""
    if isinstance(weights.dtype, types.Integer):
        return lambda weights: np.int64(0)
    return lambda weights: np.float32(0)


@inline
def state_value(tables: WeightTables, rules: Rules, state: State, indices: Indices, first: Int) -> Float:
    """Return the value of a state and leave its indices in `indices[first:]`."""
    compute_indices(tables, rules, state, indices, first)
    return sum_weights(tables, indices, first, u64(0))
