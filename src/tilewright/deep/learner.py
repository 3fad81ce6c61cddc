"""The interface between a training session and an algorithm, and the schedules that the algorithms share."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from tilewright.deep.checkpoint import Counters, Tensors
from tilewright.deep.config import DeepConfig
from tilewright.deep.model import DeepModel
from tilewright.deep.network import BoardNetwork, NetworkConfig
from tilewright.deep.vecenv import FinishedGame

__all__ = [
    "Learner",
    "exploration_rate_at",
    "learning_rate_at",
    "make_optimizer",
    "network_config",
    "set_learning_rate",
]


class Learner(ABC):
    """An algorithm that plays and learns in chunks and whose whole state can be saved.

    Attributes:
        config: The configuration.
        network: The network that is trained.
    """

    def __init__(self, config: DeepConfig, network: BoardNetwork) -> None:
        """Store the configuration and the network."""
        self.config, self.network = config, network

    @property
    @abstractmethod
    def steps(self) -> int:
        """The number of moves since the start of the training."""

    @property
    @abstractmethod
    def exploration_rate(self) -> float:
        """The current probability of a random move, ε."""

    @property
    def accuracy(self) -> float:
        """The fraction of the last chunk's positions in which the network chose the teacher's move; 0 without one."""
        return 0.0

    @abstractmethod
    def learn(self, progress: float) -> list[FinishedGame]:
        """Play and learn for one chunk of steps.

        Args:
            progress: The fraction of the training that is done, from 0 to 1; schedules depend on it.

        Returns:
            The games that ended.
        """

    @abstractmethod
    def pop_losses(self) -> list[float]:
        """Return the losses of all gradient steps since the last call."""

    @abstractmethod
    def tensors(self) -> dict[str, NDArray[np.generic]]:
        """Return the arrays of a checkpoint."""

    @abstractmethod
    def counters(self) -> Mapping[str, object]:
        """Return the rest of a checkpoint, as JSON can hold it."""

    @abstractmethod
    def restore(self, tensors: Tensors, counters: Counters) -> None:
        """Return to the state of a checkpoint.

        Args:
            tensors: The arrays of `tensors`.
            counters: The result of `counters`.

        Raises:
            FileError: The checkpoint is damaged or does not match the configuration.
        """

    def model(self, origin: dict[str, str]) -> DeepModel:
        """Return the network as a model; `origin` is metadata about the training."""
        return DeepModel(self.network, self.config.reward_scale, origin)


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
