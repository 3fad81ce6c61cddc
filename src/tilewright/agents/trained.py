"""Trained networks for agents: read once, in 16 bits, and shared by all that play with them."""

from functools import lru_cache
from pathlib import Path

from tilewright.errors import SpecError
from tilewright.games.game import Game
from tilewright.learning.methods import Method, make_method
from tilewright.networks.model import Model, load_model

__all__ = ["check_model_given", "make_player", "trained_model"]


def check_model_given(agent: str, path: str) -> None:
    """Raise SpecError where an agent that plays with a network was given none."""
    if not path:
        raise SpecError(
            f"agent {agent} needs a model: {agent}:model=PATH (train one: tilewright train minute, then "
            f"{agent}:model=runs/minute/model.safetensors)"
        )


def trained_model(path: str) -> Model:
    """The model of a file in 16 bits, read once for every path and time of change."""
    file = Path(path)
    return _load(file, file.stat().st_mtime_ns if file.exists() else 0)


@lru_cache(maxsize=4)
def _load(file: Path, changed: int) -> Model:
    return load_model(file).in_16_bits()


def make_player(model: Model, game: Game) -> Method:
    """What kernels value moves by, with room of its own: one for every thread."""
    model.check_plays(game)
    return make_method(model.method, model.tables, model.shape.lookups(game))
