"""Files that grow by whole pieces, also on a disk that is full for a while."""

import contextlib
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

from tilewright._core.outputs import is_full, write_error
from tilewright.errors import FileError

__all__ = ["PATIENCE", "AppendedFile", "write_patiently"]

PATIENCE = 8.0  # seconds to wait for room on a full disk, where the work cannot go on without it
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0  # seconds between two attempts


class AppendedFile:
    """A file that grows by whole pieces.

    A piece that cannot be written is kept in memory, and written before the next one. No piece is ever written in part:
    the file is cut off behind the last whole one.

    Args:
        path: The file; it is made when the first piece is written.
        header: What a new file begins with.
    """

    def __init__(self, path: Path, header: bytes = b"") -> None:
        self.path = path
        self._header = header
        self._pieces: list[bytes] = []

    @property
    def waiting(self) -> int:
        """The number of pieces that are not written yet."""
        return len(self._pieces)

    def append(self, piece: bytes) -> None:
        """Append a piece, after those that could not be written before.

        Raises:
            FileError: The file cannot be written now; the piece is kept.
        """
        self._pieces.append(piece)
        self.flush()

    def flush(self) -> None:
        """Write the pieces that are waiting.

        Raises:
            FileError: The file cannot be written now; the pieces are kept.
        """
        if not self._pieces:
            return
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _FLAGS, 0o666)
            try:
                self._write(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise write_error(self.path, error) from error
        self._pieces.clear()

    def _write(self, descriptor: int) -> None:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError("a pipe or a device, not a file")
        data = memoryview(b"".join([b"" if found.st_size else self._header, *self._pieces]))
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, found.st_size)
            raise


_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def write_patiently(
    write: Callable[[], None], seconds: Callable[[], float], pause: Callable[[float], object] | None = None
) -> None:
    """Write something; while the disk is full, try again.

    Args:
        write: Writes, or raises FileError.
        seconds: Returns for how long to try; it may change its mind.
        pause: Waits for a number of seconds; None to sleep.

    Raises:
        FileError: The last attempt failed, or the reason is another than a full disk.
    """
    began, length = time.monotonic(), _FIRST_PAUSE
    while True:
        try:
            return write()
        except FileError as error:
            left = began + seconds() - time.monotonic()
            if left <= 0 or not is_full(error):
                raise
        (pause or time.sleep)(min(length, left))
        length = min(2 * length, _LONGEST_PAUSE)
