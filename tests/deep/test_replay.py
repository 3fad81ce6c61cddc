"""The memory: drawn by priority, returned over n steps, and restored as it was."""

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from scipy import stats

from tilewright.deep.replay import BoardReplay, SumTree

GAMMA = 0.9


def replay(size: int = 60, envs: int = 3, **options: Any) -> BoardReplay:
    box = spaces.Box(0, 200, (2, 2), np.uint8)
    return BoardReplay(size, box, spaces.Discrete(4), n_envs=envs, gamma=GAMMA, **options)


def fill(memory: BoardReplay, steps: int, seed: int = 0) -> list[list[tuple[float, bool]]]:
    """Random transitions; grids hold the number of their step. Returns what each environment lived through."""
    generator, envs = np.random.default_rng(seed), memory.n_envs
    lived: list[list[tuple[float, bool]]] = [[] for _ in range(envs)]
    for step in range(steps):
        rewards, dones = generator.random(envs).astype(np.float32), generator.random(envs) < 0.2
        seen, then = (np.full((envs, 2, 2), number, np.uint8) for number in (step, step + 1))
        memory.add(seen, then, generator.integers(4, size=envs), rewards, dones, [{}] * envs)
        for env in range(envs):
            lived[env].append((float(rewards[env]), bool(dones[env])))
    return lived


def test_a_tree_is_the_sum_of_its_leaves_and_finds_them() -> None:
    generator, values = np.random.default_rng(0), np.zeros(16)
    tree = SumTree(13)
    for _ in range(200):
        leaves = generator.choice(13, size=3, replace=False)
        values[leaves] = generator.random(3)
        tree.set(leaves, values[leaves])
        assert tree.nodes[1] == pytest.approx(values.sum())
        drawn = tree.draw(5, np.random.default_rng(1))
        sums = (np.arange(5) + np.random.default_rng(1).random(5)) * values.sum() / 5
        assert np.array_equal(drawn, np.searchsorted(np.cumsum(values), sums, side="right"))
    kept = tree.nodes.copy()
    tree.refresh()
    assert np.allclose(tree.nodes, kept)


def test_priorities_decide_how_often_a_transition_is_drawn_and_weights_make_it_good() -> None:
    memory = replay(30, 3, alpha=0.6)
    fill(memory, 10)
    errors = np.linspace(0.1, 5, 30)
    memory.learned(np.arange(30), errors)
    chances = (errors + 1e-6) ** 0.6 / ((errors + 1e-6) ** 0.6).sum()
    generator = np.random.default_rng(3)
    samples = [memory.draw(10, generator, beta=0.4) for _ in range(2000)]
    counts = np.bincount(np.concatenate([sample.places for sample in samples]), minlength=30)
    assert stats.chisquare(counts, 20_000 * chances).pvalue > 1e-6
    for sample in samples[:20]:
        weights = (30 * chances[sample.places]) ** -0.4
        assert np.allclose(sample.weights, weights / weights.max(), rtol=1e-5)


def test_without_priorities_all_are_drawn_alike() -> None:
    memory = replay(30, 3)
    fill(memory, 25)
    memory.learned(np.arange(30), np.linspace(0.1, 5, 30))
    generator = np.random.default_rng(3)
    samples = [memory.draw(10, generator) for _ in range(2000)]
    counts = np.bincount(np.concatenate([sample.places for sample in samples]), minlength=30)
    assert stats.chisquare(counts).pvalue > 1e-6
    assert all((sample.weights == 1).all() for sample in samples)


def test_what_is_new_has_the_highest_priority() -> None:
    memory = replay(30, 3, alpha=1.0)
    fill(memory, 4)
    memory.learned(np.arange(12), np.full(12, 7.0))
    fill(memory, 1)
    assert memory.tree.leaves[12:15] == pytest.approx([7.0] * 3)


@pytest.mark.parametrize("n_steps", [1, 2, 5])
@pytest.mark.parametrize("steps", [15, 47])  # the memory holds 20 steps of each environment
def test_returns_are_those_of_so_many_steps(n_steps: int, steps: int) -> None:
    memory = replay(60, 3, n_steps=n_steps)
    lived = fill(memory, steps)
    try_lock = min(steps, 20)
    for back in range(1, try_lock + 1):
        first = steps - back
        for env in range(3):
            place = (first % 20) * 3 + env
            sample = memory.sample_at(np.array([place]), np.ones(1))
            expected, discount, last = 0.0, 1.0, first
            for last in range(first, min(first + n_steps, steps)):
                reward, done = lived[env][last]
                expected += discount * reward
                discount *= 0 if done else GAMMA
                if done:
                    break
            assert sample.rewards[0] == pytest.approx(expected, rel=1e-5)
            assert sample.discounts[0] == pytest.approx(discount, rel=1e-5)
            assert (sample.grids[0, 0, 0], sample.next_grids[0, 0, 0]) == (first, last + 1)


def test_a_restored_memory_draws_the_same() -> None:
    memory, other = replay(alpha=0.6, n_steps=2), replay(alpha=0.6, n_steps=2)
    fill(memory, 33)
    memory.learned(np.arange(20), np.linspace(0, 3, 20))
    other.restore(memory.tensors())
    drawn, again = (some.draw(9, np.random.default_rng(1))._asdict() for some in (memory, other))
    assert all(np.array_equal(drawn[name], again[name]) for name in drawn)
