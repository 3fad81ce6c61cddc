"""Training sessions of either kind: the one place that chooses between them."""

from pathlib import Path
from typing import Any

from tilewright.training.config import Recipe
from tilewright.training.configs import AnyRecipe
from tilewright.training.ntuple_session import open_session
from tilewright.training.session import AnySession

__all__ = ["open_any_session"]


def open_any_session(recipe: AnyRecipe, path: Path, **options: Any) -> AnySession:
    """A session of the recipe's kind in the folder `path`, with the options of `train.open_session`.

    PyTorch is imported for the deep ones alone.
    """
    if isinstance(recipe, Recipe):
        return open_session(recipe, path, **options)
    from tilewright.deep.session import open_deep_session

    return open_deep_session(recipe, path, **options)
