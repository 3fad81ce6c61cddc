"""The models that come with the package, one per game; docs/models.md says how they were trained."""

from importlib import resources
from pathlib import Path

__all__ = ["PREFIX", "packaged_models"]

PREFIX = "package:"


def packaged_models() -> dict[str, Path]:
    """Return the files of the models in the package by their names.

    >>> list(packaged_models())
    ['package:2048', 'package:threes']
    """
    folder = Path(str(resources.files(__name__)))
    return {f"{PREFIX}{file.stem}": file for file in sorted(folder.glob("*.safetensors"))}
