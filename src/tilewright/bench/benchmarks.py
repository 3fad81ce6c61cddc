"""What can be measured: games, training and environments of ours."""

import importlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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

__all__ = ["Benchmark", "DeepTraining", "Playing", "PlayingOut", "SingleStepping", "Stepping", "Training"]


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

    agent: Callable[[], RolloutAgent]
    game: str
    games: int

    def run(self, seed: int, threads: int) -> float:
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
class Training(Benchmark):
    """The first games of a recipe, from nothing."""

    config: TrainingConfig

    def run(self, seed: int, threads: int) -> float:
        trainer = Trainer(self.config)
        trainer.learn(0, 0)
        moves: list[int] = []

        def work(first: int, count: int) -> None:
            moves.append(int(trainer.learn(first, count).moves.sum()))

        began = time.perf_counter()
        parallel_for(work, self.config.games, threads)
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

    config: DeepConfig

    def run(self, seed: int, threads: int) -> float:
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
