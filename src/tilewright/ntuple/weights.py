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

from tilewright._core.bits import extract, prefetch
from tilewright.games.rules import Rules, State, hint_of, visible
from tilewright._core.jit import Int, Word, inline
from tilewright.ntuple.features import FeatureSet, count_features, hint_index, list_features
from tilewright.ntuple.bitplanes import plane_images
from tilewright.ntuple.stages import Staging, is_unwritten, stage_of, written_place

__all__ = ["Places", "Tables", "add_up", "beside_cells", "estimate", "list_places", "lookups", "weight_at"]

u64 = np.uint64
Places = NDArray[np.uint32]  # where a board's weights are


class Tables(NamedTuple):
    """What kernels need of a network. The lengths of the tuples are part of its type: loops over them unroll."""

    weights: NDArray[Any]  # float32, or int16 in units of `unit`: all tables behind each other
    unit: Any  # float32: what a weight of 1 is worth
    masks: tuple[Word, ...]  # the bits of each tuple on a board's planes
    offsets: tuple[Word, ...]  # where each tuple's table begins, in the first stage
    images: tuple[Word, ...]  # one entry for each symmetric image that is read: 8, 4 or 1
    features: FeatureSet
    hints: tuple[Word, ...]  # one entry for each hint that has weights of its own; those of a tuple are side by side
    stages: Staging
    stage_size: Word  # how many places the tables of one stage have
    largest_code: Int  # the largest tile that has weights


@inline
def lookups(tables: Tables) -> Int:
    """How many weights make up one value."""
    return len(tables.images) * len(tables.masks) + count_features(tables.features)


@inline
def list_places(tables: Tables, rules: Rules, state: State, places: Places, first: Int) -> None:
    """Write down where the weights of `state` are, from places[first] on, and ask for them to be fetched."""
    cells = visible(rules, state, tables.largest_code)
    images = plane_images(rules, cells)
    stage = u64(stage_of(tables.stages, cells)) * tables.stage_size
    own = stage + u64(hint_index(rules, state) if len(tables.hints) > 1 else 0)
    k = first
    for i in range(len(tables.images)):
        for t in range(len(tables.masks)):
            place = own + u64(len(tables.hints)) * (tables.offsets[t] + extract(images[i], tables.masks[t]))
            prefetch(tables.weights, place)
            places[k] = np.uint32(place)
            k += 1
    list_features(tables.features, rules, state, cells, stage, places, k)


@inline
def beside_cells(tables: Tables, rules: Rules, state: State) -> Word:
    """What a value may depend on beside the cells: two states that agree in both have one value."""
    if len(tables.hints) > 1 or count_features(tables.features) > 0:
        return u64(hint_of(rules, state))
    return u64(0)


@inline
def weight_at(tables: Tables, place: Word) -> Any:
    return tables.weights[written_place(tables.stages, tables.weights, place, tables.stage_size)]


@inline
def add_up(tables: Tables, places: Places, first: Int, shift: Word) -> Int:
    """The sum of the weights at places[first:first + lookups], each `shift` further; four sums at once."""
    n, weights, stages = lookups(tables), tables.weights, tables.stages
    a = b = c = d = no_sum(weights)
    k, missing = first, False
    for _ in range(n // 4):
        one, two = weights[places[k] + shift], weights[places[k + 1] + shift]
        three, four = weights[places[k + 2] + shift], weights[places[k + 3] + shift]
        a, b, c, d = a + one, b + two, c + three, d + four
        missing |= is_unwritten(stages, weights, one) | is_unwritten(stages, weights, two)
        missing |= is_unwritten(stages, weights, three) | is_unwritten(stages, weights, four)
        k += 4
    for _ in range(n % 4):
        one = weights[places[k] + shift]
        a += one
        missing |= is_unwritten(stages, weights, one)
        k += 1
    if missing:  # some are read from an earlier stage
        a, b, c, d = no_sum(weights), no_sum(weights), no_sum(weights), no_sum(weights)
        for k in range(first, first + n):
            a += weight_at(tables, places[k] + shift)
    return np.float32((a + b) + (c + d)) * tables.unit


def no_sum(weights: NDArray[Any]) -> Any:
    raise TypeError("no_sum is for kernels")


@overload(no_sum, jit_options={"forceinline": True})
def _zero_to_add_to(weights):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  (Numba compares signatures)
    """Whole numbers are added up as such: a sum of int16 would overflow, one of floats would be slower."""
    if isinstance(weights.dtype, types.Integer):
        return lambda weights: np.int64(0)
    return lambda weights: np.float32(0)


@inline
def estimate(tables: Tables, rules: Rules, state: State, places: Places, first: Int) -> Int:
    """The value of a state; its places are left in `places`."""
    list_places(tables, rules, state, places, first)
    return add_up(tables, places, first, u64(0))
