"""Folders with all their parents."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tilewright._core.files import make_folder
from tilewright._core.folders import make_folders

LEVELS = 1500  # more than Python calls within calls


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A folder that is removed level by level: pytest's own way of removing calls itself, too."""
    yield tmp_path.joinpath(*"a" * LEVELS)
    folder = tmp_path.joinpath(*"a" * LEVELS)
    for _ in range(LEVELS):
        if folder.exists():
            folder.rmdir()
        folder = folder.parent


@pytest.mark.parametrize("make", [make_folders, make_folder])
def test_a_folder_with_a_thousand_parents_is_made(make: Callable[[Path], None], deep: Path) -> None:
    for _ in range(2):
        make(deep)
        assert deep.is_dir()


def test_the_mode_is_that_of_the_folder_itself(tmp_path: Path) -> None:
    make_folders(tmp_path / "a" / "b", 0o700)
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o777 & ~_umask()


def _umask() -> int:
    found = os.umask(0o022)
    os.umask(found)
    return found


@pytest.mark.parametrize("name", ["file", "file/a", "loop", "nowhere", "x" * 300, "a/" * 3000])
def test_a_folder_that_cannot_be_made_is_an_error_of_the_system(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "nowhere").symlink_to("nothing")
    with pytest.raises(OSError, match="Errno"):
        make_folders(tmp_path / name)
