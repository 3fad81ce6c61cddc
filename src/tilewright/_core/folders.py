"""Making folders, however deep: `Path.mkdir` calls itself for every parent, until Python refuses."""

from itertools import takewhile
from pathlib import Path

__all__ = ["make_folders"]


def make_folders(folder: Path, mode: int = 0o777) -> None:
    """Make a folder with the parents that it lacks, unless it exists.

    Args:
        folder: The folder.
        mode: The permissions of the folder itself, less those that the process masks.

    Raises:
        OSError: It cannot be made.
        ValueError: No folder can have this name.
    """
    for parent in reversed(list(takewhile(lambda path: not path.exists(), folder.parents))):
        parent.mkdir(exist_ok=True)
    folder.mkdir(mode, exist_ok=True)
