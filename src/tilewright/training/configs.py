"""Recipes of either kind, for n-tuple networks or deep ones. A deep one has the key `learner`; no other has."""

import tomllib
from typing import Any, TypeAlias

from tilewright._core.config import read_source
from tilewright.deep.config import DEEP_PRESETS, DeepConfig, deep_preset_names, read_deep_config
from tilewright.training.config import PRESETS, TrainingConfig, preset_names, read_training_config

__all__ = ["AnyConfig", "all_presets", "is_deep", "read_config"]

AnyConfig: TypeAlias = TrainingConfig | DeepConfig


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
        return "algorithm" in tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False


def read_config(source: str, **changes: Any) -> AnyConfig:
    """A recipe from a preset's name or a TOML file, with some keys changed.

    >>> read_config("dqn", seed=7).player
    'dqn'
    """
    return read_deep_config(source, **changes) if is_deep(source) else read_training_config(source, **changes)
