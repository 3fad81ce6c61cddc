"""Speed, measured fairly: every benchmark warm, all in turns (A B A B …), the best of several runs.

Machines are shared and noisy; what a run loses to others is never the kernel's, so the best counts.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Any

from tilewright.agents import make_agent
from tilewright.agents.agent import Agent
from tilewright.agents.expectimax import ModelSearch
from tilewright.agents.montecarlo import MonteCarloAgent
from tilewright.agents.ntuple import ModelAgent
from tilewright.agents.playouts import PlayoutAgent
from tilewright.engines.local import default_threads, spread
from tilewright.errors import UsageError
from tilewright.evaluation import evaluate
from tilewright.games import make_game
from tilewright.learning.recipe import Recipe
from tilewright.learning.trainer import Trainer
from tilewright.networks.model import Model
from tilewright.playing import make_results, play_games
from tilewright.rng import new_stream, stream_key

__all__ = ["BENCHMARKS", "Benchmark", "Measurement", "Playing", "PlayingOut", "Training", "measure"]


@dataclass(frozen=True)
class Benchmark(ABC):
    """Something to be measured; a run takes some tenths of a second to some seconds."""

    summary: str

    @abstractmethod
    def run(self, seed: int, threads: int) -> float:
        """Moves per second of one run."""


@dataclass(frozen=True)
class Playing(Benchmark):
    """Games of one agent."""

    agent: Callable[[], Agent]
    game: str
    games: int

    def run(self, seed: int, threads: int) -> float:
        result = evaluate(self.agent(), make_game(self.game), games=self.games, seed=seed, threads=threads)
        return result.moves_per_second


@dataclass(frozen=True)
class PlayingOut(Benchmark):
    """Games of an agent that plays out; the moves are those of its playouts."""

    agent: Callable[[], PlayoutAgent]
    game: str
    games: int

    def run(self, seed: int, threads: int) -> float:
        agent, game, moves = self.agent(), make_game(self.game), []

        def work(first: int, count: int) -> None:
            policy = agent.policy(game)
            play_games(game.rules, policy, stream_key(seed), first, new_stream(), make_results(count))
            moves.append(int(policy.playouts.moves[0]))

        work(0, 0)
        began = time.perf_counter()
        spread(work, self.games, threads)
        return sum(moves) / (time.perf_counter() - began)


@dataclass(frozen=True)
class Training(Benchmark):
    """The first games of a recipe, from nothing."""

    recipe: Recipe

    def run(self, seed: int, threads: int) -> float:
        trainer = Trainer(self.recipe)
        trainer.learn(0, 0)
        moves: list[int] = []

        def work(first: int, count: int) -> None:
            moves.append(int(trainer.learn(first, count).moves.sum()))

        began = time.perf_counter()
        spread(work, self.recipe.games, threads)
        return sum(moves) / (time.perf_counter() - began)


@cache
def _trained() -> Model:
    """A 4x6 network after 10,000 games of backward TC(0.5), in 16 bits, as agents play it."""
    trainer = Trainer(Recipe(lambda_=0.5, games=10_000))

    def work(first: int, count: int) -> None:
        trainer.learn(first, count)

    spread(work, trainer.recipe.games, default_threads())
    return trainer.model({}).in_16_bits()


def _searching(depth: int) -> ModelSearch:
    return ModelSearch(depth=depth, network=_trained())


def _online_td(network: str) -> Recipe:
    return Recipe(network=network, order="online", rule="fixed", share=0.1, games=10_000)


BENCHMARKS: dict[str, Benchmark] = {
    "2048-random": Playing("random playouts of 2048", lambda: make_agent("random"), "2048", 100_000),
    "threes-random": Playing("random playouts of Threes", lambda: make_agent("random"), "threes", 200_000),
    "2048-greedy": Playing("greedy 2048: all four moves tried", lambda: make_agent("greedy"), "2048", 20_000),
    "threes-greedy": Playing("greedy Threes: all four moves tried", lambda: make_agent("greedy"), "threes", 50_000),
    "2048-montecarlo": PlayingOut("playouts of Monte Carlo 2048", lambda: MonteCarloAgent(rollouts=100), "2048", 2),
    "4x6-play": Playing("1-ply play, trained 4x6 network", lambda: ModelAgent(_trained()), "2048", 1_000),
    "4x6-2-ply": Playing("2-ply expectimax, the same network", lambda: _searching(2), "2048", 80),
    "4x6-3-ply": Playing("3-ply expectimax, the same network", lambda: _searching(3), "2048", 8),
    "4x6-td": Training("online TD(0), 4x6 network, 10,000 games", _online_td("4x6")),
    "4x6-tc": Training("backward TC(0.5), 4x6 network, 10,000 games", Recipe(lambda_=0.5, games=10_000)),
    "8x6-td": Training("online TD(0), 8x6 network, 10,000 games", _online_td("8x6")),
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
