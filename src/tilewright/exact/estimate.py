"""How many states a problem has, and what it takes to solve it, before anything is solved.

The number of boards with a given sum is bounded from above by counting tiles: when the k-th largest tile was last made,
k - 1 larger ones were in the way, so it is at most 2 ** (cells - k + 2); and a state has a 2 or a 4, the new tile. What
is left is that not every arrangement of these tiles can be reached. How many can is measured by enumerating the first
layers.
"""

import os
import shutil
import time
from dataclasses import dataclass
from math import comb
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tilewright.errors import UsageError
from tilewright.exact.layers import NO_KEYS, first_boards, moved_states, next_states
from tilewright.exact.problem import Problem
from tilewright.exact.work_folder import work_folder_of

__all__ = ["Estimate", "check_fits", "describe_count", "describe_size", "estimate"]

_SAMPLE_STATES = 200_000  # enumerated to see how many arrangements can be reached
_AFTERSTATES = 0.65  # for each state: what small boards have
_WHOLE_WORK = 4.0  # the time of enumeration and induction over that of enumeration alone
_LAYER_BYTES = 120  # for each state of the largest layer: three layers of states and one of afterstates, with values
_BASE_BYTES = 200_000_000  # Python, NumPy and the kernels


@dataclass(frozen=True)
class Estimate:
    """What it takes to solve a problem: within a factor of two for whole boards, of three for endgames.

    Attributes:
        canonical_states: The number of states, symmetric ones counted once.
        memory: Bytes of memory where the layers are kept in a folder.
        memory_without_file: Bytes of memory where they are kept in memory.
        disk: Bytes of disk, for the finished layers and the table.
        table: Bytes of the table.
        seconds: The time it takes.
    """

    canonical_states: float
    memory: float
    memory_without_file: float
    disk: float
    table: float
    seconds: float

    def to_dict(self) -> dict[str, float]:
        """The estimate by the names of its attributes."""
        return {name: float(value) for name, value in vars(self).items()}


def most_boards(cells: int, largest_code: int) -> NDArray[np.float64]:
    """An upper bound of the number of boards by half the sum of their tiles.

    >>> int(most_boards(cells=4, largest_code=5).sum())
    904

    Args:
        cells: The number of cells.
        largest_code: The code of the largest tile that is allowed.
    """
    limit = sum(2 ** min(largest_code, cells - k + 2) for k in range(1, cells + 1)) // 2
    boards = np.zeros((cells + 1, limit + 1))  # by the number of tiles and half their sum
    boards[0, 0] = 1
    without_new = boards
    for code in range(largest_code, 0, -1):
        if code == 2:
            without_new = boards
        more = boards.copy()
        for tiles in range(cells):
            for added in range(1, min(cells - tiles, cells + 2 - code - tiles) + 1):
                rise = added * 2 ** (code - 1)
                if rise <= limit:
                    more[tiles + added, rise:] += boards[tiles, : limit + 1 - rise] * comb(cells - tiles, added)
        boards = more
    found: NDArray[np.float64] = (boards - without_new).sum(axis=0)
    return found


def estimate(problem: Problem, threads: int) -> Estimate:
    """Estimate what it takes to solve a problem; takes about a second."""
    goal = problem.goal
    top = problem.largest_code if goal is None else min(problem.largest_code, problem.game.code(goal) - 1)
    bound = most_boards(problem.cells, top) / problem.space.symmetries.bit_count()
    sample = _enumerate_some(problem, threads)
    if sample.is_all:
        states, largest = float(sample.states), float(sample.largest)
    else:
        below = bound[: sample.last_sum // 2 + 1].sum()
        ratio = sample.states / below
        states, largest = float(bound.sum()) * ratio, float(bound.max()) * ratio
    memory = _BASE_BYTES + _LAYER_BYTES * largest
    table = 16 * _AFTERSTATES * states
    return Estimate(
        canonical_states=states,
        memory=memory,
        memory_without_file=memory + 8 * states + 2 * table,
        disk=8 * states + 2 * table,
        table=table,
        seconds=_WHOLE_WORK * sample.seconds_per_state * states,
    )


@dataclass(frozen=True)
class _Sample:
    states: int
    largest: int
    last_sum: int
    is_all: bool
    seconds_per_state: float  # for enumeration


def _enumerate_some(problem: Problem, threads: int) -> _Sample:
    space, first = problem.space, first_boards(problem.space, problem.game.start_tiles)
    total, last_first = int(first.sums.min()), int(first.sums.max())
    below_two, below_four = NO_KEYS, NO_KEYS
    states, largest, fastest = 0, 0, np.inf
    while total <= last_first or len(below_two) or len(below_four):
        began = time.perf_counter()
        layer = next_states(space, below_two, below_four, first.with_sum(total), threads)
        below_two, below_four = moved_states(space, layer, threads), below_two
        if len(layer):
            fastest = min(fastest, (time.perf_counter() - began) / len(layer))
        states, largest = states + len(layer), max(largest, len(layer))
        if states > _SAMPLE_STATES:
            break
        total += 2
    return _Sample(states, largest, total, states <= _SAMPLE_STATES, fastest)


def check_fits(problem: Problem, needs: Estimate, out: Path | None) -> None:
    """Raise UsageError if there is not enough memory or disk to solve a problem.

    Args:
        problem: The problem.
        needs: Its estimate.
        out: The file that the table will be written to; None for a table in memory.
    """
    about = f"{problem.title}: about {describe_count(needs.canonical_states)} states"
    advice = "solve a smaller board or a smaller goal"
    memory, there = needs.memory_without_file if out is None else needs.memory, available_memory()
    if there is not None and memory > there:
        kept = "" if out is not None or needs.memory > there else ", or write the table to a file"
        raise UsageError(
            f"{about} need {describe_size(memory)} of memory, and {describe_size(there)} are free; {advice}{kept}"
        )
    if out is not None:
        folder = next(parent for parent in out.absolute().parents if parent.exists())
        free = shutil.disk_usage(folder).free + sum(file.stat().st_size for file in work_folder_of(out).glob("*"))
        if needs.disk > free:
            raise UsageError(
                f"{about} need {describe_size(needs.disk)} of disk, and {describe_size(free)} are free; {advice}"
            )


def available_memory() -> int | None:
    """The bytes of memory that programs can still use; None where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name == "MemAvailable":
                return int(rest.split()[0]) * 1024
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def describe_size(count: float) -> str:
    """Bytes as text.

    >>> describe_size(2_340_000_000)
    '2.3 GB'
    """
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if count < 1000:
            return f"{count:.1f} {unit}" if count < 10 and unit != "bytes" else f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:,.0f} PB"


def describe_count(count: float) -> str:
    """A number of states as text.

    >>> describe_count(48_713_519)
    '49 million'
    """
    for unit in ("", " thousand", " million", " billion", " trillion"):
        if count < 1000:
            return f"{count:.0f}{unit}"
        count /= 1000
    return f"{count:,.0f} quadrillion"
