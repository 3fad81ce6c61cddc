"""Training sessions of either kind: the one place that chooses between them."""

from pathlib import Path
from typing import Any

from tilewright._core.registry import load_object
from tilewright.training.config import TrainingConfig
from tilewright.training.configs import AnyConfig
from tilewright.training.ntuple_session import open_session
from tilewright.training.session import TrainingSession

__all__ = ["open_any_session"]


def open_any_session(config: AnyConfig, path: Path, **options: Any) -> TrainingSession:
    """A session of the recipe's kind in the folder `path`, with the options of `train.open_session`.

    PyTorch is imported for the deep ones alone.
    """
    if isinstance(config, TrainingConfig):
        return open_session(config, path, **options)
    opened: TrainingSession = load_object("tilewright.deep.session:open_deep_session", "deep")(config, path, **options)
    return opened
