"""The replay buffer of DQN: Stable-Baselines3's, with priorities (Schaul et al. 2016) and n-step returns.

Random numbers come from the caller's generator; NumPy's global one is not used. The *index* of a transition is
`position * n_envs + environment`.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.buffers import ReplayBuffer

from tilewright._core.jit import kernel
from tilewright.deep.checkpoint import Tensors, check_that_sound, restore_array

__all__ = ["PrioritizedReplayBuffer", "SumTree", "TransitionBatch"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
MIN_PRIORITY = 1e-6  # added to every TD error, so that no transition is lost
ROUNDING = 1e-6  # of the total: what many small changes of the sums may add up to
_ARRAYS = ("observations", "next_observations", "actions", "rewards", "dones")


@kernel
def set_leaves(tree: Floats, leaves: Indices, values: Floats) -> None:
    """Set some leaves of a sum tree and update the sums above them.

    Args:
        tree: float64[2 * size], updated in place; node 1 is the root, node `size + i` is leaf i.
        leaves: int64[n].
        values: float64[n].
    """
    size = len(tree) // 2
    for k in range(len(leaves)):
        node = size + leaves[k]
        change = values[k] - tree[node]
        tree[node] = values[k]
        node //= 2
        while node:
            tree[node] += change
            node //= 2


@kernel
def find_leaves(tree: Floats, sums: Floats, leaves: Indices) -> None:
    """Find the leaves at which the running sum of the leaves exceeds given sums.

    Args:
        tree: float64[2 * size].
        sums: float64[n], each from 0 to below the total.
        leaves: int64[n], overwritten.
    """
    size = len(tree) // 2
    for k in range(len(sums)):
        node, rest = 1, sums[k]
        while node < size:
            node *= 2
            if rest >= tree[node] and tree[node + 1] > 0:
                rest -= tree[node]
                node += 1
        leaves[k] = node - size


class SumTree:
    """Non-negative numbers that are sampled in proportion to their values, in logarithmic time.

    >>> tree = SumTree(3)
    >>> tree.set(np.array([0, 2]), np.array([1.0, 3.0]))
    >>> float(tree.total)
    4.0
    """

    def __init__(self, capacity: int) -> None:
        """Make a tree with `capacity` leaves, all 0."""
        self.size = 1 << (capacity - 1).bit_length()
        self.nodes = np.zeros(2 * self.size, np.float64)

    def set(self, leaves: Indices, values: Floats) -> None:
        """Set some leaves."""
        set_leaves(self.nodes, leaves, values)

    def sample(self, count: int, generator: np.random.Generator) -> Indices:
        """Return `count` leaves, one from each of `count` equal parts of the total (stratified sampling)."""
        sums = (np.arange(count) + generator.random(count)) * (self.nodes[1] / count)
        leaves = np.empty(count, np.int64)
        find_leaves(self.nodes, sums, leaves)
        return leaves

    def recompute(self) -> None:
        """Recompute all sums from the leaves; many small changes accumulate rounding errors."""
        level = self.size
        while level > 1:
            self.nodes[level // 2 : level] = self.nodes[level : 2 * level].reshape(-1, 2).sum(axis=1)
            level //= 2

    @property
    def leaves(self) -> Floats:
        """The values of the leaves, a view."""
        return self.nodes[self.size :]

    @property
    def total(self) -> np.float64:
        """The sum of all leaves."""
        total: np.float64 = self.nodes[1]
        return total


class TransitionBatch(NamedTuple):
    """A batch of transitions with n-step returns."""

    indices: Indices
    grids: NDArray[np.uint8]
    actions: NDArray[np.int64]
    returns: NDArray[np.float32]  # discounted rewards of up to n steps
    next_grids: NDArray[np.uint8]  # the grids after the last of these steps
    discounts: NDArray[np.float32]  # of the value of `next_grids`; 0 where the episode has ended
    weights: NDArray[np.float32]  # importance weights


class PrioritizedReplayBuffer(ReplayBuffer):
    """A replay buffer that samples transitions uniformly or, with `alpha` > 0, by their last TD error.

    Attributes:
        alpha: The exponent of the priorities.
        n_step: The number of rewards in a return.
        gamma: The discount factor of the returns.
        over_buffer: Whether importance weights are divided by the largest one of the buffer, not of the batch.
        tree: The priorities of all transitions, raised to `alpha`.
        max_priority: The priority of new transitions.
    """

    def __init__(
        self,
        buffer_size: int,
        observation_space: spaces.Box,
        action_space: spaces.Discrete,
        device: torch.device | str = "cpu",
        n_envs: int = 1,
        optimize_memory_usage: bool = False,
        *,
        alpha: float = 0.0,
        n_step: int = 1,
        gamma: float = 0.99,
        over_buffer: bool = False,
    ) -> None:
        """Make an empty buffer; the positional arguments are those of Stable-Baselines3's `ReplayBuffer`."""
        super().__init__(buffer_size, observation_space, action_space, device, n_envs, optimize_memory_usage)
        self.alpha, self.n_step, self.gamma, self.over_buffer = alpha, n_step, gamma, over_buffer
        self.tree = SumTree(self.buffer_size * n_envs)
        self.max_priority = 1.0

    def add(self, *transition: Any, **named: Any) -> None:
        """Store one transition of every environment; the arguments are those of `ReplayBuffer.add`."""
        position = self.pos
        super().add(*transition, **named)
        if self.alpha:
            leaves = position * self.n_envs + np.arange(self.n_envs)
            self.tree.set(leaves, np.full(self.n_envs, self.max_priority))
            if self.pos == 0:
                self.tree.recompute()

    def sample(  # type: ignore[override]
        self, batch_size: int, generator: np.random.Generator, beta: float = 1.0
    ) -> TransitionBatch:
        """Sample a batch of transitions.

        Args:
            batch_size: The number of transitions.
            generator: The source of random numbers.
            beta: The exponent of the importance weights: 0 for no correction of the priorities' bias, 1 for a full one.
        """
        stored = (self.buffer_size if self.full else self.pos) * self.n_envs
        if not self.alpha:
            return self.transitions_at(generator.integers(stored, size=batch_size), np.ones(batch_size))
        indices = np.minimum(self.tree.sample(batch_size, generator), stored - 1)
        probabilities = self.tree.leaves[indices] / self.tree.total
        weights = (stored * probabilities) ** -beta
        largest = weights.max()
        if self.over_buffer:
            largest = (stored * self.tree.leaves[:stored].min() / self.tree.total) ** -beta
        return self.transitions_at(indices, weights / largest)

    def transitions_at(self, indices: Indices, weights: Floats) -> TransitionBatch:
        """Return the transitions at given indices, with returns of up to `n_step` rewards.

        A return is shorter where the episode or the stored transitions end.

        Args:
            indices: int64[n].
            weights: float64[n], the importance weights of the batch.
        """
        first, envs = np.divmod(indices, self.n_envs)
        newest = (self.pos - 1) % self.buffer_size
        returns, discounts = np.zeros(len(indices), np.float32), np.ones(len(indices), np.float32)
        last, continues = first.copy(), np.ones(len(indices), np.bool_)
        for step in range(self.n_step):
            at = (first + step) % self.buffer_size
            last = np.where(continues, at, last)
            returns += np.where(continues, discounts * self.rewards[at, envs], 0)
            discounts = np.where(continues, discounts * np.float32(self.gamma) * (1 - self.dones[at, envs]), discounts)
            continues &= (self.dones[at, envs] == 0) & (at != newest)
        return TransitionBatch(
            indices,
            self.observations[first, envs],
            self.actions[first, envs, 0],
            returns.astype(np.float32),
            self.next_observations[last, envs],
            discounts.astype(np.float32),
            weights.astype(np.float32),
        )

    def update_priorities(self, indices: Indices, td_errors: NDArray[np.float32] | Floats) -> None:
        """Set the priorities of a batch by its TD errors; does nothing if sampling is uniform."""
        if self.alpha:
            priorities = (np.abs(td_errors).astype(np.float64) + MIN_PRIORITY) ** self.alpha
            self.max_priority = max(self.max_priority, float(priorities.max()))
            self.tree.set(indices, priorities)

    def tensors(self) -> dict[str, NDArray[np.generic]]:
        """Return the content of the buffer for a checkpoint."""
        counters = np.array([self.pos, self.full], np.int64)
        return {
            **self._arrays(),
            "buffer.max_priority": np.array([self.max_priority]),
            "buffer.counters": counters,
        }

    def _arrays(self) -> Mapping[str, NDArray[np.generic]]:
        """Return the arrays that are restored in place."""
        return {**{f"buffer.{name}": getattr(self, name) for name in _ARRAYS}, "buffer.priorities": self.tree.nodes}

    def restore(self, tensors: Tensors) -> None:
        """Restore the content of the buffer from a checkpoint.

        Raises:
            FileError: The checkpoint does not match the configuration, or its content is impossible.
        """
        for name, array in self._arrays().items():
            restore_array(array, tensors, name)
        counters, max_priority = np.zeros(2, np.int64), np.zeros(1)
        restore_array(counters, tensors, "buffer.counters")
        restore_array(max_priority, tensors, "buffer.max_priority")
        sound = 0 <= counters[0] < self.buffer_size and counters[1] in (0, 1)
        check_that_sound(sound, "the replay buffer has a position that it cannot have")
        self.pos, self.full = int(counters[0]), bool(counters[1])
        self.max_priority = float(max_priority[0])
        check_that_sound(((self.actions >= 0) & (self.actions < 4)).all(), "the replay buffer has impossible actions")
        check_that_sound(np.isfinite(self.rewards).all(), "the replay buffer has rewards that are not finite numbers")
        check_that_sound(np.isin(self.dones, (0, 1)).all(), "the replay buffer has impossible ends of episodes")
        self._check_priorities()

    def _check_priorities(self) -> None:
        """Raise FileError unless exactly the stored transitions have priorities, and the sums are those of the tree."""
        nodes, leaves = self.tree.nodes, self.tree.leaves
        stored = (self.buffer_size if self.full else self.pos) * self.n_envs if self.alpha else 0
        sound = np.isfinite(nodes).all() and (leaves[:stored] > 0).all() and (leaves[stored:] == 0).all()
        sound &= 0 < self.max_priority < np.inf and (leaves <= self.max_priority).all()
        check_that_sound(sound, "the replay buffer has impossible priorities")
        sums = SumTree(self.buffer_size * self.n_envs)
        sums.leaves[:] = leaves
        sums.recompute()
        close = np.abs(nodes[1:] - sums.nodes[1:]) <= ROUNDING * sums.total
        check_that_sound(close.all() and np.isfinite(sums.total), "the priorities of the replay buffer do not add up")
