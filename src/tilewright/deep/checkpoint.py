"""The arrays and counters of a checkpoint: networks, optimizer, random generator.

Every function that restores something raises FileError if the checkpoint does not match the configuration.
"""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from tilewright.deep.network import BoardNetwork
from tilewright.errors import FileError

__all__ = [
    "Counters",
    "Tensors",
    "generator_state",
    "get_weights",
    "optimizer_tensors",
    "read_counter",
    "restore_array",
    "restore_generator",
    "restore_optimizer",
    "set_weights",
]

Tensors: TypeAlias = Mapping[str, NDArray[np.generic]]
Counters: TypeAlias = Mapping[str, object]  # what JSON can hold

_MOMENTS = ("step", "exp_avg", "exp_avg_sq")  # Adam's state of a weight, as PyTorch calls it


def _mismatch(name: str) -> FileError:
    return FileError(f"the checkpoint does not match the configuration: {name} is missing or has another size or type")


def get_weights(network: BoardNetwork, prefix: str = "") -> dict[str, NDArray[np.generic]]:
    """Return the weights of a network by name; the arrays share memory with the network."""
    return {prefix + name: tensor.detach().numpy() for name, tensor in network.state_dict().items()}


def set_weights(network: BoardNetwork, tensors: Tensors, prefix: str = "") -> None:
    """Set the weights of a network.

    Args:
        network: The network, updated in place.
        tensors: The weights by name; names without the prefix are ignored.
        prefix: What the names begin with.

    Raises:
        FileError: The names and shapes are not exactly those of the network.
    """
    wanted = {prefix + name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    found = {name: tensor.shape for name, tensor in tensors.items() if name.startswith(prefix)}
    if wanted != found:
        odd = sorted(set(wanted.items()) ^ set(found.items()))[0][0]
        architecture = network.config.architecture
        raise FileError(f"the weights do not fit {architecture}: {odd} is missing, unexpected, or has another size")
    network.load_state_dict({name[len(prefix) :]: torch.from_numpy(np.array(tensors[name])) for name in wanted})


def optimizer_tensors(optimizer: torch.optim.Optimizer, network: BoardNetwork) -> dict[str, NDArray[np.generic]]:
    """Return Adam's state of every weight by name; all zero before the first step."""
    found: dict[str, NDArray[np.generic]] = {}
    for name, weight in network.named_parameters():
        state = optimizer.state.get(weight, {})
        for moment in _MOMENTS:
            shape = (1,) if moment == "step" else tuple(weight.shape)
            value = state[moment].numpy().reshape(shape) if moment in state else np.zeros(shape, np.float32)
            found[f"adam.{moment}.{name}"] = value
    return found


def restore_optimizer(optimizer: torch.optim.Optimizer, network: BoardNetwork, tensors: Tensors) -> None:
    """Restore Adam's state of every weight."""
    for name, weight in network.named_parameters():
        moments = []
        for moment in _MOMENTS:
            saved = tensors.get(f"adam.{moment}.{name}")
            if saved is None or saved.shape != ((1,) if moment == "step" else tuple(weight.shape)):
                raise _mismatch(f"adam.{moment}.{name}")
            moments.append(torch.from_numpy(np.array(saved)))
        step, first, second = moments
        if step.item():
            optimizer.state[weight] = {"step": step.reshape(()), "exp_avg": first, "exp_avg_sq": second}


def restore_array(array: NDArray[np.generic], tensors: Tensors, name: str) -> None:
    """Copy the array `name` of a checkpoint to `array`, which is updated in place."""
    saved = tensors.get(name)
    if saved is None or saved.shape != array.shape or saved.dtype != array.dtype:
        raise _mismatch(name)
    array[...] = saved


def generator_state(generator: np.random.Generator) -> Mapping[str, object]:
    """Return the state of a random generator as JSON can hold it."""
    return generator.bit_generator.state


def restore_generator(generator: np.random.Generator, state: object) -> None:
    """Restore the state of a random generator."""
    try:
        generator.bit_generator.state = state  # type: ignore[assignment]
    except (KeyError, OverflowError, TypeError, ValueError):
        raise FileError("the checkpoint is damaged: the state of its random generator is not valid") from None


def read_counter(counters: Counters, name: str) -> int:
    """Return a whole number of a checkpoint."""
    value = counters.get(name)
    if type(value) is not int or value < 0:
        raise FileError(f"the checkpoint is damaged: its counter {name} is not a whole number")
    return value
