"""Locks between processes. The system releases them when a process ends, however it ends."""

import contextlib
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tilewright._core.descriptors import lock_descriptor
from tilewright._core.files import make_folder
from tilewright._core.outputs import write_error

__all__ = ["FileLock", "try_lock"]

_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


class FileLock:
    """A lock on a file, which says who holds it.

    Args:
        path: The file; it is made if it does not exist, and stays when the lock is released.

    Raises:
        FileError: The file cannot be written.

    Attributes:
        is_held: False if another process or another object holds the lock.
        holder: Who holds it then, as `process 1234`.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor: int | None = None
        self.holder = ""
        make_folder(path.parent)
        try:
            descriptor = os.open(path, _FLAGS, 0o666)
        except OSError as error:
            raise write_error(path, error) from error
        if lock_descriptor(descriptor):
            self._descriptor = descriptor
            _write_holder(descriptor)
        else:
            self.holder = _read_holder(descriptor)
            os.close(descriptor)

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock."""
        return self._descriptor is not None

    def release(self) -> None:
        """Release the lock, if it is held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        self.release()


def _write_holder(descriptor: int) -> None:
    """Write who holds the lock; a full disk is no reason to go without it."""
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, f"{os.getpid()} {socket.gethostname()}\n".encode())


def _read_holder(descriptor: int) -> str:
    try:
        os.lseek(descriptor, 0, os.SEEK_SET)
        pid, _, host = os.read(descriptor, 300).decode("utf-8", "replace").strip().partition(" ")
    except OSError:
        pid, host = "", ""
    if not pid.isdecimal():
        return "another process"
    elsewhere = f" on {host}" if host.isprintable() and host != socket.gethostname() else ""
    return f"process {pid}{elsewhere}"


@contextmanager
def try_lock(path: Path) -> Iterator[bool]:
    """Lock the file `path` for the time of a block; yields False if another thread or process holds the lock.

    The file is made if it does not exist.
    """
    lock = FileLock(path)
    try:
        yield lock.is_held
    finally:
        lock.release()
