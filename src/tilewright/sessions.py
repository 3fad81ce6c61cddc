"""Training sessions of either kind: the one place that chooses between them."""

from pathlib import Path

from tilewright.learning.recipe import Recipe
from tilewright.learning.recipes import AnyRecipe
from tilewright.train import Running, Watcher, open_session

__all__ = ["open_any_session"]


def open_any_session(
    recipe: AnyRecipe,
    path: Path,
    *,
    resume: bool = False,
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> Running:
    """A session of the recipe's kind in the folder `path`; PyTorch is imported for the deep ones alone."""
    if isinstance(recipe, Recipe):
        return open_session(recipe, path, resume=resume, threads=threads, watcher=watcher)
    from tilewright.deep.session import open_deep_session

    return open_deep_session(recipe, path, resume=resume, threads=threads, watcher=watcher)
