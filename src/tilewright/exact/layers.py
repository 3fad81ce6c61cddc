"""Enumeration: the layers of a problem, from the first boards upwards, on several threads.

States with the sum s come from the afterstates with the sums s - 2 and s - 4 by a new tile; afterstates with the sum s
come from the states with the same sum by a move:

    states[s] = afterstates[s - 2] + a 2  ∪  afterstates[s - 4] + a 4  ∪  first boards with the sum s
    afterstates[s] = all moves of states[s] that do not reach the goal

Candidates are written block by block, sorted, and merged, so that memory is needed for one block more than for a layer.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright._core.parallel import parallel_for
from tilewright.exact.kernels import (
    Keys,
    Space,
    Values,
    add_tiles,
    count_states,
    drop_duplicates,
    merge_unique,
    move_states,
    start_weights,
    sum_boards,
)

__all__ = [
    "NO_KEYS",
    "FirstBoards",
    "LayerCounts",
    "count_layer",
    "first_boards",
    "for_blocks",
    "moved_states",
    "next_states",
]

_SMALL_BLOCK, _LARGE_BLOCK = 1 << 12, 1 << 18  # boards that one thread works on at a time
NO_KEYS = np.empty(0, np.uint64)


@dataclass(frozen=True)
class FirstBoards:
    """The boards with which games begin, canonical, each once.

    Attributes:
        keys: uint64[n].
        chances: float64[n], their probabilities.
        sums: int64[n], the sums of their tiles.
    """

    keys: Keys
    chances: Values
    sums: NDArray[np.int64]

    def with_sum(self, total: int) -> Keys:
        """The boards with this sum, sorted."""
        return self.keys[self.sums == total]


def first_boards(space: Space, start_tiles: int) -> FirstBoards:
    """Lay the first tiles in all ways; symmetric boards are added up."""
    keys: Keys = np.array([space.walls])
    chances: Values = np.ones(1)
    for _ in range(start_tiles):
        found_keys, found_chances = [], []
        for code in _tile_codes(space):
            into, weights = np.empty(16 * len(keys), np.uint64), np.empty(16 * len(keys))
            n = start_weights(space, keys, chances, code, into, weights)
            found_keys.append(into[:n])
            found_chances.append(weights[:n])
        keys, which = np.unique(np.concatenate(found_keys), return_inverse=True)
        chances = np.bincount(which, np.concatenate(found_chances), len(keys)).astype(np.float64)
    sums = np.empty(len(keys), np.int64)
    sum_boards(space, keys, sums)
    return FirstBoards(keys, chances, sums)


def _tile_codes(space: Space) -> list[int]:
    return [code for code, possible in ((1, space.four < 1), (2, space.four > 0)) if possible]


def for_blocks(work: Callable[[int, int], None], count: int, threads: int) -> None:
    """Call `work(begin, end)` for blocks of the numbers 0 to `count - 1`, each number once, on several threads."""
    block = min(_LARGE_BLOCK, max(_SMALL_BLOCK, -(-count // (4 * threads))))
    blocks = -(-count // block)

    def work_on(first: int, n: int) -> None:
        for number in range(first, first + n):
            work(number * block, min(count, (number + 1) * block))

    if blocks == 1:
        work(0, count)
    elif blocks > 1:
        parallel_for(work_on, blocks, threads)


def next_states(space: Space, below_two: Keys, below_four: Keys, first: Keys, threads: int) -> Keys:
    """Return the states of a layer.

    Args:
        space: The problem.
        below_two: The afterstates whose sum is smaller by 2.
        below_four: The afterstates whose sum is smaller by 4.
        first: The first boards with the sum of the layer, sorted.
        threads: The number of threads.
    """
    cells = int(space.free).bit_count()
    runs = [first] if len(first) else []
    for code, below in ((1, below_two), (2, below_four)):
        if code in _tile_codes(space):
            runs += _sorted_runs(lambda boards, into: add_tiles(space, boards, code, into), below, cells, threads)  # noqa: B023
    return _merge_runs(runs, threads)


def moved_states(space: Space, states: Keys, threads: int) -> Keys:
    """Return the afterstates of a layer of states."""
    return _merge_runs(_sorted_runs(lambda boards, into: move_states(space, boards, into), states, 4, threads), threads)


@dataclass(frozen=True)
class LayerCounts:
    """How many states a layer has: canonical ones, those with a legal move, and boards that all stand for."""

    canonical: int
    live: int
    boards: int


def count_layer(space: Space, states: Keys, threads: int) -> LayerCounts:
    """Count the states of a layer."""
    found: list[tuple[int, int]] = []
    for_blocks(lambda begin, end: found.append(count_states(space, states[begin:end])), len(states), threads)
    return LayerCounts(len(states), sum(live for live, _ in found), sum(boards for _, boards in found))


def _sorted_runs(write: Callable[[Keys, Keys], int], boards: Keys, most: int, threads: int) -> list[Keys]:
    """Call `write` for blocks of boards; each run is sorted and has every result of its block once.

    Args:
        write: Writes the results for some boards into an array, and returns their number.
        boards: The boards.
        most: The largest number of results for a board.
        threads: The number of threads.
    """
    runs: list[Keys] = []

    def work(begin: int, end: int) -> None:
        into = np.empty(most * (end - begin), np.uint64)
        found = into[: write(boards[begin:end], into)]
        found.sort()
        runs.append(found[: drop_duplicates(found)].copy())

    for_blocks(work, len(boards), threads)
    return runs


def _merge_runs(runs: list[Keys], threads: int) -> Keys:
    """Merge sorted runs into one, two at a time, the shortest first."""
    while len(runs) > 1:
        runs.sort(key=len)
        pairs = [runs[i : i + 2] for i in range(0, len(runs), 2)]
        merged: list[Keys] = [pair[0] for pair in pairs if len(pair) == 1]

        def work(first: int, n: int) -> None:
            for a, b in (pair for pair in pairs[first : first + n] if len(pair) == 2):  # noqa: B023
                into = np.empty(len(a) + len(b), np.uint64)
                merged.append(into[: merge_unique(a, b, into)])  # noqa: B023

        parallel_for(work, len(pairs), threads)
        runs = merged
    return runs[0] if runs else NO_KEYS
