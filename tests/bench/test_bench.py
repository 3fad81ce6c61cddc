"""Benchmarks of environments and deep learning measure what they say."""

import importlib.util
import time

import pytest

from tilewright.bench import BENCHMARKS
from tilewright.bench.benchmarks import DeepTraining, SingleStepping, Stepping
from tilewright.bench.peers import Sb3Training
from tilewright.deep.config import DeepConfig


@pytest.mark.parametrize(
    "benchmark",
    [
        Stepping("", "tilewright/2048-v0", "grid", count=64, steps=200),
        SingleStepping("", "tilewright/Threes-v0", steps=2000),
        DeepTraining("", DeepConfig(architecture="small", learning_starts=64, total_steps=256)),
        Sb3Training("", steps=64),
    ],
)
def test_they_count_steps_in_a_second(benchmark: Stepping | SingleStepping | DeepTraining | Sb3Training) -> None:
    benchmark.run(0, 1)
    began = time.perf_counter()
    rate = benchmark.run(0, 1)
    seconds = time.perf_counter() - began
    steps = benchmark.config.total_steps if isinstance(benchmark, DeepTraining) else benchmark.steps
    boards = benchmark.count if isinstance(benchmark, Stepping) else 1
    assert rate >= steps * boards / seconds


def test_those_of_installed_packages_are_listed() -> None:
    assert {"2048-envs", "2048-envs-onehot", "threes-envs", "2048-env", "dqn-mlp", "dqn-cnn"} <= set(BENCHMARKS)
    for name, module in (("gymnasium-2048", "gymnasium_2048"), ("pgx", "pgx"), ("jumanji", "jumanji")):
        assert (name in BENCHMARKS) == (importlib.util.find_spec(module) is not None)
