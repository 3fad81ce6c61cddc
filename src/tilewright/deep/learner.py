"""What all algorithms share: network, optimizer, schedules, gradient steps, and the state in a checkpoint."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from tilewright.deep.checkpoint import (
    Counters,
    Tensors,
    check_that_sound,
    generator_state,
    get_weights,
    optimizer_tensors,
    read_counter,
    restore_array,
    restore_generator,
    restore_optimizer,
    set_weights,
)
from tilewright.deep.config import DeepConfig
from tilewright.deep.devices import find_device, send
from tilewright.deep.model import DeepModel
from tilewright.deep.network import BoardNetwork, NetworkConfig, make_network
from tilewright.deep.symmetry import Symmetries
from tilewright.deep.vecenv import FinishedGame

__all__ = [
    "Learner",
    "ReplayLearner",
    "TrainedNetwork",
    "exploration_rate_at",
    "learning_rate_at",
    "make_optimizer",
    "network_config",
    "set_learning_rate",
]

ROUNDS_PER_CHUNK = 16  # a round is train_freq steps, or a step in every game if that is more


class TrainedNetwork(NamedTuple):
    """A network with its optimizer, whose state has names with the prefix in a checkpoint."""

    network: BoardNetwork
    optimizer: torch.optim.Adam
    prefix: str = ""


class Learner(ABC):
    """An algorithm that plays and learns in chunks and whose whole state can be saved.

    A subclass defines `_learn_chunk`. What it has besides network, optimizer and generator, it adds to `_networks`,
    `_trained`, `_arrays`, `counters` and `_restore_rest`.

    Attributes:
        config: The configuration.
        game: The game.
        network: The network that is trained.
        optimizer: Its optimizer.
        generator: The source of all random numbers but those of the games.
        symmetries: The symmetries of the board.
    """

    max_grad_norm: ClassVar[float] = 10.0  # as in SB3's DQN

    def __init__(self, config: DeepConfig) -> None:
        """Make the network of a configuration, and its optimizer."""
        self.config, self.game = config, config.make_game()
        self.network = self._make_network()
        self.optimizer = make_optimizer(self.network, config.learning_rate)
        self.generator = np.random.default_rng(config.seed)
        self.symmetries = Symmetries(self.game)
        self._losses: list[float] = []
        self._steps, self._progress = 0, 0.0

    def _make_network(self) -> BoardNetwork:
        """Return the network of the configuration, as it is before the training."""
        return make_network(network_config(self.config), self.config.seed, find_device(self.config.device))

    @property
    def steps(self) -> int:
        """The number of moves, or of labelled positions, since the start of the training."""
        return self._steps

    @property
    def exploration_rate(self) -> float:
        """The current probability of a random move, ε."""
        return exploration_rate_at(self.config, self._progress)

    @property
    def accuracy(self) -> float:
        """The fraction of the last chunk's positions in which the network chose the teacher's move; 0 without one."""
        return 0.0

    def learn(self, progress: float) -> list[FinishedGame]:
        """Play and learn for one chunk of steps.

        Args:
            progress: The fraction of the training that is done, from 0 to 1; schedules depend on it.

        Returns:
            The games that ended.
        """
        self._progress = progress
        for trained in self._trained():
            set_learning_rate(trained.optimizer, learning_rate_at(self.config, progress))
        return self._learn_chunk()

    @abstractmethod
    def _learn_chunk(self) -> list[FinishedGame]:
        """Play and learn, and return the games that ended."""

    @property
    def error(self) -> Callable[..., Tensor]:
        """The loss between values and their targets, as PyTorch has it."""
        return F.mse_loss if self.config.loss == "mse" else F.smooth_l1_loss

    def make_gradient_step(self, loss: Tensor) -> None:
        """Make one gradient step of the network, and note the loss."""
        self._descend(loss, self.network, self.optimizer)
        self._losses.append(float(loss.detach()))

    def _descend(self, loss: Tensor, network: BoardNetwork, optimizer: torch.optim.Optimizer) -> None:
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(network.parameters(), self.max_grad_norm)
        optimizer.step()

    def pop_losses(self) -> list[float]:
        """Return the losses of all gradient steps since the last call."""
        losses, self._losses = self._losses, []
        return losses

    def send(self, array: NDArray[np.generic]) -> Tensor:
        """Return an array as a tensor on the device of the network."""
        return send(array, self.network.device)

    def model(self, origin: dict[str, str]) -> DeepModel:
        """Return the network as a model; `origin` is metadata about the training."""
        is_policy = self.config.agent_name == "policy"  # its logits have no scale
        return DeepModel(self.network, 1.0 if is_policy else self.config.reward_scale, origin)

    def _networks(self) -> dict[str, BoardNetwork]:
        """Return all networks of a checkpoint by the first part of their names."""
        return {"network": self.network}

    def _trained(self) -> list[TrainedNetwork]:
        """Return the networks that are trained."""
        return [TrainedNetwork(self.network, self.optimizer)]

    def _arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the arrays of a checkpoint that are restored in place."""
        return {}

    def tensors(self) -> dict[str, NDArray[np.generic]]:
        """Return the arrays of a checkpoint."""
        found = self._arrays()
        for name, network in self._networks().items():
            found |= get_weights(network, f"{name}.")
        for network, optimizer, prefix in self._trained():
            found |= optimizer_tensors(optimizer, network, prefix)
        return found

    def counters(self) -> Mapping[str, object]:
        """Return the rest of a checkpoint, as JSON can hold it."""
        return {"steps": self._steps, "generator": generator_state(self.generator)}

    def restore(self, tensors: Tensors, counters: Counters) -> None:
        """Return to the state of a checkpoint.

        Args:
            tensors: The arrays of `tensors`.
            counters: The result of `counters`.

        Raises:
            FileError: The checkpoint is damaged or does not match the configuration.
        """
        for name, network in self._networks().items():
            set_weights(network, tensors, f"{name}.")
        for network, optimizer, prefix in self._trained():
            restore_optimizer(optimizer, network, tensors, prefix)
        for name, array in self._arrays().items():
            restore_array(array, tensors, name)
        self._steps = read_counter(counters, "steps")
        self._restore_rest(tensors, counters)
        check_that_sound(self._steps % self.config.n_envs == 0, "its counters contradict each other")
        restore_generator(self.generator, counters.get("generator"))

    @abstractmethod
    def _restore_rest(self, tensors: Tensors, counters: Counters) -> None:
        """Restore what only this algorithm has, and raise FileError if what was restored cannot be."""


class ReplayLearner(Learner):
    """A learner that adds steps to a buffer in rounds, and learns from batches that are drawn from the buffer."""

    @property
    def capacity(self) -> int:
        """The number of rows of the buffer: the same number of every game."""
        return self.config.buffer_size // self.config.n_envs * self.config.n_envs

    def _learn_chunk(self) -> list[FinishedGame]:
        finished: list[FinishedGame] = []
        n, train_freq = self.config.n_envs, self.config.train_freq
        for _ in range(ROUNDS_PER_CHUNK * max(1, train_freq // n)):
            finished += self._advance()
            if self._steps > self.config.learning_starts and self._steps % max(n, train_freq) == 0:
                for _ in range(max(1, n // train_freq)):
                    self._train(*self._draw_batch())
        return finished

    def _draw_batch(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Draw rows of the buffer, and a symmetry for each: number 0, the board itself, unless `symmetry` is set."""
        size = self.config.batch_size
        rows = self.generator.integers(min(self._steps, self.capacity), size=size)
        if not self.config.symmetry:
            return rows, np.zeros(size, np.int64)
        return rows, self.generator.integers(self.symmetries.count, size=size)

    @abstractmethod
    def _advance(self) -> list[FinishedGame]:
        """Add a step of every game to the buffer, and return the games that ended."""

    @abstractmethod
    def _train(self, rows: NDArray[np.int64], symmetries: NDArray[np.int64]) -> None:
        """Make one gradient step on some rows of the buffer."""


def network_config(config: DeepConfig) -> NetworkConfig:
    """Return the part of a training configuration that determines the network."""
    return NetworkConfig(
        config.make_game(),
        config.agent_name,
        config.architecture,
        config.encoding,
        config.dueling,
        config.bfloat16,
        config.lookahead,
    )


def exploration_rate_at(config: DeepConfig, progress: float) -> float:
    """Return ε after a fraction `progress` of the training.

    It falls linearly over the first `exploration_fraction` of the training, then stays.

    >>> exploration_rate_at(DeepConfig(minutes=1), 0.5)
    0.01
    """
    first, last = config.exploration_initial_eps, config.exploration_final_eps
    if progress >= config.exploration_fraction:
        return last
    return first + (last - first) * progress / config.exploration_fraction


def learning_rate_at(config: DeepConfig, progress: float) -> float:
    """Return the learning rate after a fraction `progress` of the training, on a line from start to end.

    >>> learning_rate_at(DeepConfig(minutes=1, learning_rate=0.25, learning_rate_end=0.125), 0.5)
    0.1875
    """
    first, last = config.learning_rate, config.learning_rate_end or config.learning_rate
    return first + (last - first) * progress


def make_optimizer(network: BoardNetwork, learning_rate: float) -> torch.optim.Adam:
    """Return an Adam optimizer for the weights of a network."""
    return torch.optim.Adam(network.parameters(), lr=learning_rate, fused=network.device.type in ("cpu", "cuda"))


def set_learning_rate(optimizer: torch.optim.Optimizer, learning_rate: float) -> None:
    """Set the learning rate of an optimizer."""
    for group in optimizer.param_groups:
        group["lr"] = learning_rate
