"""The benchmarks by name; those of packages that are not installed are left out."""

import dataclasses
import importlib.util
from functools import cache

from tilewright._core.parallel import default_threads, parallel_for
from tilewright.agents import make_agent
from tilewright.agents.expectimax import ExpectimaxAgent
from tilewright.agents.montecarlo import MonteCarloAgent
from tilewright.agents.ntuple import NTupleAgent
from tilewright.bench.benchmarks import Benchmark, DeepTraining, Playing, PlayingOut, SingleStepping, Stepping, Training
from tilewright.bench.peers import JumanjiStepping, PgxStepping, Sb3Training
from tilewright.deep.config import DeepConfig
from tilewright.ntuple.model import Model
from tilewright.training.config import TrainingConfig
from tilewright.training.trainer import Trainer

__all__ = ["BENCHMARKS", "MISSING"]


def _dqn(architecture: str, steps: int) -> DeepConfig:
    """As SB3 is measured: 16 environments, batches of 32, a step of learning for every four moves."""
    return DeepConfig(architecture=architecture, learning_starts=64, penalty=32, total_steps=steps)


def _plain(architecture: str, steps: int) -> DeepConfig:
    """What Stable-Baselines3's own DQN does."""
    return dataclasses.replace(_dqn(architecture, steps), double_q=False, dueling=False, prioritized_replay=False)


@cache
def _trained() -> Model:
    """A 4x6 network after 10,000 games of backward TC(0.5), in 16 bits, as agents play it."""
    trainer = Trainer(TrainingConfig(lambda_=0.5, games=10_000))

    def work(first: int, count: int) -> None:
        trainer.learn(first, count)

    parallel_for(work, trainer.config.games, default_threads())
    return trainer.model({}).in_16_bits()


def _searching(depth: int) -> ExpectimaxAgent:
    return ExpectimaxAgent(depth=depth, model=_trained())


def _online_td(network: str) -> TrainingConfig:
    return TrainingConfig(network=network, update="online", step_size="fixed", alpha=0.1, games=10_000)


MISSING: dict[str, str] = {}  # benchmarks that are not there, each with the modules that it needs


def _where_installed(needed: str, benchmarks: dict[str, Benchmark]) -> dict[str, Benchmark]:
    """The benchmarks, if the modules that they need are there; nothing is imported."""
    if all(map(importlib.util.find_spec, needed.split())):
        return benchmarks
    MISSING.update(dict.fromkeys(benchmarks, needed))
    return {}


BENCHMARKS: dict[str, Benchmark] = {
    "2048-random": Playing("random playouts of 2048", lambda: make_agent("random"), "2048", 100_000),
    "threes-random": Playing("random playouts of Threes", lambda: make_agent("random"), "threes", 200_000),
    "2048-greedy": Playing("greedy 2048: all four moves tried", lambda: make_agent("greedy"), "2048", 20_000),
    "threes-greedy": Playing("greedy Threes: all four moves tried", lambda: make_agent("greedy"), "threes", 50_000),
    "2048-montecarlo": PlayingOut("playouts of Monte Carlo 2048", lambda: MonteCarloAgent(rollouts=100), "2048", 2),
    "4x6-play": Playing("1-ply play, trained 4x6 network", lambda: NTupleAgent(_trained()), "2048", 1_000),
    "4x6-2-ply": Playing("2-ply expectimax, the same network", lambda: _searching(2), "2048", 80),
    "4x6-3-ply": Playing("3-ply expectimax, the same network", lambda: _searching(3), "2048", 8),
    "4x6-td": Training("online TD(0), 4x6 network, 10,000 games", _online_td("4x6")),
    "4x6-tc": Training("backward TC(0.5), 4x6 network, 10,000 games", TrainingConfig(lambda_=0.5, games=10_000)),
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
    **_where_installed("jax pgx", {"pgx": PgxStepping("peer: 1,024 boards, pgx")}),
    **_where_installed("jax jumanji", {"jumanji": JumanjiStepping("peer: 1,024 boards, jumanji")}),
    **_where_installed(
        "torch stable_baselines3",
        {
            "dqn-mlp-plain": DeepTraining("DQN, 16 games, mlp, without our switches", _plain("mlp", 1_024)),
            "sb3-mlp": Sb3Training("peer: the same by Stable-Baselines3 alone"),
            "dqn-mlp": DeepTraining("DQN, 16 games, mlp: moves while learning", _dqn("mlp", 1_024)),
            "dqn-cnn-plain": DeepTraining("DQN, 16 games, cnn_5l, without our switches", _plain("cnn_5l", 256)),
            "dqn-cnn": DeepTraining("DQN, 16 games, cnn_5l: moves while learning", _dqn("cnn_5l", 256)),
        },
    ),
}
