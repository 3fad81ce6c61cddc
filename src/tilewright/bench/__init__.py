"""Speed, measured fairly: every benchmark warm, all in turns (A B A B …), the best of several runs.

Machines are shared and noisy; what a run loses to others is never the kernel's, so the best counts.

kinds       what can be measured
peers       the same of other packages, where they are installed
catalogue   the benchmarks by name
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from tilewright.bench.registry import BENCHMARKS, MISSING
from tilewright.errors import UsageError

__all__ = ["BENCHMARKS", "MISSING", "Measurement", "measure"]


@dataclass(frozen=True)
class Measurement:
    name: str
    summary: str
    runs: tuple[float, ...]  # moves per second

    @property
    def best(self) -> float:
        return max(self.runs)

    @property
    def median(self) -> float:
        return median(self.runs)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "best": self.best, "median": self.median, "runs": list(self.runs)}


def measure(
    names: Sequence[str], *, repeat: int = 5, threads: int = 1, progress: Callable[[int], None] | None = None
) -> list[Measurement]:
    """Run the named benchmarks `repeat` times, in turns."""
    if repeat < 1:
        raise UsageError(f"repeat={repeat}: at least one run is needed")
    runs: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(repeat):
        for name in names:
            runs[name].append(BENCHMARKS[name].run(turn, threads))
            if progress:
                progress(1)
    return [Measurement(name, BENCHMARKS[name].summary, tuple(found)) for name, found in runs.items()]
