"""Models of agents: from a file, from memory, or from the package; files are read once and shared."""

from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeAlias

from tilewright._core.inputs import modified_at
from tilewright.errors import SpecError
from tilewright.games.base import Game
from tilewright.games.policy import Policy
from tilewright.models import PREFIX, model_path, packaged_models
from tilewright.ntuple.downgrade import Downgraded, check_downgrade_above
from tilewright.ntuple.model import Model, load_model
from tilewright.ntuple.value import ValueFunction, make_value_function

__all__ = [
    "LARGEST_TILE",
    "ModelSource",
    "downgraded",
    "find_model",
    "model_version",
    "packaged_model",
    "value_function_of",
]

LARGEST_TILE = 131_072  # of 2048, the game whose boards can be downgraded

ModelSource: TypeAlias = str | Path | Model  # a file, a name such as package:2048, or a model in memory


def packaged_model(game: Game) -> Path | None:
    """Return the file of the model for `game` that comes with the package, or None."""
    return packaged_models().get(f"{PREFIX}{game.name}") if (game.rows, game.columns) == (4, 4) else None


def find_model(source: ModelSource, game: Game, downgrade_above: int | None = None) -> Model:
    """Return a model that can play `game`.

    Args:
        source: A file, a name in the package such as package:2048, a model, or "" for the package's model of the game.
        game: The game to play.
        downgrade_above: Replaces the model's own value unless it is None.

    Raises:
        SpecError: There is no model for the game in the package, or its boards cannot be downgraded.
        UsageError: The model is for another game.
    """
    model = source if isinstance(source, Model) else _read(source, game)
    model.check_plays(game)
    if downgrade_above is None:
        return model
    check_downgrade_above(downgrade_above, game)
    return replace(model, downgrade_above=downgrade_above)


def _read(source: str | Path, game: Game) -> Model:
    file = model_path(source) if str(source) else packaged_model(game)
    if file is None:
        raise SpecError(f"no model for {game.spec} comes with the package: train one, and name its file: model=PATH")
    if file in packaged_models().values():
        return _load_packaged(file)
    return _load(file, modified_at(file))


def model_version(source: ModelSource) -> int:
    """Return the time at which the file of a model was last written; 0 for the package's and those in memory."""
    if isinstance(source, Model) or not str(source):
        return 0
    return modified_at(model_path(source))


@cache
def _load_packaged(file: Path) -> Model:
    """Return a model of the package; it is large, and no other model takes its place while players still use it."""
    return load_model(file).in_16_bits()


@lru_cache(maxsize=4)
def _load(file: Path, changed: int) -> Model:
    return load_model(file).in_16_bits()


def value_function_of(model: Model, game: Game) -> ValueFunction:
    """Return the value function of a model, with a workspace for one thread."""
    lookups = model.architecture.lookups(game)
    return make_value_function(model.value_function, model.tables, lookups, ends_are_zero=True)


def downgraded(policy: Policy, model: Model) -> Policy:
    """Return a policy of a model that chooses its moves on downgraded boards, if the model asks for it."""
    return Downgraded(policy, model.downgrading) if model.downgrade_above else policy
