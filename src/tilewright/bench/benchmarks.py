"""Benchmarks of games, training and environments."""

import importlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tilewright._core.parallel import parallel_for
from tilewright.agents.base import Agent
from tilewright.agents.rollout_agent import RolloutAgent
from tilewright.deep.config import DeepConfig
from tilewright.games import make_game
from tilewright.games.policy import Policy, make_results, play_games
from tilewright.play.evaluate import evaluate
from tilewright.rng import new_stream, stream_key
from tilewright.training.config import TrainingConfig
from tilewright.training.trainer import Trainer

__all__ = [
    "Benchmark",
    "DeepTrainingBenchmark",
    "EnvBenchmark",
    "PlayBenchmark",
    "RolloutBenchmark",
    "TrainingBenchmark",
    "VectorEnvBenchmark",
]


@dataclass(frozen=True)
class Benchmark(ABC):
    """Something to measure. A run takes between some tenths of a second and some seconds.

    Attributes:
        summary: What is measured, in a few words.
    """

    summary: str

    @abstractmethod
    def run(self, seed: int, threads: int) -> float:
        """Run once.

        Args:
            seed: The seed of the run.
            threads: The number of threads.

        Returns:
            Moves per second.
        """


@dataclass(frozen=True)
class PlayBenchmark(Benchmark):
    """Games of an agent.

    Attributes:
        agent: Makes the agent.
        game: The spec of the game.
        games: The number of games.
    """

    agent: Callable[[], Agent]
    game: str
    games: int

    def run(self, seed: int, threads: int) -> float:
        """Play the games."""
        result = evaluate(self.agent(), make_game(self.game), games=self.games, seed=seed, threads=threads)
        return result.moves_per_second


@dataclass(frozen=True)
class RolloutBenchmark(Benchmark):
    """Games of an agent with rollouts; the moves that count are those of the rollouts.

    Attributes:
        agent: Makes the agent.
        game: The spec of the game.
        games: The number of games.
    """

    agent: Callable[[], RolloutAgent]
    game: str
    games: int

    def run(self, seed: int, threads: int) -> float:
        """Play the games, and count the moves of the rollouts."""
        agent, game, moves = self.agent(), make_game(self.game), []

        def work(first: int, count: int) -> None:
            policy: Policy = agent.policy(game)
            play_games(game.rules, policy, stream_key(seed), first, new_stream(), make_results(count))
            moves.append(int(policy.rollouts.moves[0]))

        work(0, 0)
        began = time.perf_counter()
        parallel_for(work, self.games, threads)
        return sum(moves) / (time.perf_counter() - began)


@dataclass(frozen=True)
class TrainingBenchmark(Benchmark):
    """The first games of the training of an n-tuple network.

    Attributes:
        config: The configuration; its number of games is trained.
    """

    config: TrainingConfig

    def run(self, seed: int, threads: int) -> float:
        """Train from the start."""
        trainer = Trainer(self.config)
        trainer.learn(0, 0)
        moves: list[int] = []

        def work(first: int, count: int) -> None:
            moves.append(int(trainer.learn(first, count).moves.sum()))

        began = time.perf_counter()
        parallel_for(work, self.config.games, threads)
        return sum(moves) / (time.perf_counter() - began)


@dataclass(frozen=True)
class VectorEnvBenchmark(Benchmark):
    """Steps of the vector environment with random actions that are drawn before.

    Attributes:
        environment: The id of the environment.
        observation: The kind of observation.
        count: The number of boards.
        steps: The number of steps of all boards.
    """

    environment: str
    observation: str
    count: int = 1024
    steps: int = 500

    def run(self, seed: int, threads: int) -> float:
        """Step all boards at once."""
        import gymnasium

        import tilewright.envs  # noqa: F401  (registers the environments)

        envs = gymnasium.make_vec(
            self.environment,
            self.count,
            vectorization_mode="vector_entry_point",
            observation=self.observation,
            autoreset_mode="SAME_STEP",
        )
        envs.reset(seed=seed)
        actions = np.random.default_rng(seed).integers(4, size=(self.steps, self.count))
        began = time.perf_counter()
        for chosen in actions:
            envs.step(chosen)
        return self.steps * self.count / (time.perf_counter() - began)


@dataclass(frozen=True)
class EnvBenchmark(Benchmark):
    """Steps of an environment of one board, ours or another package's.

    Attributes:
        environment: The id of the environment.
        module: The module that registers it.
        steps: The number of steps.
    """

    environment: str
    module: str = "tilewright.envs"
    steps: int = 50_000

    def run(self, seed: int, threads: int) -> float:
        """Step the board, and start a new game after the end of one."""
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
class DeepTrainingBenchmark(Benchmark):
    """Steps of the training of a deep network, counted once learning has started.

    Attributes:
        config: The configuration; its number of steps is measured.
    """

    config: DeepConfig

    def run(self, seed: int, threads: int) -> float:
        """Train from the start; the time before learning starts does not count."""
        import torch

        from tilewright.deep.session import LEARNERS

        torch.set_num_threads(threads)
        learner = LEARNERS[self.config.algorithm](self.config)
        while not learner.pop_losses():
            learner.learn(0.0)
        first, began = learner.steps, time.perf_counter()
        while learner.steps < first + self.config.total_steps:
            learner.learn(0.0)
        return (learner.steps - first) / (time.perf_counter() - began)
