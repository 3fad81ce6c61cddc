"""The cache of compiled kernels: where it is, who may write it, and what happens when it is damaged."""

import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest

from tests.process import Finished, run_python, run_tilewright
from tilewright._core import kernel_cache

DAY = 86_400
COMMAND = ("evaluate", "random", "--games", "3", "--threads", "1", "--game", "2048:rows=2,columns=2")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Finished]:
    """A cache with the kernels of a command, and what the command printed."""
    cache = tmp_path_factory.mktemp("filled") / "cache"
    return cache, run_tilewright(*COMMAND, TILEWRIGHT_CACHE=str(cache))


def folder_for(variant: str = "test") -> Path | None:
    """The folder, chosen anew."""
    return kernel_cache.cache_folder.__wrapped__(variant)


def made(folder: Path | None) -> Path:
    assert folder is not None
    kernel_cache._make_folder(folder)
    return folder


def test_importing_writes_nothing_and_compiling_makes_a_private_folder(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    imported = run_python("import tilewright.play.evaluate, tilewright.agents.uct", TILEWRIGHT_CACHE=str(cache))
    assert imported.returncode == 0, imported.stderr
    assert not cache.exists()
    assert run_tilewright(*COMMAND, TILEWRIGHT_CACHE=str(cache)).returncode == 0
    (folder,) = cache.iterdir()
    assert [place.stat().st_mode & 0o777 for place in (cache, folder)] == [0o700, 0o700]
    assert list(folder.glob("*.nbi"))


def test_a_cache_that_cannot_be_written_falls_back_to_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    folder = folder_for()
    assert folder is not None
    assert folder.parent == tmp_path / "home" / "tilewright" / "kernels"


def test_without_a_home_folder_kernels_go_to_the_temporary_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.delenv("TILEWRIGHT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert made(folder_for()).parent.parent == tmp_path


def test_where_nothing_can_be_written_a_warning_says_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    for variable in ("TILEWRIGHT_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="compiled kernels are not kept: .*set TILEWRIGHT_CACHE"):
        assert folder_for() is None


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o722])
def test_a_folder_that_others_can_write_to_is_not_used(
    mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever can write there could run code: Numba unpickles what it finds."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)
    assert kernel_cache.why_unsafe(shared) == "others can write to it"
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(shared))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    folder = folder_for()
    assert folder is not None
    assert tmp_path / "home" in folder.parents


def test_a_folder_of_another_user_and_a_link_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = tmp_path / "mine"
    mine.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(mine)
    assert kernel_cache.why_unsafe(mine) == ""
    assert kernel_cache.why_unsafe(tmp_path / "link") == "it is not a folder"
    monkeypatch.setattr(os, "getuid", lambda: mine.stat().st_uid + 1)
    assert kernel_cache.why_unsafe(mine) == "it belongs to another user"


def test_kernels_not_used_for_a_month_are_removed_and_nothing_else_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, days in [("0123456789abcdef", 31), ("fedcba9876543210", 29), ("photos", 400), ("0123456789abcde", 400)]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "kept").touch()
        os.utime(tmp_path / name, (time.time() - days * DAY,) * 2)
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path))
    now = made(folder_for()).name
    assert {folder.name for folder in tmp_path.iterdir()} == {now, "fedcba9876543210", "photos", "0123456789abcde"}


def test_loading_a_kernel_keeps_its_folder_from_being_removed(tmp_path: Path) -> None:
    for _ in range(2):
        assert run_tilewright(*COMMAND, TILEWRIGHT_CACHE=str(tmp_path / "cache")).returncode == 0
        (folder,) = (tmp_path / "cache").iterdir()
        fresh = folder.stat().st_mtime
        os.utime(folder, (0, 0))
    assert fresh > DAY


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "empty"])
def test_damaged_files_are_compiled_again_without_a_word(
    suffix: str, damage: str, filled: tuple[Path, Finished], tmp_path: Path
) -> None:
    cache, first = filled
    shutil.copytree(cache, tmp_path / "cache")
    for file in (tmp_path / "cache").rglob(f"*.{suffix}"):
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 0xFF
        file.write_bytes({"cut": bytes(content[:-7]), "flipped": bytes(content), "empty": b""}[damage])
    second = run_tilewright(*COMMAND, TILEWRIGHT_CACHE=str(tmp_path / "cache"))
    assert (second.returncode, second.stderr) == (0, first.stderr.replace(str(cache), str(tmp_path / "cache")))
    results = [[line for line in run.stdout.splitlines() if "speed" not in line] for run in (first, second)]
    assert results[0] == results[1]
