"""Locks between processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.process import environment
from tilewright._core.locks import FileLock, try_lock
from tilewright.errors import FileError

HOLD = """
import sys
from pathlib import Path
from tilewright._core.locks import FileLock
lock = FileLock(Path(sys.argv[1]))
print(lock.is_held, flush=True)
sys.stdin.read()
"""


def test_one_at_a_time_and_the_holder_is_known(tmp_path: Path) -> None:
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert (first.is_held, second.is_held) == (True, False)
    assert second.holder == f"process {os.getpid()}"
    first.release()
    assert FileLock(tmp_path / "lock").is_held


def test_a_lock_that_nobody_knows_any_more_is_free(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock")
    del lock
    with try_lock(tmp_path / "lock") as held:
        assert held


def test_a_killed_holder_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(
        command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        refused = FileLock(path)
        assert (refused.is_held, refused.holder) == (False, f"process {process.pid}")
        process.kill()
        process.wait()
        assert FileLock(path).is_held


@pytest.mark.parametrize("content", [b"", b"nobody", b"\xff" * 400, b"-3 here"])
def test_what_a_lock_says_may_be_nonsense(content: bytes, tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock")
    (tmp_path / "lock").write_bytes(content)
    assert FileLock(tmp_path / "lock").holder == "another process"
    lock.release()


def test_a_lock_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for path in (tmp_path / "file" / "lock", tmp_path, tmp_path / "link"):
        with pytest.raises(FileError, match="cannot be written"):
            FileLock(path)
