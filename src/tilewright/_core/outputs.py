"""What a command may write: never over something that is not its own.

A file of the same kind is replaced. Its content decides the kind, not its name.
"""

import errno
import json
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from tilewright._core.inputs import modified_at, shown
from tilewright._core.text import with_article
from tilewright.errors import FileError, UsageError

__all__ = [
    "MODEL",
    "FileKind",
    "check_different",
    "check_output",
    "format_of",
    "is_full",
    "write_error",
]

_HEAD_BYTES = (1 << 20) + 8  # the largest header of a model
_FULL = {errno.ENOSPC, errno.EFBIG, *(getattr(errno, name) for name in ("EDQUOT",) if hasattr(errno, name))}


class FileKind(NamedTuple):
    """A kind of file that commands write."""

    name: str
    is_kind: Callable[[bytes], bool]  # tells it from the beginning of the content


def format_of(head: bytes) -> str:
    """Return what the metadata of a safetensors file, from its beginning, call its format; empty for any other file."""
    try:
        return str(json.loads(head[8 : 8 + int.from_bytes(head[:8], "little")])["__metadata__"]["format"])
    except (KeyError, RecursionError, TypeError, ValueError):
        return ""


def _is_model(head: bytes) -> bool:
    found = format_of(head)
    return found.startswith("tilewright-") and not any(other in found for other in ("checkpoint", "positions"))


MODEL = FileKind("model", _is_model)


def check_output(
    path: Path | str, kind: FileKind | None = None, *, inputs: Iterable[Path | str] = (), force: bool = False
) -> Path:
    """Check that a file may be written, before the work that it is for.

    Args:
        path: The file.
        kind: What is to be written. An existing file of another kind is refused; None allows any kind.
        inputs: Files that are read, and must not be written.
        force: Whether to allow an existing file of another kind.

    Returns:
        The file that links lead to.

    Raises:
        UsageError: It is neither a path nor text.
        FileError: It is a folder, a device, a pipe, an input, or of another kind; or its folder cannot be used.
    """
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"{path!r} is not a file: give a path as text or as a Path")
    try:
        target = Path(path).resolve()
        found = target.stat() if target.exists() else None
        if found is None or not stat.S_ISREG(found.st_mode):
            _check_place(target, found)
        if found is not None:
            _check_not_input(path, target, inputs)
            if found.st_size and kind is not None and not force:
                with target.open("rb") as file:
                    if not kind.is_kind(file.read(_HEAD_BYTES)):
                        raise FileError(
                            f"{shown(path)}: is not {with_article(kind.name)}, and is left as it is; force replaces it"
                        )
    except FileError:
        raise
    except OSError as error:
        raise write_error(path, error) from error
    except (RuntimeError, ValueError):  # a loop of links, or a name that no file can have
        raise FileError(f"{shown(path)}: cannot be written: no file can have this name") from None
    return target


def _check_place(target: Path, found: os.stat_result | None) -> None:
    """Raise an error unless the path is free, and its folder is one, or can be made."""
    if found is not None:
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        raise OSError(errno.EINVAL, "a pipe or a device, not a file")
    for folder in target.parents:
        if folder.exists():
            if not folder.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            if not os.access(folder, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return


def _check_not_input(path: Path | str, target: Path, inputs: Iterable[Path | str]) -> None:
    for source in inputs:
        if modified_at(Path(source)) and target.samefile(source):
            raise FileError(f"{shown(path)}: is read by this command, and cannot be written")


def check_different(*paths: Path | None) -> None:
    """Raise UsageError if two outputs of a command are the same file."""
    seen: set[str] = set()
    for path in paths:
        if path is not None:
            name = os.path.realpath(path)
            if name in seen:
                raise UsageError(f"{shown(path)}: is given for two outputs")
            seen.add(name)


def write_error(path: Path | str, error: OSError) -> FileError:
    """Return the error for a file that cannot be written; raise it `from` the given one."""
    return FileError(f"{shown(path)}: cannot be written: {error.strerror or error}")


def is_full(error: BaseException) -> bool:
    """Tell whether a file could not be written because a disk is full, which may pass."""
    return getattr(error.__cause__, "errno", None) in _FULL
