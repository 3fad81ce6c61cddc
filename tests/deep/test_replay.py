"""The replay buffer: sampled by priority, with n-step returns, and restored as it was."""

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from scipy import stats

from tilewright.deep.replay import PrioritizedReplayBuffer, SumTree
from tilewright.errors import FileError

GAMMA = 0.9


def make_buffer(size: int = 60, envs: int = 3, **options: Any) -> PrioritizedReplayBuffer:
    box = spaces.Box(0, 200, (2, 2), np.uint8)
    return PrioritizedReplayBuffer(size, box, spaces.Discrete(4), n_envs=envs, gamma=GAMMA, **options)


def fill(buffer: PrioritizedReplayBuffer, steps: int, seed: int = 0) -> list[list[tuple[float, bool]]]:
    """Add random transitions whose grids hold the number of their step; return rewards and ends by environment."""
    generator, envs = np.random.default_rng(seed), buffer.n_envs
    history: list[list[tuple[float, bool]]] = [[] for _ in range(envs)]
    for step in range(steps):
        rewards, dones = generator.random(envs).astype(np.float32), generator.random(envs) < 0.2
        grids, next_grids = (np.full((envs, 2, 2), number, np.uint8) for number in (step, step + 1))
        buffer.add(grids, next_grids, generator.integers(4, size=envs), rewards, dones, [{}] * envs)
        for env in range(envs):
            history[env].append((float(rewards[env]), bool(dones[env])))
    return history


def test_a_tree_holds_the_sum_of_its_leaves_and_finds_them() -> None:
    generator, values = np.random.default_rng(0), np.zeros(16)
    tree = SumTree(13)
    for _ in range(200):
        leaves = generator.choice(13, size=3, replace=False)
        values[leaves] = generator.random(3)
        tree.set(leaves, values[leaves])
        assert tree.total == pytest.approx(values.sum())
        sampled = tree.sample(5, np.random.default_rng(1))
        sums = (np.arange(5) + np.random.default_rng(1).random(5)) * values.sum() / 5
        assert np.array_equal(sampled, np.searchsorted(np.cumsum(values), sums, side="right"))
    kept = tree.nodes.copy()
    tree.recompute()
    assert np.allclose(tree.nodes, kept)


def test_importance_weights_can_be_divided_by_the_largest_of_the_buffer() -> None:
    buffer = make_buffer(30, 3, alpha=0.6, over_buffer=True)
    fill(buffer, 10)
    errors = np.linspace(0.1, 5, 30)
    buffer.update_priorities(np.arange(30), errors)
    batch = buffer.sample(4, np.random.default_rng(3), beta=0.4)
    probabilities = (errors + 1e-6) ** 0.6 / ((errors + 1e-6) ** 0.6).sum()
    weights = (30 * probabilities) ** -0.4
    assert np.allclose(batch.weights, weights[batch.indices] / weights.max(), rtol=1e-5)
    assert batch.weights.max() < 1  # the rarest transition is not in the batch


def test_priorities_determine_how_often_a_transition_is_sampled_and_weights_correct_for_it() -> None:
    buffer = make_buffer(30, 3, alpha=0.6)
    fill(buffer, 10)
    errors = np.linspace(0.1, 5, 30)
    buffer.update_priorities(np.arange(30), errors)
    probabilities = (errors + 1e-6) ** 0.6 / ((errors + 1e-6) ** 0.6).sum()
    generator = np.random.default_rng(3)
    batches = [buffer.sample(10, generator, beta=0.4) for _ in range(2000)]
    counts = np.bincount(np.concatenate([batch.indices for batch in batches]), minlength=30)
    assert stats.chisquare(counts, 20_000 * probabilities).pvalue > 1e-6
    for batch in batches[:20]:
        weights = (30 * probabilities[batch.indices]) ** -0.4
        assert np.allclose(batch.weights, weights / weights.max(), rtol=1e-5)


def test_without_priorities_all_transitions_are_sampled_alike() -> None:
    buffer = make_buffer(30, 3)
    fill(buffer, 25)
    buffer.update_priorities(np.arange(30), np.linspace(0.1, 5, 30))
    generator = np.random.default_rng(3)
    batches = [buffer.sample(10, generator) for _ in range(2000)]
    counts = np.bincount(np.concatenate([batch.indices for batch in batches]), minlength=30)
    assert stats.chisquare(counts).pvalue > 1e-6
    assert all((batch.weights == 1).all() for batch in batches)


def test_a_new_transition_has_the_highest_priority() -> None:
    buffer = make_buffer(30, 3, alpha=1.0)
    fill(buffer, 4)
    buffer.update_priorities(np.arange(12), np.full(12, 7.0))
    fill(buffer, 1)
    assert buffer.tree.leaves[12:15] == pytest.approx([7.0] * 3)


@pytest.mark.parametrize("n_step", [1, 2, 5])
@pytest.mark.parametrize("steps", [15, 47])  # the buffer holds 20 steps of each environment
def test_returns_are_sums_of_n_discounted_rewards(n_step: int, steps: int) -> None:
    buffer = make_buffer(60, 3, n_step=n_step)
    history = fill(buffer, steps)
    for first in range(max(0, steps - 20), steps):
        for env in range(3):
            batch = buffer.transitions_at(np.array([(first % 20) * 3 + env]), np.ones(1))
            expected, discount, last = 0.0, 1.0, first
            for last in range(first, min(first + n_step, steps)):
                reward, done = history[env][last]
                expected += discount * reward
                discount *= 0 if done else GAMMA
                if done:
                    break
            assert batch.returns[0] == pytest.approx(expected, rel=1e-5)
            assert batch.discounts[0] == pytest.approx(discount, rel=1e-5)
            assert (batch.grids[0, 0, 0], batch.next_grids[0, 0, 0]) == (first, last + 1)


def test_a_restored_buffer_samples_the_same() -> None:
    buffer, other = make_buffer(alpha=0.6, n_step=2), make_buffer(alpha=0.6, n_step=2)
    fill(buffer, 33)
    buffer.update_priorities(np.arange(20), np.linspace(0, 3, 20))
    other.restore(buffer.tensors())
    one, two = (some.sample(9, np.random.default_rng(1))._asdict() for some in (buffer, other))
    assert all(np.array_equal(one[name], two[name]) for name in one)


@pytest.mark.parametrize("name", ["buffer.rewards", "buffer.priorities", "buffer.counters", "buffer.max_priority"])
def test_a_checkpoint_of_another_buffer_is_refused(name: str) -> None:
    buffer = make_buffer(alpha=0.6)
    tensors = buffer.tensors()
    with pytest.raises(FileError, match=f"{name} is missing or has another size"):
        buffer.restore({**tensors, name: np.zeros(7)})
