"""The benchmarks by name. Those that need packages that are not installed are kept apart."""

import dataclasses
import importlib.util
from functools import cache

from tilewright._core.parallel import default_threads, parallel_for
from tilewright.agents import make_agent
from tilewright.agents.expectimax import ExpectimaxAgent
from tilewright.agents.montecarlo import MonteCarloAgent
from tilewright.agents.ntuple import NTupleAgent
from tilewright.bench.benchmarks import (
    Benchmark,
    DeepTrainingBenchmark,
    EnvBenchmark,
    PlayBenchmark,
    RolloutBenchmark,
    TrainingBenchmark,
    VectorEnvBenchmark,
)
from tilewright.bench.peers import JumanjiBenchmark, PgxBenchmark, Sb3Benchmark
from tilewright.deep.config import DeepConfig
from tilewright.ntuple.model import Model
from tilewright.training.config import TrainingConfig
from tilewright.training.trainer import Trainer

__all__ = ["BENCHMARKS", "UNAVAILABLE"]


def _dqn(architecture: str, steps: int) -> DeepConfig:
    """Return a configuration like that of Sb3Benchmark: 16 games, batches of 32, an update for every four moves."""
    return DeepConfig(architecture=architecture, learning_starts=64, penalty=32, total_steps=steps)


def _plain(architecture: str, steps: int) -> DeepConfig:
    """Return a configuration with the features of the DQN of Stable-Baselines3 only."""
    return dataclasses.replace(_dqn(architecture, steps), double_q=False, dueling=False, prioritized_replay=False)


@cache
def _trained() -> Model:
    """Train a 4x6 network with 10,000 games of backward TC(0.5); returns it in 16 bits, as agents use it."""
    trainer = Trainer(TrainingConfig(lambda_=0.5, games=10_000))

    def work(first: int, count: int) -> None:
        trainer.learn(first, count)

    parallel_for(work, trainer.config.games, default_threads())
    return trainer.model({}).in_16_bits()


def _searching(depth: int) -> ExpectimaxAgent:
    return ExpectimaxAgent(depth=depth, model=_trained())


def _online_td(network: str) -> TrainingConfig:
    return TrainingConfig(network=network, update="online", step_size="fixed", alpha=0.1, games=10_000)


UNAVAILABLE: dict[str, str] = {}  # benchmarks that cannot be run, each with the modules that it needs


def _where_installed(needed: str, benchmarks: dict[str, Benchmark]) -> dict[str, Benchmark]:
    """Return the benchmarks if the modules that they need are installed; the modules are not imported."""
    if all(map(importlib.util.find_spec, needed.split())):
        return benchmarks
    UNAVAILABLE.update(dict.fromkeys(benchmarks, needed))
    return {}


BENCHMARKS: dict[str, Benchmark] = {
    "2048-random": PlayBenchmark("2048, random moves", lambda: make_agent("random"), "2048", 100_000),
    "threes-random": PlayBenchmark("Threes, random moves", lambda: make_agent("random"), "threes", 200_000),
    "2048-greedy": PlayBenchmark("2048, greedy moves", lambda: make_agent("greedy"), "2048", 20_000),
    "threes-greedy": PlayBenchmark("Threes, greedy moves", lambda: make_agent("greedy"), "threes", 50_000),
    "2048-montecarlo": RolloutBenchmark(
        "2048, rollouts of the Monte Carlo agent", lambda: MonteCarloAgent(rollouts=100), "2048", 2
    ),
    "4x6-play": PlayBenchmark("1-ply play, 4x6 network", lambda: NTupleAgent(_trained()), "2048", 1_000),
    "4x6-2-ply": PlayBenchmark("2-ply expectimax, the same network", lambda: _searching(2), "2048", 80),
    "4x6-3-ply": PlayBenchmark("3-ply expectimax, the same network", lambda: _searching(3), "2048", 8),
    "4x6-td": TrainingBenchmark("online TD(0), 4x6 network, 10,000 games", _online_td("4x6")),
    "4x6-tc": TrainingBenchmark(
        "backward TC(0.5), 4x6 network, 10,000 games", TrainingConfig(lambda_=0.5, games=10_000)
    ),
    "8x6-td": TrainingBenchmark("online TD(0), 8x6 network, 10,000 games", _online_td("8x6")),
    **_where_installed(
        "gymnasium",
        {
            "2048-envs": VectorEnvBenchmark("1,024 boards of 2048, grids and masks", "tilewright/2048-v1", "grid"),
            "2048-envs-onehot": VectorEnvBenchmark(
                "1,024 boards of 2048, one-hot and masks", "tilewright/2048-v1", "onehot"
            ),
            "threes-envs": VectorEnvBenchmark(
                "1,024 boards of Threes, grids and masks", "tilewright/Threes-v1", "grid"
            ),
            "2048-env": EnvBenchmark("one board of 2048 by gymnasium.make", "tilewright/2048-v1"),
        },
    ),
    **_where_installed(
        "gymnasium gymnasium_2048",
        {
            "gymnasium-2048": EnvBenchmark(
                "peer: one board, gymnasium-2048", "gymnasium_2048/TwentyFortyEight-v0", "gymnasium_2048", steps=5_000
            )
        },
    ),
    **_where_installed("jax pgx", {"pgx": PgxBenchmark("peer: 1,024 boards, pgx")}),
    **_where_installed("jax jumanji", {"jumanji": JumanjiBenchmark("peer: 1,024 boards, jumanji")}),
    **_where_installed(
        "torch stable_baselines3",
        {
            "dqn-mlp-plain": DeepTrainingBenchmark(
                "DQN, 16 games, mlp, features of Stable-Baselines3 only", _plain("mlp", 1_024)
            ),
            "sb3-mlp": Sb3Benchmark("peer: DQN of Stable-Baselines3, mlp"),
            "dqn-mlp": DeepTrainingBenchmark("DQN, 16 games, mlp: all features", _dqn("mlp", 1_024)),
            "dqn-cnn-plain": DeepTrainingBenchmark(
                "DQN, 16 games, cnn_5l, features of Stable-Baselines3 only", _plain("cnn_5l", 256)
            ),
            "dqn-cnn": DeepTrainingBenchmark("DQN, 16 games, cnn_5l: all features", _dqn("cnn_5l", 256)),
        },
    ),
}
