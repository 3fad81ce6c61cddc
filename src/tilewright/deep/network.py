"""The networks of `networks.architectures` in PyTorch.

A network reads grids as the environments give them: uint8[batch, rows, columns], in Threes with one more row that
tells the hint. It makes planes of them itself, so that a replay memory holds a byte a cell.
"""

import threading
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from tilewright.deep.architectures import find_architecture
from tilewright.deep.convolution import BoardConvolution
from tilewright.envs.observations import LARGEST_HINT, PLANES
from tilewright.errors import UsageError
from tilewright.games.base import Game

__all__ = ["BoardNetwork", "NetworkPlan", "make_network"]

_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class NetworkPlan:
    """All that a network is made from; part of every model file."""

    game: Game
    kind: str  # dqn: an output an action; afterstate: one output
    architecture: str
    encoding: str
    dueling: bool = True
    bfloat16: bool = False

    @property
    def planes(self) -> int:
        """How many numbers a cell has."""
        if self.encoding == "grid":
            return 1 + self.game.has_hints
        return PLANES + (LARGEST_HINT + 1 if self.game.has_hints else 0)


class BoardLines(nn.Module):
    """One product for every whole row and every whole column, with the same weights."""

    def __init__(self, planes: int, shape: tuple[int, int], channels: int) -> None:
        super().__init__()
        if shape[0] != shape[1]:
            raise UsageError(f"a board of {shape[0]}x{shape[1]} cells is not square; this architecture needs one")
        self.product = nn.Linear(shape[1] * planes, channels)

    def forward(self, x: Tensor) -> Tensor:
        lines = torch.cat((x, x.transpose(1, 2)), dim=1).flatten(2)
        return F.relu(self.product(lines))


class BoardNetwork(nn.Module):
    """Grids in; out come the values of four actions, or of the board."""

    def __init__(self, plan: NetworkPlan) -> None:
        super().__init__()
        self.plan = plan
        architecture = find_architecture(plan.architecture)
        shape, planes = (plan.game.rows, plan.game.columns), plan.planes
        trunk: list[nn.Module] = []
        for layer in architecture.convolutions:
            convolution = BoardConvolution(planes, shape, layer)
            trunk.append(convolution)
            shape, planes = (convolution.shape[0], convolution.shape[1]), layer.channels
        size = shape[0] * shape[1] * planes
        if architecture.lines:
            trunk.append(BoardLines(planes, shape, architecture.lines))
            size = sum(shape) * architecture.lines
        self.trunk = nn.Sequential(*trunk)
        self.state: nn.Sequential | None = None
        self.action: nn.Sequential | None = None
        if plan.kind == "afterstate" or plan.dueling:
            self.state = _perceptron(size, architecture.head, 1)
        if plan.kind == "dqn":
            self.action = _perceptron(size, architecture.head if architecture.both else (), 4)

    def forward(self, grids: Tensor) -> Tensor:
        """uint8[batch, rows, columns] -> float32[batch, 4], or [batch, 1] of afterstates."""
        with torch.autocast("cpu", torch.bfloat16, enabled=self.plan.bfloat16):
            features = self.trunk(self.encode(grids))
        features = features.flatten(1).float()
        if self.action is None:
            return self._state(features)
        actions: Tensor = self.action(features)
        if self.state is None:
            return actions
        return self._state(features) + actions - actions.mean(dim=1, keepdim=True)

    def _state(self, features: Tensor) -> Tensor:
        assert self.state is not None  # noqa: S101  (forward asks only where there is one)
        value: Tensor = self.state(features)
        return value

    def encode(self, grids: Tensor) -> Tensor:
        """float32[batch, rows, columns, planes]: what a cell shows; a hint is the same in all cells."""
        rows, has_hints = self.plan.game.rows, self.plan.game.has_hints
        board = grids[:, :rows].long().clamp(max=PLANES - 1)
        if self.plan.encoding == "grid":
            parts = [board.float()[..., None]]
        else:
            parts = [F.one_hot(board, PLANES).float()]
        if has_hints:
            hint = grids[:, rows:, :].long().expand_as(board)
            parts.append(hint.float()[..., None] if self.plan.encoding == "grid" else self._one_hot_hint(hint))
        return torch.cat(parts, dim=-1)

    def _one_hot_hint(self, hint: Tensor) -> Tensor:
        return F.one_hot(hint, LARGEST_HINT + 1).float()

    def set_training_mode(self, mode: bool) -> None:
        """The name that Stable-Baselines3 has for `train`."""
        self.train(mode)

    def predict(self, grids: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The outputs for some grids, without learning."""
        with torch.inference_mode():
            found: NDArray[np.float32] = self(torch.from_numpy(grids)).numpy()
        return found


def _perceptron(inputs: int, sizes: tuple[int, ...], outputs: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for size in sizes:
        layers += [nn.Linear(inputs, size), nn.ReLU()]
        inputs = size
    return nn.Sequential(*layers, nn.Linear(inputs, outputs))


def make_network(plan: NetworkPlan, seed: int) -> BoardNetwork:
    """A new network; the same seed gives the same weights, also while another thread makes one."""
    with _ONE_AT_A_TIME, torch.random.fork_rng(devices=[]):  # PyTorch initialises layers by a generator of all threads
        torch.manual_seed(seed)
        return BoardNetwork(plan)
