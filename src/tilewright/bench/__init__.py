"""Benchmarks: moves per second of kernels, training and environments.

Every benchmark is warmed up. Several benchmarks are run in turns (A B A B …), and the best run of each counts: a shared
machine can only make a run slower.

benchmarks   games, training and environments
peers        the same for other packages
registry     the benchmarks by name
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from tilewright._core.text import did_you_mean
from tilewright.bench.benchmarks import Benchmark
from tilewright.bench.registry import BENCHMARKS, UNAVAILABLE
from tilewright.errors import MissingExtraError, SpecError, UsageError

__all__ = ["BENCHMARKS", "UNAVAILABLE", "Measurement", "find_benchmark", "measure"]


@dataclass(frozen=True)
class Measurement:
    """The runs of a benchmark.

    Attributes:
        name: The name of the benchmark.
        summary: What it measures.
        runs: Moves per second of each run.
    """

    name: str
    summary: str
    runs: tuple[float, ...]

    @property
    def best(self) -> float:
        """Moves per second of the fastest run."""
        return max(self.runs)

    @property
    def median(self) -> float:
        """The median of the runs, in moves per second."""
        return median(self.runs)

    def to_json(self) -> dict[str, str | float | list[float]]:
        """Return the measurement as JSON."""
        return {"name": self.name, "best": self.best, "median": self.median, "runs": list(self.runs)}


def find_benchmark(name: str) -> Benchmark:
    """Return the benchmark of a name.

    Raises:
        SpecError: There is no such benchmark.
        MissingExtraError: The benchmark needs packages that are not installed.

    >>> find_benchmark("2048-random").summary
    '2048, random moves'
    """
    if name in UNAVAILABLE:
        packages = UNAVAILABLE[name].replace("_", "-")
        raise MissingExtraError(f"the benchmark {name} needs packages that are not installed: pip install {packages}")
    if name not in BENCHMARKS:
        hint = did_you_mean(name, BENCHMARKS)
        raise SpecError(f"there is no benchmark {name!r}{hint}; there are: {', '.join(BENCHMARKS)}")
    return BENCHMARKS[name]


def measure(
    names: Sequence[str], *, repeat: int = 5, threads: int = 1, progress: Callable[[int], None] | None = None
) -> list[Measurement]:
    """Run benchmarks in turns.

    Args:
        names: The names of the benchmarks.
        repeat: The number of runs of each.
        threads: The number of threads of each.
        progress: Called with 1 after each run.

    Raises:
        UsageError: There is no such benchmark, or no run is asked for.
        MissingExtraError: A benchmark needs packages that are not installed.
    """
    if repeat < 1:
        raise UsageError(f"repeat={repeat}: at least one run is needed")
    benchmarks = {name: find_benchmark(name) for name in names}
    runs: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(repeat):
        for name, benchmark in benchmarks.items():
            runs[name].append(benchmark.run(turn, threads))
            if progress:
                progress(1)
    return [Measurement(name, benchmark.summary, tuple(runs[name])) for name, benchmark in benchmarks.items()]
