"""Trained networks for agents: a file's, or the one that comes with the package; read once, in 16 bits, and shared."""

from dataclasses import replace
from functools import lru_cache
from importlib import resources
from pathlib import Path

from tilewright.errors import SpecError
from tilewright.games.base import Game
from tilewright.ntuple.model import Model, check_downgrade_above, load_model
from tilewright.ntuple.value import ValueFunction, make_value_function

__all__ = ["lend_models", "make_player", "model_that_knows", "named_model", "shipped_model", "trained_model"]

_lent: dict[str, Model] = {}  # instead of files, where another machine has those


def shipped_model(game: Game) -> Path | None:
    """The file of the model for a game that comes with the package, or None."""
    file = Path(str(resources.files("tilewright.models"))) / f"{game.name}.safetensors"
    return file if (game.rows, game.columns) == (4, 4) and file.exists() else None


def trained_model(path: str, game: Game) -> Model:
    """The model of a file, or without a path the one that comes with the package."""
    if path in _lent:
        return _lent[path]
    file = Path(path) if path else shipped_model(game)
    if file is None:
        raise SpecError(
            f"no model for {game.spec} comes with the package; train one (see tilewright train --help) "
            "and name its file: model=PATH"
        )
    return _load(file, file.stat().st_mtime_ns if file.exists() else 0)


def model_that_knows(path: str, game: Game, tile: int | None) -> Model:
    """The same, said to know boards with tiles up to `tile`; None leaves it as it is."""
    model = trained_model(path, game)
    if tile is None:
        return model
    check_downgrade_above(tile, game)
    return replace(model, downgrade_above=tile)


def named_model(path: str, game: Game) -> dict[str, Model]:
    """The model of a file by its name; none without a path, because every machine has the package's own."""
    return {path: trained_model(path, game)} if path else {}


def lend_models(models: dict[str, Model]) -> None:
    """Let agents of this process use these models in place of files of those names."""
    _lent.clear()
    _lent.update(models)


@lru_cache(maxsize=4)
def _load(file: Path, changed: int) -> Model:
    return load_model(file).in_16_bits()


def make_player(model: Model, game: Game) -> ValueFunction:
    """What kernels value moves by, with room of its own: one for every thread."""
    model.check_plays(game)
    return make_value_function(model.value_function, model.tables, model.shape.lookups(game))
