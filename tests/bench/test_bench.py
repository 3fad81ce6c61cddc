"""Benchmarks measure what they say."""

import importlib.util
import itertools
from types import ModuleType, SimpleNamespace

import pytest

from tilewright.agents.montecarlo import MonteCarloAgent
from tilewright.bench import BENCHMARKS, UNAVAILABLE, benchmarks, find_benchmark, measure, peers
from tilewright.bench.benchmarks import (
    Benchmark,
    DeepTrainingBenchmark,
    EnvBenchmark,
    RolloutBenchmark,
    TrainingBenchmark,
    VectorEnvBenchmark,
)
from tilewright.bench.peers import Sb3Benchmark
from tilewright.deep.config import DeepConfig
from tilewright.errors import MissingExtraError, SpecError, UsageError
from tilewright.training.config import TrainingConfig
from tilewright.training.trainer import Trainer

ONLINE = TrainingConfig(network="2x4", update="online", step_size="fixed", alpha=0.1, games=20)


@pytest.fixture(autouse=True)
def one_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock on which every measurement takes exactly one second."""
    for module in (benchmarks, peers):
        assert isinstance(module, ModuleType)
        clock = itertools.count()
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda clock=clock: float(next(clock))))


@pytest.mark.parametrize(
    ("benchmark", "steps"),
    [
        (VectorEnvBenchmark("", "tilewright/2048-v1", "grid", count=64, steps=200), 64 * 200),
        (EnvBenchmark("", "tilewright/Threes-v1", steps=2000), 2000),
        (DeepTrainingBenchmark("", DeepConfig(architecture="small", learning_starts=64, total_steps=256)), 256),
        (Sb3Benchmark("", steps=64), 64),
    ],
    ids=lambda value: type(value).__name__,
)
def test_they_count_the_steps_of_a_second(benchmark: Benchmark, steps: int) -> None:
    assert benchmark.run(0, 1) == steps


def test_training_counts_the_moves_of_its_games() -> None:
    rate = TrainingBenchmark("", ONLINE).run(0, 1)
    assert rate == Trainer(ONLINE).learn(0, ONLINE.games).moves.sum()


def test_rollouts_count_their_own_moves() -> None:
    """More rollouts have more moves, although the agent plays one game."""
    few, many = (
        RolloutBenchmark("", lambda count=count: MonteCarloAgent(rollouts=count), "2048", 1).run(0, 1)  # type: ignore[misc]
        for count in (1, 4)
    )
    assert 0 < few < many


def test_benchmarks_of_installed_packages_are_available() -> None:
    assert {"2048-envs", "2048-envs-onehot", "threes-envs", "2048-env", "dqn-mlp", "dqn-cnn"} <= set(BENCHMARKS)
    for name, module in (("gymnasium-2048", "gymnasium_2048"), ("pgx", "pgx"), ("jumanji", "jumanji")):
        installed = importlib.util.find_spec(module) is not None
        assert (name in BENCHMARKS, name in UNAVAILABLE) == (installed, not installed)


def test_a_benchmark_that_cannot_be_run_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(UNAVAILABLE, "other-2048", "jax other_2048")
    with pytest.raises(MissingExtraError, match=r"^the benchmark other-2048 needs .*: pip install jax other-2048$"):
        find_benchmark("other-2048")
    with pytest.raises(SpecError, match=r"^there is no benchmark '2048-randm' \(did you mean '2048-random'"):
        measure(["2048-randm"])
    with pytest.raises(UsageError, match="repeat=0: at least one run is needed"):
        measure(["2048-random"], repeat=0)
