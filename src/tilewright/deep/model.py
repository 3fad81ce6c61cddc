"""Trained deep networks as files: safetensors, with the metadata that is needed to build the network again."""

import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import torch

from tilewright._core.checks import check_choice
from tilewright._core.files import read_tensors, write_tensors
from tilewright._core.inputs import modified_at
from tilewright._core.outputs import MODEL
from tilewright.deep.checkpoint import get_weights, set_weights
from tilewright.deep.config import AGENTS, ENCODINGS, REWARD_SCALE
from tilewright.deep.devices import find_device
from tilewright.deep.network import BoardNetwork, NetworkConfig, make_network
from tilewright.deep.policy import NetworkPolicy
from tilewright.errors import FileError
from tilewright.games import make_known_game
from tilewright.games.base import Game, check_same_game
from tilewright.models import model_path

__all__ = ["FORMAT", "DeepModel", "load_deep_model"]

FORMAT = "tilewright-deep-2"
_MAX_LENGTH = 500  # of an entry, so that messages stay lines
_NOT_ORIGIN = {
    *("format", "sha256", "game", "algorithm", "architecture", "encoding", "dueling", "reward_scale", "lookahead"),
}


@dataclass(frozen=True, eq=False)
class DeepModel:
    """A trained network.

    Attributes:
        network: The network.
        reward_scale: The factor from the network's values to points.
        origin: Metadata about the training, such as its configuration and the number of games.
    """

    network: BoardNetwork
    reward_scale: float = 1.0
    origin: dict[str, str] = field(default_factory=dict)

    @property
    def config(self) -> NetworkConfig:
        """The configuration of the network."""
        return self.network.config

    @property
    def policy(self) -> NetworkPolicy:
        """The greedy policy of the network."""
        return NetworkPolicy(self.network, self.reward_scale)

    def on(self, device: torch.device) -> "DeepModel":
        """Return the model on a device: itself if it is there already, otherwise a copy."""
        if self.network.device == device:
            return self
        return replace(self, network=copy.deepcopy(self.network).move_to(device))

    def check_plays(self, game: Game) -> None:
        """Raise UsageError unless the model can play `game`; see `check_same_game`."""
        check_same_game(self.config.game, game)

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write the model to a file.

        Args:
            path: The file; an existing model is replaced.
            force: Whether to replace an existing file that is not a model.

        Raises:
            FileError: The file cannot be written, or is not a model.
        """
        metadata = {
            "format": FORMAT,
            "game": self.config.game.spec,
            "algorithm": self.config.algorithm,
            "architecture": self.config.architecture,
            "encoding": self.config.encoding,
            "dueling": str(self.config.dueling).lower(),
            "reward_scale": repr(self.reward_scale),
            "lookahead": str(self.config.lookahead),
        }
        write_tensors(Path(path), get_weights(self.network), {**self.origin, **metadata}, MODEL, force=force)


def load_deep_model(path: Path | str, device: str = "cpu") -> DeepModel:
    """Read a model from a file. The last four files are cached until they change.

    Args:
        path: The file.
        device: Where the network is computed: cpu, cuda, cuda:1, mps or auto.

    Raises:
        FileError: The file cannot be read, is damaged, or is not a deep model.
        UsageError: There is no such device here.
    """
    path = model_path(path)
    return _load_on(path, modified_at(path), find_device(device))


@lru_cache(maxsize=4)
def _load_on(path: Path, modified: int, device: torch.device) -> DeepModel:
    return _load(path, modified).on(device)


@lru_cache(maxsize=4)
def _load(path: Path, modified: int) -> DeepModel:
    tensors, metadata = read_tensors(path)
    if metadata.get("format") != FORMAT:
        found = metadata.get("format", "none")[:60]
        raise FileError(f"{path}: not a deep model of this version: its format is {found}, not {FORMAT}")
    try:
        for key in _NOT_ORIGIN & set(metadata):
            if len(metadata[key]) > _MAX_LENGTH:
                raise FileError(f"{key} is a text of {len(metadata[key]):,} characters")
        reward_scale = float(metadata["reward_scale"])
        REWARD_SCALE.check(f"reward_scale {reward_scale}", reward_scale)
        network = make_network(_read_network_config(metadata), 0)
    except KeyError as error:
        raise FileError(f"{path}: its metadata is damaged: {error} is missing") from None
    except ValueError as error:
        raise FileError(f"{path}: its metadata is damaged: {error}") from None
    try:
        set_weights(network, tensors)
    except FileError as error:
        raise FileError(f"{path}: {error}") from None
    origin = {key: text for key, text in metadata.items() if key not in _NOT_ORIGIN}
    return DeepModel(network.eval(), reward_scale, origin)


def _read_network_config(metadata: dict[str, str]) -> NetworkConfig:
    for key, allowed in (("algorithm", AGENTS), ("encoding", ENCODINGS), ("dueling", ("true", "false"))):
        check_choice(f"{key} {metadata[key]!r}", metadata[key], allowed)
    return NetworkConfig(
        make_known_game(metadata["game"]),
        metadata["algorithm"],
        metadata["architecture"],
        metadata["encoding"],
        metadata["dueling"] == "true",
        lookahead=_read_lookahead(metadata.get("lookahead", "0")),
    )


def _read_lookahead(text: str) -> int:
    check_choice(f"lookahead {text!r}", text, ("0", "1", "2"))
    return int(text)
