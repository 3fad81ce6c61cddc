"""What a session asks of a way of learning, and what all of them share."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tilewright.deep.config import DeepConfig
from tilewright.deep.model import DeepModel
from tilewright.deep.network import BoardNetwork, NetworkPlan
from tilewright.deep.vecenv import Finished
from tilewright.errors import FileError

__all__ = ["Learner", "adam", "adam_state", "epsilon_at", "plan_of", "restore_adam", "set_learning_rate"]

_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


class Learner(ABC):
    """Plays and learns in pieces; all that changes can be written down and restored."""

    def __init__(self, config: DeepConfig, network: BoardNetwork) -> None:
        self.config, self.network = config, network

    @property
    @abstractmethod
    def steps(self) -> int:
        """Moves made since the beginning."""

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """Share of random moves now."""

    @abstractmethod
    def advance(self, done: float) -> list[Finished]:
        """A piece of work, when the part `done` of all is behind us; the games that ended in it."""

    @abstractmethod
    def take_losses(self) -> list[float]:
        """The losses since this was last asked."""

    @abstractmethod
    def tensors(self) -> dict[str, NDArray[Any]]:
        """The arrays of a checkpoint."""

    @abstractmethod
    def counts(self) -> dict[str, Any]:
        """The rest of a checkpoint, as JSON takes it."""

    @abstractmethod
    def restore(self, tensors: dict[str, NDArray[Any]], counts: dict[str, Any]) -> None:
        """Go back to a checkpoint."""

    def model(self, origin: dict[str, str]) -> DeepModel:
        return DeepModel(self.network, self.config.reward_scale, origin)


def plan_of(config: DeepConfig) -> NetworkPlan:
    return NetworkPlan(
        config.make_game(), config.algorithm, config.architecture, config.encoding, config.dueling, config.bfloat16
    )


def epsilon_at(config: DeepConfig, done: float) -> float:
    """The paper's schedule: down in a straight line over the first part, then as it is."""
    if done >= config.exploration_fraction:
        return config.exploration_final_eps
    return (
        config.exploration_initial_eps
        + (config.exploration_final_eps - config.exploration_initial_eps) * done / config.exploration_fraction
    )


def adam(network: BoardNetwork, learning_rate: float) -> torch.optim.Adam:
    return torch.optim.Adam(network.parameters(), lr=learning_rate, fused=True)


def set_learning_rate(optimiser: torch.optim.Optimizer, config: DeepConfig, done: float) -> None:
    """As it is when the part `done` of the training is behind us."""
    first, last = config.learning_rate, config.learning_rate_end or config.learning_rate
    for group in optimiser.param_groups:
        group["lr"] = first + (last - first) * done


def adam_state(optimiser: torch.optim.Optimizer, network: BoardNetwork) -> dict[str, NDArray[Any]]:
    """The moments of every weight; zero before the first step."""
    found: dict[str, NDArray[Any]] = {}
    for name, weight in network.named_parameters():
        state = optimiser.state.get(weight, {})
        for moment in _MOMENTS:
            shape = (1,) if moment == "step" else tuple(weight.shape)
            value = state[moment].numpy().reshape(shape) if moment in state else np.zeros(shape, np.float32)
            found[f"adam.{moment}.{name}"] = value
    return found


def restore_adam(optimiser: torch.optim.Optimizer, network: BoardNetwork, tensors: dict[str, NDArray[Any]]) -> None:
    for name, weight in network.named_parameters():
        kept = [tensors.get(f"adam.{moment}.{name}") for moment in _MOMENTS]
        if any(one is None for one in kept) or kept[1].shape != tuple(weight.shape):  # type: ignore[union-attr]
            raise FileError(f"the checkpoint does not fit the recipe: adam.{name} is missing or of another size")
        step, first, second = (torch.from_numpy(np.array(one)) for one in kept)
        if step.item():
            optimiser.state[weight] = {"step": step.reshape(()), "exp_avg": first, "exp_avg_sq": second}
