"""Recipes of either kind, for n-tuple networks or deep ones. A deep one has the key `learner`; no other has."""

import tomllib
from typing import Any, TypeAlias

from tilewright._core.config import read_source
from tilewright.deep.config import DEEP_PRESETS, DeepRecipe, deep_preset_names, read_deep_recipe
from tilewright.training.config import PRESETS, Recipe, preset_names, read_recipe

__all__ = ["AnyRecipe", "all_presets", "is_deep", "read_any_recipe"]

AnyRecipe: TypeAlias = Recipe | DeepRecipe


def all_presets() -> dict[str, str]:
    """The presets of both kinds, each with the first line of its file."""
    return preset_names() | deep_preset_names()


def is_deep(source: str) -> bool:
    """Whether the recipe of that preset or file is for a deep network.

    >>> is_deep("dqn"), is_deep("minute")
    (True, False)
    """
    text = read_source(source, PRESETS, DEEP_PRESETS)
    try:
        return "learner" in tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False


def read_any_recipe(source: str, **changes: Any) -> AnyRecipe:
    """A recipe from a preset's name or a TOML file, with some keys changed.

    >>> read_any_recipe("dqn", seed=7).player
    'dqn'
    """
    return read_deep_recipe(source, **changes) if is_deep(source) else read_recipe(source, **changes)
