"""A trained deep network in a file: safetensors, with all that is needed to build the network again."""

import dataclasses
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tilewright._core.files import read_tensors, write_tensors
from tilewright.deep.network import BoardNetwork, NetworkPlan, make_network
from tilewright.deep.playing import Player
from tilewright.errors import FileError, UsageError
from tilewright.games import make_game
from tilewright.games.base import Game

__all__ = ["FORMAT", "DeepModel", "load_deep_model", "load_weights", "weights_of"]

FORMAT = "tilewright-deep-1"
KINDS = ("dqn", "afterstate")


def weights_of(network: BoardNetwork, prefix: str = "") -> dict[str, NDArray[Any]]:
    return {prefix + name: tensor.detach().numpy() for name, tensor in network.state_dict().items()}


def load_weights(network: BoardNetwork, tensors: dict[str, NDArray[Any]], prefix: str = "") -> None:
    """Fill a network; raises FileError unless the arrays are exactly those of its architecture."""
    wanted = {prefix + name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    found = {name: tensor.shape for name, tensor in tensors.items() if name.startswith(prefix)}
    if wanted != found:
        odd = sorted(set(wanted.items()) ^ set(found.items()))[0][0]
        name = network.plan.architecture
        raise FileError(f"the weights are not those of {name}: {odd} is missing, too much, or of another size")
    network.load_state_dict({name[len(prefix) :]: torch.from_numpy(np.array(tensors[name])) for name in wanted})


@dataclass(frozen=True)
class DeepModel:
    """A network, the unit of its values, and where it comes from."""

    network: BoardNetwork
    reward_scale: float = 1.0
    origin: dict[str, str] = field(default_factory=dict)

    @property
    def plan(self) -> NetworkPlan:
        return self.network.plan

    @property
    def player(self) -> Player:
        return Player(self.network, self.reward_scale)

    def check_plays(self, game: Game) -> None:
        """Raise UsageError unless the model can play `game`: the same game on the same board."""
        own = self.plan.game
        if (game.name, game.rows, game.columns) != (own.name, own.rows, own.columns):
            raise UsageError(f"the model was trained for {own.spec} and cannot play {game.spec}")

    def save(self, path: Path) -> None:
        about = {
            "format": FORMAT,
            "game": self.plan.game.spec,
            "kind": self.plan.kind,
            "architecture": self.plan.architecture,
            "encoding": self.plan.encoding,
            "dueling": str(self.plan.dueling).lower(),
            "reward_scale": repr(self.reward_scale),
        }
        write_tensors(path, weights_of(self.network), {**self.origin, **about})


def load_deep_model(path: Path) -> DeepModel:
    """Read a model; raises FileError with the reason if it is none, damaged, or of another kind."""
    return _load(path, path.stat().st_mtime_ns if path.exists() else 0)


@lru_cache(maxsize=4)
def _load(path: Path, changed: int) -> DeepModel:
    tensors, metadata = read_tensors(path)
    if metadata.get("format") != FORMAT:
        found = metadata.get("format", "no format at all")
        raise FileError(f"{path}: not a deep model of this version: {found}, not {FORMAT}")
    try:
        kind = metadata["kind"]
        if kind not in KINDS:
            raise ValueError(f"kind {kind}")
        game, reward_scale = make_game(metadata["game"]), float(metadata["reward_scale"])
        plan = NetworkPlan(game, kind, metadata["architecture"], metadata["encoding"], metadata["dueling"] == "true")
        network = make_network(plan, 0)
    except (KeyError, ValueError) as error:
        raise FileError(f"{path}: its description is damaged: {error}") from None
    try:
        load_weights(network, tensors)
    except FileError as error:
        raise FileError(f"{path}: {error}") from None
    known = {"format", "sha256", "reward_scale", "kind", *(one.name for one in dataclasses.fields(NetworkPlan))}
    return DeepModel(network.eval(), reward_scale, {key: text for key, text in metadata.items() if key not in known})
