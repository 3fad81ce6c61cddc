"""Reading files that others have written: regular files only, and never more than is allowed.

A pipe may never send anything, and a device such as /dev/zero never ends. Both are refused before a byte is read.
"""

import os
import stat
from pathlib import Path
from typing import IO

from tilewright.errors import FileError

__all__ = ["MAX_TEXT", "modified_at", "open_input", "read_text", "shown"]

MAX_TEXT = 1 << 20  # bytes of a configuration or another text


def open_input(path: Path) -> IO[bytes]:
    """Open a regular file to read.

    Raises:
        FileError: The file cannot be opened, or is a folder, a pipe or a device.
    """
    try:
        file = open(path, "rb", opener=_open_without_waiting)  # noqa: SIM115  (the caller closes it)
    except OSError as error:
        raise FileError(f"{shown(path)}: cannot be read: {error.strerror or error}") from None
    except ValueError:  # a null character, or one that is not part of a file name
        raise FileError(f"{shown(path)}: cannot be read: no file can have this name") from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise FileError(f"{shown(path)}: cannot be read: a pipe or a device, not a file")
    return file


def _open_without_waiting(name: str, flags: int) -> int:
    """Open a file; a pipe is opened at once, though nobody may ever write to it."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))


def read_text(path: Path, limit: int = MAX_TEXT) -> str:
    """Read a text in UTF-8.

    Args:
        path: The file.
        limit: The largest number of bytes.

    Raises:
        FileError: The file cannot be read, is longer, or is not text.
    """
    with open_input(path) as file:
        try:
            content = file.read(limit + 1)
        except OSError as error:
            raise FileError(f"{shown(path)}: cannot be read: {error.strerror or error}") from None
    if len(content) > limit:
        raise FileError(f"{shown(path)}: cannot be read: longer than {limit:,} bytes")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise FileError(f"{shown(path)}: cannot be read: not text") from None


def modified_at(path: Path) -> int:
    """Return when a file was last written, in nanoseconds; 0 for one that is not there."""
    try:
        return path.stat().st_mtime_ns
    except (OSError, ValueError):
        return 0


def shown(path: Path | str, limit: int = 300) -> str:
    """Return a path for a message: one line, and not longer than anybody reads."""
    text = "".join(sign if sign.isprintable() or "\udc80" <= sign <= "\udcff" else "?" for sign in str(path))
    return text if len(text) <= limit else f"{text[: limit // 2]}…{text[-limit // 2 :]}"
