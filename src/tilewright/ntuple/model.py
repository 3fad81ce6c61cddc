"""Trained n-tuple networks, saved as one safetensors file each."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tilewright._core.checks import check_choice, check_integer
from tilewright._core.files import parse_json, read_tensors, write_tensors
from tilewright._core.jit import writable_view
from tilewright._core.memory import check_memory
from tilewright._core.outputs import MODEL
from tilewright._core.text import excerpt
from tilewright.errors import FileError, UsageError
from tilewright.games import make_known_game
from tilewright.games.base import Game, check_same_game
from tilewright.models import model_path
from tilewright.ntuple import hub
from tilewright.ntuple.bitplanes import MAX_ALPHABET, MIN_ALPHABET
from tilewright.ntuple.compact import LARGEST, MIN_QUANTUM, pack, quantised, unpack
from tilewright.ntuple.downgrade import Downgrading, check_downgrade_above, make_downgrading
from tilewright.ntuple.patterns import MAX_WEIGHTS, NTupleArchitecture
from tilewright.ntuple.stages import Weights
from tilewright.ntuple.weight_checks import MAX_WEIGHT, find_fault
from tilewright.ntuple.weights import WeightTables

__all__ = ["VALUE_FUNCTIONS", "Model", "load_model", "network_size"]

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
MAX_QUANTUM = 2 * MAX_WEIGHT / LARGEST  # twice what 16 bits need for the largest weight: it may be rounded up
_MAX_LENGTH = 500  # of an entry, so that messages stay lines
_NOT_ORIGIN = {"format", "game", "architecture", "value_function", "quantum", "compact", "downgrade_above", "sha256"}
# Entries of an architecture that a file may leave out.
_OPTIONAL = {"by_hint": False, "stages": [], "promote": False, "hint_tuples": []}


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

    Raises:
        UsageError: The parts do not belong together, or a weight would lead a kernel out of the table. All weights are
            looked at.
    """

    game: Game
    architecture: NTupleArchitecture
    value_function: str
    weights: Weights
    quantum: float = 1.0
    origin: dict[str, str] = field(default_factory=dict)
    downgrade_above: int = 0

    def __post_init__(self) -> None:
        """Check everything that kernels rely on."""
        size = network_size(self.architecture, self.value_function)
        self.architecture.check_fits(self.game)
        check_downgrade_above(self.downgrade_above, self.game)
        if self.weights.dtype not in (np.float32, np.int16):
            raise UsageError(f"weights of the type {self.weights.dtype}: must be float32 or int16")
        if self.weights.shape != (size,):
            raise UsageError(
                f"{self.weights.size:,} weights of {self.weights.dtype}, but its architecture has {size:,}"
            )
        if self.weights.dtype == np.float32 and self.quantum != 1:
            raise UsageError(f"quantum {self.quantum}: must be 1 for weights of 32 bits")
        if not MIN_QUANTUM <= self.quantum <= MAX_QUANTUM:
            raise UsageError(f"quantum {self.quantum}: must be from {MIN_QUANTUM:.3g} to {MAX_QUANTUM:.3g}")
        if fault := find_fault(self.weights, self.architecture.promoted_from):
            raise UsageError(f"{fault}: no sound network")

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
        """Raise UsageError unless the model can play `game`; see `check_same_game`."""
        check_same_game(self.game, game)

    def in_16_bits(self, quantum: float = 0.0) -> "Model":
        """Return the model with weights in 16 bits, in multiples of at least `quantum`: half the memory, and faster."""
        if self.weights.dtype == np.int16:
            if quantum > self.quantum:
                raise UsageError(f"weights are multiples of {self.quantum:g} already; pack the model they came from")
            return self
        check_memory(2 * len(self.weights), f"a network of {len(self.weights):,} weights")
        whole, quantum = quantised(self.weights, quantum)
        return replace(self, weights=whole, quantum=quantum)

    def save(self, path: str | Path, *, compact: bool = False, quantum: float = 0.0, force: bool = False) -> None:
        """Write the model to a file.

        Args:
            path: The file; an existing model is replaced.
            compact: Whether to write 16-bit weights, visited ones only, compressed.
            quantum: What compact weights are rounded to, in points; 0 keeps all that 16 bits can hold.
            force: Whether to replace an existing file that is not a model.

        Raises:
            FileError: The file cannot be written, or is not a model.
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
            **({"hint_tuples": list(self.architecture.hint_tuples)} if self.architecture.hint_tuples else {}),
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

    def save_pretrained(self, save_directory: str | Path, *, compact: bool = False, force: bool = False) -> None:
        """Write the model and a model card into a folder, as huggingface_hub does.

        Args:
            save_directory: The folder; a model and a card that are there are replaced.
            compact: Whether to write 16-bit weights, visited ones only, compressed.
            force: Whether to replace existing files of another kind.

        Raises:
            FileError: A file cannot be written, or is of another kind.
        """
        hub.save_pretrained(self, save_directory, compact=compact, force=force)

    @classmethod
    def from_pretrained(
        cls,
        pretrained_model_name_or_path: str | Path,
        *,
        revision: str | None = None,
        cache_dir: str | Path | None = None,
        local_files_only: bool = False,
        token: str | bool | None = None,
    ) -> "Model":
        """Read a model from a folder that `save_pretrained` wrote, or from the Hugging Face Hub.

        The file is checked like any other model; nothing in it is executed.

        Args:
            pretrained_model_name_or_path: A folder, or the name of a repository, such as owner/name.
            revision: The branch, tag or commit of the repository.
            cache_dir: Where downloads are kept; None for the usual place.
            local_files_only: Whether to take what was downloaded before, without asking the Hub.
            token: A token of the Hub for private repositories; None for the one that is logged in.

        Raises:
            FileError: There is no such model, or it is damaged.
            MissingExtraError: huggingface_hub is not installed; a folder does not need it.
        """
        return hub.load_pretrained(
            pretrained_model_name_or_path,
            revision=revision,
            cache_dir=cache_dir,
            local_files_only=local_files_only,
            token=token,
        )

    def push_to_hub(
        self,
        repo_id: str,
        *,
        commit_message: str = "Upload a model of tilewright",
        private: bool | None = None,
        branch: str | None = None,
        token: str | bool | None = None,
        compact: bool = False,
    ) -> str:
        """Upload the model and its card to the Hugging Face Hub; the repository is created if there is none.

        Args:
            repo_id: The name of the repository, such as owner/name.
            commit_message: The message of the commit.
            private: Whether a new repository is private; None for the default of the account.
            branch: The branch, which is created if there is none; None for main.
            token: A token of the Hub; None for the one that is logged in.
            compact: Whether to upload 16-bit weights, visited ones only, compressed.

        Returns:
            The address of the commit.

        Raises:
            FileError: The Hub refuses it, or cannot be reached.
            MissingExtraError: huggingface_hub is not installed.
        """
        return hub.push_model(
            self, repo_id, commit_message=commit_message, private=private, branch=branch, token=token, compact=compact
        )


def load_model(path: str | Path) -> Model:
    """Read a model from a file, or by its name in the package.

    Raises:
        UsageError: `path` is not a path, or there is no such model in the package.
        FileError: The file is not a model, is damaged, or has a format of another version.
    """
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"{excerpt(path)} is not a path: give the file of a model")
    tensors, metadata = read_tensors(model_path(path))
    if metadata.get("format") not in (FORMAT, _FORMAT_2):
        found = metadata.get("format", "no format at all")[:60]
        raise FileError(f"{path}: not a model of this version: {found}, not {FORMAT}")
    try:
        metadata = _translate(metadata)
        architecture, value_function = _read_architecture(metadata), _entry(metadata, "value_function")
        size, game = network_size(architecture, value_function), make_known_game(_entry(metadata, "game"))
        architecture.check_fits(game)
        quantum, downgrade_above = float(_entry(metadata, "quantum")), int(_entry(metadata, "downgrade_above", "0"))
        is_compact = _entry(metadata, "compact") == "true"
    except ValueError as error:
        raise FileError(f"{path}: its description is damaged: {error}") from None
    origin = {key: text for key, text in metadata.items() if key not in _NOT_ORIGIN}
    try:
        weights = unpack(tensors, size, architecture.promoted_from) if is_compact else tensors.get("weights")
        if weights is None:
            raise FileError("it has no weights")
        return Model(game, architecture, value_function, weights, quantum, origin, downgrade_above)
    except UsageError as error:
        raise FileError(f"{path}: {error}") from None


def network_size(architecture: NTupleArchitecture, value_function: str) -> int:
    """Return the number of stored weights of a network, or of all four networks of action values.

    Raises:
        UsageError: There is no such value function, it does not go with the architecture, or its networks are too
            large.
    """
    check_choice(f"value_function {excerpt(value_function)}", value_function, VALUE_FUNCTIONS)
    if architecture.promote and value_function == "action":
        raise UsageError("promote does not work with action values")
    networks = VALUE_FUNCTIONS[value_function]
    size = networks * architecture.table_size
    if size >= MAX_WEIGHTS:
        raise UsageError(
            f"{networks} networks of {architecture.table_size:,} weights for {value_function} values are too large; "
            f"indices of 32 bits allow {(MAX_WEIGHTS - 1) // networks:,} weights each"
        )
    return size


def _entry(metadata: Mapping[str, str], key: str, default: str | None = None) -> str:
    found = metadata.get(key, default)
    if found is None:
        raise ValueError(f"{key} is missing")
    if len(found) > _MAX_LENGTH and key != "architecture":
        raise ValueError(f"{key} is a text of {len(found):,} characters")
    return found


def _read_architecture(metadata: Mapping[str, str]) -> NTupleArchitecture:
    """Read the architecture; every entry must have its type, for text and lists would pass as something else."""
    found = parse_json(_entry(metadata, "architecture"))
    if not isinstance(found, dict):
        raise ValueError("its architecture is not a JSON object")
    entries: dict[str, Any] = _OPTIONAL | found
    for key in ("tuples", "features", "stages", "hint_tuples"):
        listed = entries.get(key)
        if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
            raise ValueError(f"{key} {excerpt(listed)}: must be a list of texts")
    for key in ("symmetric", "by_hint", "promote"):
        if not isinstance(entries.get(key), bool):
            raise ValueError(f"{key} {excerpt(entries.get(key))}: must be true or false")
    alphabet = entries.get("alphabet")
    check_integer(f"alphabet {excerpt(alphabet)}", alphabet, MIN_ALPHABET, MAX_ALPHABET)
    return NTupleArchitecture(
        tuple(entries["tuples"]),
        entries["symmetric"],
        entries["alphabet"],
        tuple(entries["features"]),
        entries["by_hint"],
        tuple(entries["stages"]),
        entries["promote"],
        tuple(entries["hint_tuples"]),
    )


def _translate(metadata: dict[str, str]) -> dict[str, str]:
    """Return metadata of format 2 in the words of this version, anything else as it is."""
    if metadata.get("format") != _FORMAT_2:
        return metadata
    renamed = {_KEYS_OF_FORMAT_2.get(key, key): text for key, text in metadata.items()}
    entries = parse_json(_entry(renamed, "architecture"))
    if not isinstance(entries, dict) or not isinstance(entries.get("features"), list):
        raise ValueError("its architecture is not a JSON object with a list of features")
    entries["alphabet"] = entries.pop("tiles", None)
    entries["features"] = [_FEATURES_OF_FORMAT_2.get(str(name), name) for name in entries["features"]]
    config = re.sub(
        r"^\w+", lambda key: _CONFIG_KEYS_OF_FORMAT_2.get(key[0], key[0]), renamed.get("config", ""), flags=re.MULTILINE
    )
    return renamed | {"format": FORMAT, "architecture": json.dumps(entries), "config": config}
