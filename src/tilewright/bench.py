"""Speed, measured fairly: every benchmark warm, all in turns (A B A B …), the best of several runs.

Machines are shared and noisy; what a run loses to others is never the kernel's, so the best counts.
"""

import importlib
import importlib.util
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Any

import numpy as np

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
from tilewright.learning.deep_recipe import DeepRecipe
from tilewright.learning.recipe import Recipe
from tilewright.learning.trainer import Trainer
from tilewright.networks.model import Model
from tilewright.playing import make_results, play_games
from tilewright.rng import new_stream, stream_key

__all__ = [
    "BENCHMARKS",
    "Benchmark",
    "DeepTraining",
    "Measurement",
    "Playing",
    "PlayingOut",
    "SingleStepping",
    "Stepping",
    "Training",
    "measure",
]


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


@dataclass(frozen=True)
class Stepping(Benchmark):
    """Steps of the vector environment with given actions, all of them random."""

    environment: str
    observation: str
    count: int = 1024
    steps: int = 500

    def run(self, seed: int, threads: int) -> float:
        import gymnasium

        import tilewright.envs  # noqa: F401  (registers them)

        options: dict[str, Any] = {"observation": self.observation, "autoreset_mode": "SAME_STEP"}
        envs = gymnasium.make_vec(self.environment, self.count, vectorization_mode="vector_entry_point", **options)
        envs.reset(seed=seed)
        actions = np.random.default_rng(seed).integers(4, size=(self.steps, self.count))
        began = time.perf_counter()
        for chosen in actions:
            envs.step(chosen)
        return self.steps * self.count / (time.perf_counter() - began)


@dataclass(frozen=True)
class SingleStepping(Benchmark):
    """Steps of one board by `gymnasium.make`, ours or a peer's."""

    environment: str
    module: str = "tilewright.envs"  # registers it
    steps: int = 50_000

    def run(self, seed: int, threads: int) -> float:
        import gymnasium

        importlib.import_module(self.module)
        env = gymnasium.make(self.environment)
        env.reset(seed=seed)
        actions = np.random.default_rng(seed).integers(4, size=self.steps).tolist()
        began = time.perf_counter()
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        return self.steps / (time.perf_counter() - began)


@dataclass(frozen=True)
class DeepTraining(Benchmark):
    """Steps of a deep recipe, once learning has started."""

    recipe: DeepRecipe

    def run(self, seed: int, threads: int) -> float:
        import torch

        from tilewright.deep.session import LEARNERS

        torch.set_num_threads(threads)
        learner = LEARNERS[self.recipe.learner](self.recipe)
        while not learner.take_losses():
            learner.advance(0.0)
        first, began = learner.steps, time.perf_counter()
        while learner.steps < first + self.recipe.steps:
            learner.advance(0.0)
        return (learner.steps - first) / (time.perf_counter() - began)


def _dqn(architecture: str, steps: int) -> DeepRecipe:
    """As SB3 is measured: 16 environments, batches of 32, a step of learning for every four moves."""
    return DeepRecipe(architecture=architecture, learning_starts=64, penalty=32, steps=steps)


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


def _where_installed(needed: str, benchmarks: dict[str, Benchmark]) -> dict[str, Benchmark]:
    """The benchmarks, if the modules that they need are there; nothing is imported."""
    return benchmarks if all(map(importlib.util.find_spec, needed.split())) else {}


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
    **_where_installed(
        "gymnasium",
        {
            "2048-envs": Stepping("1,024 boards of 2048, grids and masks", "tilewright/2048-v0", "grid"),
            "2048-envs-onehot": Stepping("1,024 boards of 2048, one-hot and masks", "tilewright/2048-v0", "onehot"),
            "threes-envs": Stepping("1,024 boards of Threes, grids and masks", "tilewright/Threes-v0", "grid"),
            "2048-env": SingleStepping("one board of 2048 by gymnasium.make", "tilewright/2048-v0"),
        },
    ),
    **_where_installed(
        "gymnasium gymnasium_2048",
        {
            "gymnasium-2048": SingleStepping(
                "peer: one board, gymnasium-2048", "gymnasium_2048/TwentyFortyEight-v0", "gymnasium_2048", steps=5_000
            )
        },
    ),
    **_where_installed(
        "torch stable_baselines3",
        {
            "dqn-mlp": DeepTraining("DQN, 16 games, mlp: moves while learning", _dqn("mlp", 1_024)),
            "dqn-cnn": DeepTraining("DQN, 16 games, cnn_5l: moves while learning", _dqn("cnn_5l", 256)),
        },
    ),
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
