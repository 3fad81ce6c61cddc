"""How long a look-up in a table takes, inside a kernel."""

import time

import numpy as np

from tilewright._core.checks import check_integer
from tilewright._core.jit import Float, kernel
from tilewright._core.text import excerpt
from tilewright.exact.kernels import Keys, find
from tilewright.exact.policy import ExactPolicy, layer_of
from tilewright.exact.table import ExactTable

__all__ = ["time_lookups"]

_REPEATS = 5


@kernel
def _sum_values(policy: ExactPolicy, boards: Keys) -> Float:
    """Look up the values of canonical afterstates: the sum of the tiles, the layer, and a binary search in it."""
    total: Float = 0.0
    for i in range(len(boards)):
        begin, end = layer_of(policy, boards[i])
        total += policy.values[find(policy.keys, begin, end, boards[i])]
    return total


def time_lookups(table: ExactTable, count: int = 200_000, seed: int = 0) -> float:
    """Return the nanoseconds of processor time that one look-up takes in a kernel.

    Boards are drawn from the whole table at random, so that hardly any is in the processor's cache. Of several runs the
    fastest counts; the first ones bring the table into memory.

    >>> time_lookups(solve("2048:rows=2,columns=2"), 1000) > 0
    True

    Args:
        table: The table.
        count: The number of look-ups.
        seed: The seed of the boards.
    """
    check_integer(f"count={excerpt(count)}", count, 1)
    check_integer(f"seed={excerpt(seed)}", seed, 0)
    boards = table.keys[np.random.default_rng(seed).integers(len(table.keys), size=count)]
    policy = table.policy()
    _sum_values(policy, boards[:1])
    times = []
    for _ in range(_REPEATS):
        began = time.thread_time_ns()
        _sum_values(policy, boards)
        times.append(time.thread_time_ns() - began)
    return min(times) / count
