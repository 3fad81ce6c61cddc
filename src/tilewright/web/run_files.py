"""Files of runs, read with bounds: whatever lies in the runs folder, a look at it takes little time and memory.

Links are not followed, and devices and pipes are not read. Of a long file, some lines are read. Whatever was found is
kept until the file changes.
"""

import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Generic, TypeVar

__all__ = ["FileCache", "is_own_file", "read_text", "sample_lines", "stat_of", "tail_lines"]

T = TypeVar("T")
_LINE = 4096  # bytes: no session writes a longer one
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def stat_of(path: Path) -> os.stat_result | None:
    """Return what is known of a file; None if there is none, or if it is a link, a folder or a device."""
    try:
        found = path.lstat()
    except (OSError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def is_own_file(path: Path) -> bool:
    """Return whether there is a file, not a link to one."""
    return stat_of(path) is not None


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], int]]:
    """Open a file and yield it with its size.

    Raises:
        OSError: It cannot be read, or is a link, a folder or a device.
    """
    if not is_own_file(path):
        raise FileNotFoundError(f"{path}: no file")
    with os.fdopen(os.open(path, _FLAGS), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise FileNotFoundError(f"{path}: no file")
        yield file, found.st_size


def read_text(path: Path, limit: int) -> str:
    """Return at most `limit` bytes of a text file from its beginning.

    Raises:
        OSError: It cannot be read.
    """
    with _opened(path) as (file, _):
        return file.read(limit).decode("utf-8", "replace")


def sample_lines(path: Path, count: int, limit: int) -> list[str]:
    """Return complete lines of a text file, in their order; none if it cannot be read.

    Args:
        path: The file.
        count: The number of lines to read of a file that is longer than `limit`: the first one, the last one, and
            others at even distances.
        limit: Bytes; of a shorter file, all lines are read.
    """
    try:
        with _opened(path) as (file, size):
            if size <= limit:
                return _complete_lines(file.read(limit))
            lines = _complete_lines(file.read(_LINE))[:2]
            for i in range(1, count - 1):
                lines += _lines_at(file, size * i // (count - 1))[:1]
            lines += _lines_at(file, size - _LINE)[-1:]
            return list(dict.fromkeys(lines))
    except OSError:
        return []


def tail_lines(path: Path) -> list[str]:
    """Return the first line of a text file and its last complete ones; none if it cannot be read."""
    try:
        with _opened(path) as (file, size):
            head = _complete_lines(file.read(_LINE))
            return head if size <= _LINE else head[:1] + _lines_at(file, size - _LINE)
    except OSError:
        return []


def _lines_at(file: IO[bytes], position: int) -> list[str]:
    """Return the complete lines after a position; the one that it falls into is left out."""
    file.seek(position)
    return _complete_lines(file.read(_LINE).partition(b"\n")[2])


def _complete_lines(content: bytes) -> list[str]:
    complete, _, _ = content.rpartition(b"\n")
    return [line for line in complete.decode("ascii", "replace").splitlines() if len(line) <= _LINE]


class FileCache(Generic[T]):
    """What was found in files, until their time of modification or their size changes."""

    def __init__(self, entries: int) -> None:
        """Keep the last so many."""
        self._entries, self._max = OrderedDict[tuple[Path, ...], tuple[object, T]](), entries
        self._lock = threading.Lock()

    def get(self, compute: Callable[[], T], *files: Path) -> T:
        """Return what `compute` returned when the files were last as they are now."""
        found = [stat_of(file) for file in files]
        version = [(entry.st_mtime_ns, entry.st_size, entry.st_ino) if entry else None for entry in found]
        with self._lock:
            known = self._entries.get(files)
            if known is not None and known[0] == version:
                self._entries.move_to_end(files)
                return known[1]
        value = compute()
        with self._lock:
            self._entries[files] = version, value
            while len(self._entries) > self._max:
                self._entries.popitem(last=False)
        return value
