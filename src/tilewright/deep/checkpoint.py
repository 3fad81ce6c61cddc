"""The arrays and counters of a checkpoint: networks, optimizer, random generator, games.

Every function that restores or checks something raises FileError if the checkpoint does not match the configuration, or
if its content is impossible: a right checksum does not make it sound.
"""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from tilewright._core.text import excerpt
from tilewright.deep.devices import receive, send
from tilewright.deep.network import BoardNetwork
from tilewright.envs.observations import BONUS_HINT
from tilewright.errors import FileError
from tilewright.games.base import Game

__all__ = [
    "Counters",
    "Tensors",
    "check_games",
    "check_grids",
    "check_that_sound",
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
_MAX_COUNTER = 2**60


def _mismatch(name: str) -> FileError:
    return FileError(f"the checkpoint does not match the configuration: {name} is missing or has another size or type")


def check_that_sound(holds: bool | np.bool_, what: str) -> None:
    """Raise FileError unless something holds of a checkpoint; `what` is wrong otherwise."""
    if not holds:
        raise FileError(f"the checkpoint is damaged: {what}")


def get_weights(network: BoardNetwork, prefix: str = "") -> dict[str, NDArray[np.generic]]:
    """Return the weights of a network by name; the arrays of one on the processor share its memory."""
    return {prefix + name: receive(tensor) for name, tensor in network.state_dict().items()}


def set_weights(network: BoardNetwork, tensors: Tensors, prefix: str = "") -> None:
    """Set the weights of a network.

    Args:
        network: The network, updated in place.
        tensors: The weights by name; names without the prefix are ignored.
        prefix: What the names begin with.

    Raises:
        FileError: Names, shapes and types are not exactly those of the network, or a weight is not a finite number.
    """
    wanted = {prefix + name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    found = {name: tensor.shape for name, tensor in tensors.items() if name.startswith(prefix)}
    if wanted != found:
        odd = sorted(set(wanted.items()) ^ set(found.items()))[0][0]
        architecture = network.config.architecture
        shown = odd if len(odd) <= 100 else excerpt(odd, 100)
        raise FileError(f"the weights do not fit {architecture}: {shown} is missing, unexpected, or has another size")
    for name in wanted:
        if tensors[name].dtype != np.float32 or not np.isfinite(tensors[name]).all():
            raise FileError(f"the weights {name} are not finite numbers of 32 bits")
    network.load_state_dict({name[len(prefix) :]: torch.from_numpy(np.array(tensors[name])) for name in wanted})


def optimizer_tensors(
    optimizer: torch.optim.Optimizer, network: BoardNetwork, prefix: str = ""
) -> dict[str, NDArray[np.generic]]:
    """Return Adam's state of every weight by name; all zero before the first step."""
    found: dict[str, NDArray[np.generic]] = {}
    for name, weight in network.named_parameters():
        state = optimizer.state.get(weight, {})
        for moment in _MOMENTS:
            shape = (1,) if moment == "step" else tuple(weight.shape)
            value = receive(state[moment]).reshape(shape) if moment in state else np.zeros(shape, np.float32)
            found[f"{prefix}adam.{moment}.{name}"] = value
    return found


def restore_optimizer(
    optimizer: torch.optim.Optimizer, network: BoardNetwork, tensors: Tensors, prefix: str = ""
) -> None:
    """Restore Adam's state of every weight, from names that begin with the prefix."""
    for name, weight in network.named_parameters():
        moments = []
        for moment in _MOMENTS:
            key = f"{prefix}adam.{moment}.{name}"
            saved = tensors.get(key)
            shape = (1,) if moment == "step" else tuple(weight.shape)
            if saved is None or saved.shape != shape or saved.dtype != np.float32:
                raise _mismatch(key)
            is_signed = moment == "exp_avg"
            sound = np.isfinite(saved).all() and (is_signed or not np.signbit(saved).any())
            check_that_sound(sound, f"{key} is impossible")
            moments.append(send(np.array(saved), weight.device))
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
        sound = generator.bit_generator.state == state
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        sound = False
    check_that_sound(sound, "the state of its random generator is not valid")


def check_grids(grids: NDArray[np.uint8], game: Game) -> None:
    """Check that grids uint8[…, rows, columns] hold tile codes of a game and, below the board, hints."""
    rows = grids.reshape(-1, *grids.shape[-2:])
    sound = (rows[:, : game.rows] < len(game.tile_values)).all() and (rows[:, game.rows :] <= BONUS_HINT).all()
    check_that_sound(sound, f"the replay buffer has grids that are not boards of {game.spec}")


def check_games(
    game: Game,
    cells: NDArray[np.uint64],
    extra: NDArray[np.uint64],
    streams: NDArray[np.uint64],
    scores: NDArray[np.int64],
) -> None:
    """Check the state, the random stream and the score of n games."""
    check_that_sound(game.are_sound(cells, extra).all(), f"a game has a board that is none of {game.spec}")
    check_that_sound(streams.any(axis=1).all(), "a game has no random stream")
    check_that_sound(((scores >= 0) & (scores <= _MAX_COUNTER)).all(), "a game has an impossible score")


def read_counter(counters: Counters, name: str) -> int:
    """Return a whole number of a checkpoint."""
    value = counters.get(name)
    if type(value) is not int or not 0 <= value <= _MAX_COUNTER:
        raise FileError(f"the checkpoint is damaged: its counter {name} is not a whole number")
    return value
