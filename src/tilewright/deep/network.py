"""The networks of `deep.architectures` in PyTorch.

A network reads grids as the environments make them: uint8[batch, rows, columns], in Threes with one more row for the
hint. It encodes them itself, so that a replay buffer stores one byte for each cell.
"""

import threading
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from tilewright.deep.architectures import find_architecture
from tilewright.deep.convolution import BoardConvolution
from tilewright.deep.devices import autocast_type, receive, send
from tilewright.envs.observations import (
    BONUS_HINT,
    ONE_HOT_PLANES,
    LookaheadEncoder,
    lookahead_boards,
    make_grid_encoder,
    observation_shape,
)
from tilewright.errors import UsageError
from tilewright.games.base import Game

__all__ = ["BoardNetwork", "LineLayer", "NetworkConfig", "make_network"]

LARGEST_EXPONENT = 16  # what Stable Baselines divides the exponents by for CNNs in the program of Bouhoula et al.
_SEEDING = threading.Lock()  # PyTorch initialises layers from one generator that all threads share


@dataclass(frozen=True)
class NetworkConfig:
    """Everything that determines the shape of a network; part of every model file.

    Attributes:
        game: The game that the network plays.
        algorithm: The agent that plays the network. dqn: one output per action, its value. policy: one output per
            action, a logit. afterstate: a single output.
        architecture: A name of `deep.architectures`.
        encoding: onehot, grid or scaled, the input of a cell.
        dueling: dqn: whether state value and advantages have separate heads.
        bfloat16: Whether convolutions are computed in bfloat16.
        lookahead: The number of moves that the input looks ahead: 0, or 1 or 2 for the boards after every such move.
    """

    game: Game
    algorithm: str
    architecture: str
    encoding: str
    dueling: bool = True
    bfloat16: bool = False
    lookahead: int = 0

    @property
    def input_boards(self) -> int:
        """The number of boards that the network sees: 1, or 5 or 21 with those after one or two moves."""
        return (1, 5, 21)[self.lookahead]

    @property
    def input_channels(self) -> int:
        """The number of inputs for each cell."""
        if self.encoding != "onehot":
            return self.input_boards + self.game.has_hints
        return self.input_boards * ONE_HOT_PLANES + (BONUS_HINT + 1 if self.game.has_hints else 0)


class LineLayer(nn.Module):
    """A linear layer with a rectifier that reads every row and every column with the same weights."""

    def __init__(self, in_channels: int, shape: tuple[int, int], out_channels: int) -> None:
        """Make the layer.

        Args:
            in_channels: The channels of a cell.
            shape: The rows and columns of the board, which must be equal.
            out_channels: The outputs for each line.

        Raises:
            UsageError: The board is not square.
        """
        super().__init__()
        _check_square(shape)
        self.linear = nn.Linear(shape[1] * in_channels, out_channels)

    def forward(self, x: Tensor) -> Tensor:
        """Map float32[batch, n, n, in_channels] to float32[batch, 2 n, out_channels], rows first."""
        lines = torch.cat((x, x.transpose(1, 2)), dim=1).flatten(2)
        return F.relu(self.linear(lines))


class TupleTable(nn.Module):
    """Looks up a vector for tuples of cells that share their weights.

    A combination of tiles has a vector of its own, which is what a linear layer would make of the one-hot combination.
    The sum of a vector for each tile is added to it, and serves combinations that were never seen.

    Attributes:
        combinations: float32[planes ** cells, channels], zero at first.
        tiles: float32[cells, planes, channels].
    """

    places: Tensor

    def __init__(self, tuples: list[NDArray[np.int64]], num_cells: int, channels: int) -> None:
        """Make the table.

        Args:
            tuples: The cells of each tuple, all of one length.
            num_cells: The number of cells of the board.
            channels: The size of a vector.
        """
        super().__init__()
        planes, length = ONE_HOT_PLANES, len(tuples[0])
        places = np.zeros((num_cells, len(tuples)), np.float32)
        for number, cells in enumerate(tuples):
            places[cells, number] = planes ** np.arange(length)
        self.register_buffer("places", torch.from_numpy(places), persistent=False)
        self.combinations = nn.Parameter(torch.zeros(planes**length, channels))
        self.tiles = nn.Parameter(torch.randn(length, planes, channels) / 2)
        self._kept: tuple[tuple[object, ...], Tensor, Tensor] | None = None  # versions, tiles, vectors

    def forward(self, codes: Tensor) -> Tensor:
        """Map codes float32[batch, cells] to float32[batch, tuples, channels]."""
        # The index of a combination is a whole number below 2^24, which 32 bits hold exactly.
        return F.embedding((codes @ self.places).long(), self._vectors())

    def _vectors(self) -> Tensor:
        """Return the vectors of all combinations; without gradients they are kept until the weights change.

        PyTorch counts the versions of weights, but not the steps of a fused optimizer. Such a step changes the vectors
        of tiles whenever it changes those of combinations.
        """
        if torch.is_grad_enabled() or self.tiles.is_meta:
            return self._add_up()
        versions = (self.combinations._version, self.tiles._version, self.tiles.device)
        kept = self._kept
        if kept is None or kept[0] != versions or not torch.equal(kept[1], self.tiles):
            self._kept = kept = versions, self.tiles.clone(), self._add_up()
        return kept[2]

    def _add_up(self) -> Tensor:
        sums, *rest = self.tiles
        for tile_vectors in rest:
            sums = (tile_vectors[:, None] + sums).flatten(0, 1)
        return self.combinations + sums


class TupleLayer(nn.Module):
    """Looks up a vector for every line, a row or a column, and for every square of 2x2 cells; see `TupleTable`."""

    def __init__(self, shape: tuple[int, int], channels: int) -> None:
        """Make the layer.

        Args:
            shape: The rows and columns of the board, which must be equal.
            channels: The size of a vector.

        Raises:
            UsageError: The board is not square.
        """
        super().__init__()
        _check_square(shape)
        n = shape[0]
        cells = np.arange(n * n).reshape(n, n)
        squares = [cells[i : i + 2, j : j + 2].reshape(-1) for i in range(n - 1) for j in range(n - 1)]
        self.num_tuples = 2 * n + len(squares)
        self.lines = TupleTable([*cells, *cells.T], n * n, channels)
        self.squares = TupleTable(squares, n * n, channels)

    def forward(self, codes: Tensor) -> Tensor:
        """Map codes int64[batch, n, n] to float32[batch, tuples, channels]."""
        flat = codes.flatten(1).float()
        return torch.cat((self.lines(flat), self.squares(flat)), dim=1)


def _check_square(shape: tuple[int, int]) -> None:
    if shape[0] != shape[1]:
        raise UsageError(f"a board of {shape[0]}x{shape[1]} cells is not square; this architecture needs one")


class BoardNetwork(nn.Module):
    """A network that maps grids to four outputs, one for each action, or to one afterstate value.

    Attributes:
        config: The configuration that the network was made from.
        trunk: The layers that read the board.
        state_head: The head of the state value; None in a DQN without dueling.
        action_head: The head of the actions, with dueling of the advantages; None in afterstate networks.
        device: Where the weights are.
    """

    device: torch.device

    def __init__(self, config: NetworkConfig) -> None:
        """Make a network with weights from PyTorch's global generator; see `make_network`."""
        super().__init__()
        self.config, self.device = config, torch.device("cpu")
        architecture = find_architecture(config.architecture)
        shape, channels = (config.game.rows, config.game.columns), config.input_channels
        trunk: list[nn.Module] = []
        self.tuples: TupleLayer | None = None
        for layer in architecture.convolutions:
            convolution = BoardConvolution(channels, shape, layer)
            trunk.append(convolution)
            shape, channels = convolution.shape, layer.channels
        features = shape[0] * shape[1] * channels
        if architecture.line_channels:
            trunk.append(LineLayer(channels, shape, architecture.line_channels))
            features = sum(shape) * architecture.line_channels
        if architecture.tuple_channels:
            if config.encoding != "onehot" or config.lookahead:
                raise UsageError(
                    f'{config.architecture} looks up tiles: encoding = "onehot" and lookahead = 0 are needed'
                )
            self.tuples = TupleLayer(shape, architecture.tuple_channels)
            features = self.tuples.num_tuples * architecture.tuple_channels + (BONUS_HINT + 1) * config.game.has_hints
        self.trunk = nn.Sequential(*trunk)
        self.state_head: nn.Sequential | None = None
        self.action_head: nn.Sequential | None = None
        if config.algorithm == "afterstate" or (config.algorithm == "dqn" and config.dueling):
            self.state_head = _make_head(features, architecture.hidden_sizes, 1)
        if config.algorithm != "afterstate":
            self.action_head = _make_head(features, architecture.hidden_sizes if architecture.action_hidden else (), 4)

    def forward(self, grids: Tensor) -> Tensor:
        """Map uint8[batch, rows, columns] to float32[batch, 4], or to float32[batch, 1] for afterstates."""
        with self._autocast(grids.device):
            features = self.trunk(self.encode(grids)) if self.tuples is None else self._look_up(self.tuples, grids)
        features = features.flatten(1).float()
        if self.action_head is None:
            return self._state_value(features)
        actions: Tensor = self.action_head(features)
        if self.state_head is None:
            return actions
        return self._state_value(features) + actions - actions.mean(dim=1, keepdim=True)

    def _look_up(self, tuples: TupleLayer, grids: Tensor) -> Tensor:
        """Map uint8[batch, rows, columns] to the vectors of all tuples and the hint, float32[batch, features]."""
        rows = self.config.game.rows
        features = tuples(grids[:, :rows].long().clamp(max=ONE_HOT_PLANES - 1)).flatten(1)
        if not self.config.game.has_hints:
            return features
        return torch.cat((features, F.one_hot(grids[:, rows, 0].long(), BONUS_HINT + 1).float()), dim=1)

    def _autocast(self, device: torch.device) -> AbstractContextManager[object]:
        if not self.config.bfloat16:
            return nullcontext()
        return torch.autocast(device.type, autocast_type(device))

    def _state_value(self, features: Tensor) -> Tensor:
        assert self.state_head is not None  # noqa: S101  (one of the two heads is always there)
        value: Tensor = self.state_head(features)
        return value

    def encode(self, grids: Tensor) -> Tensor:
        """Map uint8[batch, rows, columns] to the inputs, float32[batch, rows, columns, channels].

        The hint is encoded in every cell. Tiles above 32768 are encoded as 32768.
        """
        rows, has_hints = self.config.game.rows, self.config.game.has_hints
        parts = [
            self._encode_codes(board.long().clamp(max=ONE_HOT_PLANES - 1), ONE_HOT_PLANES)
            for board in self._boards(grids)[:, :, :rows].unbind(dim=1)
        ]
        if has_hints:
            hint = grids[:, rows:, :].long().expand(-1, rows, -1)
            parts.append(self._encode_codes(hint, BONUS_HINT + 1))
        return torch.cat(parts, dim=-1)

    def _boards(self, grids: Tensor) -> Tensor:
        """Map uint8[batch, rows, columns] to the boards that the network sees, uint8[batch, boards, rows, columns]."""
        if not self.config.lookahead:
            return grids[:, None]
        game, n = self.config.game, len(grids)
        encoder = LookaheadEncoder(make_grid_encoder(game), self.config.lookahead)
        boards = np.empty((n, *observation_shape(encoder)), np.uint8)
        flat = np.ascontiguousarray(grids.cpu().numpy()).reshape(n, -1)
        lookahead_boards(encoder, game.rules, flat, boards.reshape(n, -1))
        return send(boards, grids.device)

    def _encode_codes(self, codes: Tensor, count: int) -> Tensor:
        """Map int64[batch, rows, columns] to float32[batch, rows, columns, channels]."""
        if self.config.encoding == "onehot":
            return F.one_hot(codes, count).float()
        scale = LARGEST_EXPONENT if self.config.encoding == "scaled" else 1
        return codes.float()[..., None] / scale

    def move_to(self, device: torch.device) -> Self:
        """Move the weights to a device, in place, and return the network itself."""
        self.device = device
        return self.to(device)

    def set_training_mode(self, mode: bool) -> None:
        """Call `train`, under the name that Stable-Baselines3 uses."""
        self.train(mode)

    def predict(self, grids: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return the outputs for uint8[batch, rows, columns] without gradients."""
        with torch.inference_mode():
            return receive(self(send(grids, self.device)))


def _make_head(inputs: int, hidden_sizes: tuple[int, ...], outputs: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for size in hidden_sizes:
        layers += [nn.Linear(inputs, size), nn.ReLU()]
        inputs = size
    return nn.Sequential(*layers, nn.Linear(inputs, outputs))


def make_network(config: NetworkConfig, seed: int, device: torch.device | None = None) -> BoardNetwork:
    """Return a new network whose weights depend on the seed alone.

    PyTorch's global generator is left as it was. The weights are drawn on the processor, so that they are the same on
    every device.

    >>> config = NetworkConfig(make_game("2048"), "dqn", "small", "onehot")
    >>> make_network(config, seed=1).predict(np.zeros((2, 4, 4), np.uint8)).shape
    (2, 4)
    """
    with _SEEDING, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = BoardNetwork(config)
    return network if device is None else network.move_to(device)
