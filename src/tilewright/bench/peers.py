"""Benchmarks of other packages that play 2048; only those that are installed can be run."""

import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from tilewright.bench.benchmarks import Benchmark

__all__ = ["JumanjiBenchmark", "PgxBenchmark", "Sb3Benchmark"]

Arrays: TypeAlias = Any  # of JAX, in any structure


@dataclass(frozen=True)
class _JaxBenchmark(Benchmark):
    """Steps of many boards with random actions that are drawn before, compiled into one loop, the fastest in JAX.

    Attributes:
        count: The number of boards.
        steps: The number of steps of all boards.
    """

    count: int = 1024
    steps: int = 100

    def run(self, seed: int, threads: int) -> float:
        """Step all boards at once; the compilation does not count."""
        import jax

        actions = jax.random.randint(jax.random.PRNGKey(seed), (self.steps, self.count), 0, 4)
        loop, boards = self.prepare()
        boards = jax.block_until_ready(loop(boards, actions))  # compiles
        began = time.perf_counter()
        jax.block_until_ready(loop(boards, actions))
        return self.steps * self.count / (time.perf_counter() - began)

    @abstractmethod
    def prepare(self) -> tuple[Callable[[Arrays, Arrays], Arrays], Arrays]:
        """Return a compiled function that makes all steps, and the boards that it starts with."""


@dataclass(frozen=True)
class PgxBenchmark(_JaxBenchmark):
    """Steps of pgx, with automatic resets."""

    def prepare(self) -> tuple[Callable[[Arrays, Arrays], Arrays], Arrays]:
        """Return the loop and the boards."""
        import jax
        import pgx
        from pgx.experimental import auto_reset

        env = pgx.make("2048")
        step = jax.vmap(auto_reset(env.step, env.init))

        def one(boards: Arrays, actions: Arrays) -> tuple[Arrays, Arrays]:
            states, key = boards
            key, now = jax.random.split(key)
            states = step(states, actions, jax.random.split(now, self.count))
            return (states, key), states.legal_action_mask.sum()

        def loop(boards: Arrays, actions: Arrays) -> Arrays:
            return jax.lax.scan(one, boards, actions)[0]

        first = jax.vmap(env.init)(jax.random.split(jax.random.PRNGKey(0), self.count))
        return jax.jit(loop), (first, jax.random.PRNGKey(1))


@dataclass(frozen=True)
class JumanjiBenchmark(_JaxBenchmark):
    """Steps of Jumanji, with automatic resets."""

    def prepare(self) -> tuple[Callable[[Arrays, Arrays], Arrays], Arrays]:
        """Return the loop and the boards."""
        import jax
        import jumanji
        from jumanji.wrappers import VmapAutoResetWrapper

        env = VmapAutoResetWrapper(jumanji.make("Game2048-v1"))

        def one(states: Arrays, actions: Arrays) -> tuple[Arrays, Arrays]:
            states, seen = env.step(states, actions)
            return states, seen.reward.sum() + seen.observation.action_mask.sum()

        def loop(states: Arrays, actions: Arrays) -> Arrays:
            return jax.lax.scan(one, states, actions)[0]

        return jax.jit(loop), jax.jit(env.reset)(jax.random.split(jax.random.PRNGKey(0), self.count))[0]


@dataclass(frozen=True)
class Sb3Benchmark(Benchmark):
    """Training of the DQN of Stable-Baselines3 on our environment, with three layers of 512 units.

    Attributes:
        steps: The number of steps that are measured.
    """

    steps: int = 1_024

    def run(self, seed: int, threads: int) -> float:
        """Train from the start; the time before learning starts does not count."""
        import torch
        from stable_baselines3 import DQN
        from stable_baselines3.common.env_util import make_vec_env

        import tilewright.envs  # noqa: F401  (registers the environments)

        torch.set_num_threads(threads)
        options: dict[str, object] = {"observation": "onehot", "penalty": 32.0}
        learner = DQN(
            "MlpPolicy",
            make_vec_env("tilewright/2048-v1", 16, seed=seed, env_kwargs=options),
            learning_rate=1e-4,
            buffer_size=10_000,
            learning_starts=64,
            batch_size=32,
            train_freq=1,
            gradient_steps=4,
            policy_kwargs={"net_arch": [512, 512, 512]},
            seed=seed,
            device="cpu",
        )
        learner.learn(128)
        began = time.perf_counter()
        learner.learn(self.steps, reset_num_timesteps=False)
        return self.steps / (time.perf_counter() - began)
