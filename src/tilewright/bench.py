"""Speed, measured fairly: every benchmark warm, all in turns (A B A B …), the best of several runs.

Machines are shared and noisy; what a run loses to others is never the kernel's, so the best counts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from tilewright.agents import make_agent
from tilewright.errors import UsageError
from tilewright.evaluation import evaluate
from tilewright.games import make_game

__all__ = ["BENCHMARKS", "Benchmark", "Measurement", "measure"]


@dataclass(frozen=True)
class Benchmark:
    """Games of one agent; long enough that a run takes some tenths of a second."""

    summary: str
    agent: str
    game: str
    games: int

    def run(self, seed: int, threads: int) -> float:
        """Moves per second of one run."""
        result = evaluate(make_agent(self.agent), make_game(self.game), games=self.games, seed=seed, threads=threads)
        return result.moves_per_second


BENCHMARKS = {
    "2048-random": Benchmark("random playouts of 2048", "random", "2048", 100_000),
    "threes-random": Benchmark("random playouts of Threes", "random", "threes", 200_000),
    "2048-greedy": Benchmark("greedy games of 2048: all four moves tried", "greedy", "2048", 20_000),
    "threes-greedy": Benchmark("greedy games of Threes: all four moves tried", "greedy", "threes", 50_000),
}


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
    names: Sequence[str], *, repeat: int = 7, threads: int = 1, progress: Callable[[int], None] | None = None
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
