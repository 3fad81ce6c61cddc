"""The models that come with the package, one per game; docs/explanation/models.md says how they were trained."""

import os
from importlib import resources
from pathlib import Path

from tilewright._core.text import did_you_mean
from tilewright.errors import FileError, UsageError

__all__ = ["PREFIX", "model_path", "packaged_models"]

PREFIX = "package:"


def packaged_models() -> dict[str, Path]:
    """Return the files of the models in the package by their names.

    >>> list(packaged_models())
    ['package:2048', 'package:threes']
    """
    folder = Path(str(resources.files(__name__)))
    return {f"{PREFIX}{file.stem}": file for file in sorted(folder.glob("*.safetensors"))}


def model_path(source: str | os.PathLike[str]) -> Path:
    """Return the file of a model that is given by its path, or by its name in the package.

    Raises:
        UsageError: There is no model of that name in the package.
        FileError: The path is a run folder, and not the model in it.

    >>> model_path("package:2048").name
    '2048.safetensors'
    """
    name = os.fspath(source)
    if not name.startswith(PREFIX):
        inside = os.path.join(name, "model.safetensors")  # noqa: PTH118
        if os.path.isfile(inside):  # noqa: PTH113  (names that are none give no error here)
            raise FileError(f"{name}: a folder; its model is {inside}")
        return Path(source)
    packaged = packaged_models()
    if name not in packaged:
        hint = did_you_mean(name, packaged)
        raise UsageError(f"there is no model {name!r} in the package{hint}; there are: {', '.join(packaged)}")
    return packaged[name]
