"""The memory of DQN: Stable-Baselines3's, with priorities (Schaul et al. 2016) and a generator of its own.

A place is a position and an environment: `position * environments + environment`.
"""

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.buffers import ReplayBuffer

from tilewright._core.jit import kernel
from tilewright.errors import FileError

__all__ = ["BoardReplay", "Sample", "SumTree"]

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
SMALLEST_PRIORITY = 1e-6
_ARRAYS = ("observations", "next_observations", "actions", "rewards", "dones")


@kernel
def set_leaves(tree: Floats, leaves: Places, values: Floats) -> None:
    """Set some leaves, and the sums above them; tree: float64[2 * size], node 1 is the sum of all."""
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
def find_leaves(tree: Floats, sums: Floats, leaves: Places) -> None:
    """For each sum, the first leaf up to which the leaves add up to more."""
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
    """Numbers that can be drawn from in proportion to themselves, in logarithmic time."""

    def __init__(self, size: int) -> None:
        self.size = 1 << (size - 1).bit_length()
        self.nodes = np.zeros(2 * self.size, np.float64)

    def set(self, leaves: Places, values: Floats) -> None:
        set_leaves(self.nodes, leaves, values)

    def draw(self, count: int, generator: np.random.Generator) -> Places:
        """`count` leaves, one from each of as many equal parts of the sum."""
        sums = (np.arange(count) + generator.random(count)) * (self.nodes[1] / count)
        leaves = np.empty(count, np.int64)
        find_leaves(self.nodes, sums, leaves)
        return leaves

    def refresh(self) -> None:
        """Add up anew: many small changes leave rounding errors behind."""
        level = self.size
        while level > 1:
            self.nodes[level // 2 : level] = self.nodes[level : 2 * level].reshape(-1, 2).sum(axis=1)
            level //= 2

    @property
    def leaves(self) -> Floats:
        return self.nodes[self.size :]


class Sample(NamedTuple):
    """A batch: what was seen and done, what it earned in n steps, and what was seen then."""

    places: Places
    grids: NDArray[np.uint8]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    next_grids: NDArray[np.uint8]
    discounts: NDArray[np.float32]  # of the value of what was seen then; 0 where the game had ended
    weights: NDArray[np.float32]  # make good that some are drawn more often than others


class BoardReplay(ReplayBuffer):
    """Transitions of all environments; each is drawn alike, or with `alpha` > 0 by its last error."""

    def __init__(
        self,
        buffer_size: int,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        device: Any = "cpu",
        n_envs: int = 1,
        optimize_memory_usage: bool = False,
        *,
        alpha: float = 0.0,
        n_steps: int = 1,
        gamma: float = 0.99,
    ) -> None:
        super().__init__(buffer_size, observation_space, action_space, device, n_envs, optimize_memory_usage)
        self.alpha, self.n_steps, self.gamma = alpha, n_steps, gamma
        self.tree = SumTree(self.buffer_size * n_envs)
        self.highest = 1.0  # priority of what was not learned from yet

    def add(self, *transition: Any, **named: Any) -> None:
        position = self.pos
        super().add(*transition, **named)
        if self.alpha:
            leaves = position * self.n_envs + np.arange(self.n_envs)
            self.tree.set(leaves, np.full(self.n_envs, self.highest))
            if self.pos == 0:
                self.tree.refresh()

    def draw(self, count: int, generator: np.random.Generator, beta: float = 1.0) -> Sample:
        """A batch; `beta` says how much of the bias of priorities its weights make good."""
        filled = (self.buffer_size if self.full else self.pos) * self.n_envs
        if not self.alpha:
            return self.sample_at(generator.integers(filled, size=count), np.ones(count))
        places = np.minimum(self.tree.draw(count, generator), filled - 1)
        chances = self.tree.leaves[places] / self.tree.nodes[1]
        weights = (filled * chances) ** -beta
        return self.sample_at(places, weights / weights.max())

    def sample_at(self, places: Places, weights: Floats) -> Sample:
        """The transitions of these places, with the returns of up to `n_steps` moves."""
        first, envs = np.divmod(places, self.n_envs)
        newest = (self.pos - 1) % self.buffer_size
        returns, discounts = np.zeros(len(places), np.float32), np.ones(len(places), np.float32)
        last, going = first.copy(), np.ones(len(places), np.bool_)
        for step in range(self.n_steps):
            at = (first + step) % self.buffer_size
            last = np.where(going, at, last)
            returns += np.where(going, discounts * self.rewards[at, envs], 0)
            discounts = np.where(going, discounts * np.float32(self.gamma) * (1 - self.dones[at, envs]), discounts)
            going &= (self.dones[at, envs] == 0) & (at != newest)
        return Sample(
            places,
            self.observations[first, envs],
            self.actions[first, envs, 0],
            returns.astype(np.float32),
            self.next_observations[last, envs],
            discounts.astype(np.float32),
            weights.astype(np.float32),
        )

    def learned(self, places: Places, errors: NDArray[np.floating[Any]]) -> None:
        """Say how wrong the network was about a batch: the priorities of the next draws."""
        if self.alpha:
            priorities = (np.abs(errors).astype(np.float64) + SMALLEST_PRIORITY) ** self.alpha
            self.highest = max(self.highest, float(priorities.max()))
            self.tree.set(places, priorities)

    def tensors(self) -> dict[str, NDArray[Any]]:
        """What is remembered, for a checkpoint."""
        counts = np.array([self.pos, self.full], np.int64)
        found = {f"replay.{name}": getattr(self, name) for name in _ARRAYS}
        priorities = {"replay.tree": self.tree.nodes, "replay.highest": np.array([self.highest])}
        return {**found, **priorities, "replay.counts": counts}

    def restore(self, tensors: dict[str, NDArray[Any]]) -> None:
        for name, mine in self.tensors().items():
            if name not in tensors or tensors[name].shape != mine.shape or tensors[name].dtype != mine.dtype:
                raise FileError(f"the checkpoint does not fit the recipe: {name} is missing or of another size")
        for name in _ARRAYS:
            getattr(self, name)[:] = tensors[f"replay.{name}"]
        self.pos, self.full = int(tensors["replay.counts"][0]), bool(tensors["replay.counts"][1])
        self.tree.nodes[:] = tensors["replay.tree"]
        self.highest = float(tensors["replay.highest"][0])
