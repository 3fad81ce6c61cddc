"""Schedules: exploration as in the paper, and a learning rate that falls on a line."""

import dataclasses

import pytest

from tests.deep.small import AFTERSTATE, SMALL
from tilewright.deep.config import DeepConfig
from tilewright.deep.learner import exploration_rate_at, learning_rate_at, network_config
from tilewright.deep.session import LEARNERS


def test_the_exploration_rate_falls_as_in_the_paper() -> None:
    config = DeepConfig(total_steps=100)
    rates = [exploration_rate_at(config, progress) for progress in (0, 0.05, 0.1, 0.5, 1)]
    assert rates == pytest.approx([0.6, 0.305, 0.01, 0.01, 0.01])
    assert exploration_rate_at(dataclasses.replace(config, exploration_fraction=0.0), 0.0) == 0.01


def test_the_learning_rate_is_constant_unless_it_has_an_end() -> None:
    constant = DeepConfig(total_steps=100, learning_rate=1e-3)
    assert [learning_rate_at(constant, progress) for progress in (0, 0.5, 1)] == [1e-3] * 3
    falling = dataclasses.replace(constant, learning_rate_end=1e-4)
    assert [learning_rate_at(falling, p) for p in (0, 0.5, 1)] == pytest.approx([1e-3, 5.5e-4, 1e-4])


@pytest.mark.parametrize("algorithm", ["dqn", "afterstate"])
@pytest.mark.parametrize(("progress", "rate"), [(0.0, 1e-2), (0.9, 1e-3), (1.0, 1e-7)])
def test_gradient_steps_have_the_length_of_the_learning_rate(algorithm: str, progress: float, rate: float) -> None:
    """Adam's first step moves a weight by the learning rate, whatever its gradient."""
    config = dataclasses.replace(
        SMALL if algorithm == "dqn" else AFTERSTATE, learning_rate=1e-2, learning_rate_end=1e-7, train_freq=64
    )
    learner = LEARNERS[algorithm](config)
    before = [weight.detach().clone() for weight in learner.network.parameters()]
    updates = 0
    while not updates:
        learner.learn(progress)
        updates = len(learner.pop_losses())
    assert learner.pop_losses() == []
    pairs = zip(before, learner.network.parameters(), strict=True)
    furthest = max(float((old - new.detach()).abs().max()) for old, new in pairs)
    assert 0.5 * rate < furthest <= 1.05 * rate * updates


def test_a_network_is_configured_by_its_training() -> None:
    config = DeepConfig(game="threes", architecture="lines", encoding="grid", dueling=False, bfloat16=True, minutes=1)
    found = network_config(config)
    assert (found.game, found.algorithm, found.architecture) == (config.make_game(), "dqn", "lines")
    assert (found.encoding, found.dueling, found.bfloat16) == ("grid", False, True)
