"""Trained n-tuple networks, saved as one safetensors file each."""

import json
import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from tilewright._core.files import read_tensors, write_tensors
from tilewright._core.jit import writable_view
from tilewright._core.outputs import MODEL
from tilewright._core.text import excerpt
from tilewright.errors import FileError, UsageError
from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.ntuple.compact import pack, quantised, unpack
from tilewright.ntuple.downgrade import Downgrading, check_downgrade_above, make_downgrading
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.ntuple.stages import Weights
from tilewright.ntuple.weights import WeightTables

__all__ = ["VALUE_FUNCTIONS", "Model", "load_model"]

FORMAT = "tilewright-ntuple-3"
# The two models in the package have format 2 and keep their bytes: what their metadata called things, and what we do.
_FORMAT_2 = "tilewright-ntuple-2"
_KEYS_OF_FORMAT_2 = {
    "method": "value_function",
    "unit": "quantum",
    "knows": "downgrade_above",
    "recipe": "config",
    "shape": "architecture",
}
_CONFIG_KEYS_OF_FORMAT_2 = {
    "tiles": "alphabet",
    "stages_after": "stages_from",
    "collect": "start_pool",
    "taught": "teacher_fraction",
    "method": "value_function",
    "order": "update",
    "steps": "n_step",
    "rule": "step_size",
    "share": "alpha",
    "initial": "optimistic_init",
    "knows": "downgrade_above",
}
_FEATURES_OF_FORMAT_2 = {
    "large": "large_tiles",
    "empty": "empty_cells",
    "distinct": "distinct_tiles",
    "pairs": "mergeable_pairs",
    "steps": "neighbouring_pairs",
}
VALUE_FUNCTIONS = {"afterstate": 1, "state": 1, "action": 4}  # what is valued -> how many networks that takes


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A trained n-tuple network, and the game it plays.

    Attributes:
        game: The game that it was trained for.
        architecture: Its tuples, features and stages.
        value_function: What it values: `afterstate`, `state` or `action`.
        weights: float32, or int16 in multiples of `quantum`; four networks one after the other for `action`.
        quantum: The value of a weight of 1.
        origin: How it was trained: configuration, seed, games, moves, version.
        downgrade_above: Boards with tiles above this one are played as downgraded boards; 0 for none.
    """

    game: Game
    architecture: NTupleArchitecture
    value_function: str
    weights: Weights
    quantum: float = 1.0
    origin: dict[str, str] = field(default_factory=dict)
    downgrade_above: int = 0

    def __repr__(self) -> str:
        """Return a short description."""
        stages = f", {1 + len(self.architecture.stages)} stages" if self.architecture.stages else ""
        return (
            f"<Model: {self.value_function} values for {self.game.spec}, "
            f"{len(self.architecture.tuples)} tuples{stages}, {self.architecture.weight_count():,} weights>"
        )

    @property
    def tables(self) -> WeightTables:
        """What kernels read the weights by."""
        return self.architecture.tables(self.game, writable_view(self.weights), self.quantum)

    @property
    def downgrading(self) -> Downgrading:
        """How boards with large tiles are downgraded."""
        return make_downgrading(self.game, self.downgrade_above, self.architecture.stages)

    def check_plays(self, game: Game) -> None:
        """Raise UsageError unless the model can play `game`: the same game on the same board."""
        if (game.name, game.rows, game.columns) != (self.game.name, self.game.rows, self.game.columns):
            raise UsageError(f"the model was trained for {self.game.spec} and cannot play {game.spec}")

    def in_16_bits(self, quantum: float = 0.0) -> "Model":
        """Return the model with weights in 16 bits, in multiples of at least `quantum`: half the memory, and faster."""
        if self.weights.dtype == np.int16:
            if quantum > self.quantum:
                raise UsageError(f"weights are multiples of {self.quantum:g} already; pack the model they came from")
            return self
        whole, quantum = quantised(self.weights, quantum)
        return replace(self, weights=whole, quantum=quantum)

    def save(self, path: str | Path, *, compact: bool = False, quantum: float = 0.0, force: bool = False) -> None:
        """Write the model to a file.

        Args:
            path: The file; an existing model is replaced.
            compact: Whether to write 16-bit weights, visited ones only, compressed.
            quantum: What compact weights are rounded to, in points; 0 keeps all that 16 bits can hold.
            force: Whether to replace an existing file that is no model.

        Raises:
            FileError: The file cannot be written, or is no model.
        """
        model = self.in_16_bits(quantum) if compact else self
        tensors = pack(model.weights, self.architecture.promoted_from) if compact else {"weights": model.weights}
        architecture = {
            "tuples": list(self.architecture.tuples),
            "symmetric": self.architecture.symmetric,
            "alphabet": self.architecture.alphabet,
            "features": list(self.architecture.features),
            "by_hint": self.architecture.by_hint,
            "stages": list(self.architecture.stages),
            "promote": self.architecture.promote,
        }
        about = {
            "format": FORMAT,
            "game": self.game.spec,
            "architecture": json.dumps(architecture),
            "value_function": self.value_function,
            "quantum": repr(model.quantum),
            "compact": str(compact).lower(),
            "downgrade_above": str(self.downgrade_above),
        }
        write_tensors(Path(path), tensors, {**self.origin, **about}, MODEL, force=force)


def load_model(path: str | Path) -> Model:
    """Read a model.

    Raises:
        UsageError: `path` is no path.
        FileError: The file is no model, is damaged, or has a format of another version.
    """
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"{excerpt(path)} is no path: give the file of a model")
    tensors, metadata = read_tensors(Path(path))
    if metadata.get("format") not in (FORMAT, _FORMAT_2):
        found = metadata.get("format", "no format at all")
        raise FileError(f"{path}: not a model of this version: {found}, not {FORMAT}")
    try:
        metadata = _translate(metadata)
        entries = json.loads(metadata["architecture"])
        architecture = NTupleArchitecture(
            tuple(entries["tuples"]),
            bool(entries["symmetric"]),
            int(entries["alphabet"]),
            tuple(entries["features"]),
            bool(entries.get("by_hint", False)),
            tuple(entries.get("stages", ())),
            bool(entries.get("promote", False)),
        )
        game = make_game(metadata["game"])
        value_function, quantum = metadata["value_function"], float(metadata["quantum"])
        architecture.check_fits(game)
        downgrade_above = int(metadata.get("downgrade_above", "0"))
        check_downgrade_above(downgrade_above, game)
        size = VALUE_FUNCTIONS[value_function] * architecture.table_size
        compact = metadata["compact"] == "true"
        weights = unpack(tensors, size, architecture.promoted_from) if compact else tensors["weights"]
    except (KeyError, OverflowError, TypeError, ValueError) as error:
        raise FileError(f"{path}: its description is damaged: {error}") from None
    if weights.shape != (size,) or weights.dtype not in (np.float32, np.int16):
        raise FileError(f"{path}: {weights.size:,} weights of {weights.dtype}, but its architecture has {size:,}")
    known = {"format", "game", "architecture", "value_function", "quantum", "compact", "downgrade_above", "sha256"}
    origin = {key: value for key, value in metadata.items() if key not in known}
    return Model(game, architecture, value_function, weights, quantum, origin, downgrade_above)


def _translate(metadata: dict[str, str]) -> dict[str, str]:
    """Return metadata of format 2 in the words of this version, anything else as it is."""
    if metadata.get("format") != _FORMAT_2:
        return metadata
    renamed = {_KEYS_OF_FORMAT_2.get(key, key): text for key, text in metadata.items()}
    entries = json.loads(renamed["architecture"])
    entries["alphabet"] = entries.pop("tiles")
    entries["features"] = [_FEATURES_OF_FORMAT_2.get(name, name) for name in entries["features"]]
    config = re.sub(
        r"^\w+", lambda key: _CONFIG_KEYS_OF_FORMAT_2.get(key[0], key[0]), renamed.get("config", ""), flags=re.MULTILINE
    )
    return renamed | {"format": FORMAT, "architecture": json.dumps(entries), "config": config}
