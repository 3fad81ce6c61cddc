"""Files that are written completely or not at all, and that are checked when they are read.

Arrays are stored as safetensors: the length of the header, the header in JSON, then the raw arrays. They are written
chunk by chunk and not by the safetensors package, whose writer needs a second copy of every array in memory. The format
is the same.
"""

import hashlib
import json
import mmap
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright.errors import FileError

__all__ = [
    "Array",
    "Tensors",
    "forget_pages",
    "make_folder",
    "read_tensors",
    "replace_file",
    "try_lock",
    "write_bytes",
    "write_tensors",
    "write_text",
]

Array: TypeAlias = NDArray[Any]  # of a type that only the file knows
Tensors: TypeAlias = Mapping[str, Array]

_DTYPES = {"F32": np.float32, "I16": np.int16, "U8": np.uint8, "I64": np.int64, "U64": np.uint64, "F64": np.float64}
_NAMES = {np.dtype(kind): name for name, kind in _DTYPES.items()}
_MAX_HEADER = 1 << 20
_CHUNK = 1 << 24  # bytes written or hashed at once
_ALIGN = 64
_NO_CHECKSUM = b"0" * 64  # in place of the checksum, while the checksum of the header is computed


@contextmanager
def replace_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to write to, which replaces `path` when the block ends without an error.

    The old content stays until the new content is on the disk: temporary file, fsync, rename. After an error the
    temporary file is removed, and `path` is unchanged.

    Raises:
        FileError: The file cannot be written.
    """
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
        with unfinished.open("xb") as file:  # tempfile would make a file that only its owner can read
            temporary = unfinished
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def try_lock(path: Path) -> Iterator[bool]:
    """Lock the file `path` for this thread; yields False if another thread or process holds the lock.

    The file is made if it does not exist. Windows has no such lock: there the answer is always True.
    """
    make_folder(path.parent)
    try:
        file = path.open("ab")
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from None
    with file:
        yield _flock(file)


def _flock(file: IO[bytes]) -> bool:
    if os.name == "nt":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, unless they exist.

    Raises:
        FileError: The folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: cannot be written: {error.strerror}") from None


def write_text(path: Path, text: str) -> None:
    """Replace the content of a file by a text in UTF-8."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Replace the content of a file."""
    with replace_file(path) as file:
        file.write(content)


def write_tensors(path: Path, tensors: Mapping[str, Array | list[Array]], metadata: Mapping[str, str]) -> None:
    """Write arrays and metadata as safetensors, with a checksum of all of it in the metadata.

    Args:
        path: The file.
        tensors: The arrays by name; a list of one-dimensional arrays is written as one array.
        metadata: Texts by name.
    """
    header: dict[str, object] = {}
    end = 0
    digest = hashlib.sha256()
    pieces = {name: tensor if isinstance(tensor, list) else [tensor] for name, tensor in tensors.items()}
    for name, parts in pieces.items():
        begin, end = end, end + sum(part.nbytes for part in parts)
        shape = parts[0].shape if len(parts) == 1 else (sum(len(part) for part in parts),)
        header[name] = {"dtype": _NAMES[parts[0].dtype], "shape": list(shape), "data_offsets": [begin, end]}
        for part in parts:
            for chunk in _chunks(part):
                digest.update(chunk)
    header["__metadata__"] = {**metadata, "sha256": _NO_CHECKSUM.decode()}
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % _ALIGN)
    before, zeros, after = text.rpartition(_NO_CHECKSUM)
    text = before + _checksum(before + zeros + after, digest.digest()).encode() + after
    with replace_file(path) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for parts in pieces.values():
            for part in parts:
                for chunk in _chunks(part):
                    file.write(chunk)


def _chunks(tensor: Array) -> Iterator[memoryview]:
    data: memoryview = np.ascontiguousarray(tensor).reshape(-1).view(np.uint8).data
    for begin in range(0, len(data), _CHUNK):
        yield data[begin : begin + _CHUNK]


def _checksum(text: bytes, arrays: bytes) -> str:
    """The checksum of a file: of its header, with zeros in place of the checksum, and of the digest of its arrays."""
    return hashlib.sha256(text + arrays).hexdigest()


def read_tensors(path: Path) -> tuple[dict[str, Array], dict[str, str]]:
    """Read a file that `write_tensors` wrote.

    Returns:
        The arrays by name, mapped into memory read-only, and the metadata.

    Raises:
        FileError: The file cannot be read, is of another kind, or is damaged.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if size < 10 or not 2 <= length <= min(_MAX_HEADER, size - 8):
                raise FileError(f"{path}: not a safetensors file")
            text = file.read(length)
        tensors, metadata = _parse_header(path, text, size)
        _verify_checksum(path, text, metadata)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror or error}") from None
    return tensors, metadata


def forget_pages(tensor: Array) -> None:
    """Release the memory of a mapped array; the system reads it from the file again when it is needed."""
    mapping = getattr(tensor, "_mmap", None)
    if mapping is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapping.madvise(mmap.MADV_DONTNEED)


def _parse_header(path: Path, text: bytes, size: int) -> tuple[dict[str, Array], dict[str, str]]:
    try:
        header = json.loads(text)
        metadata = {str(key): str(value) for key, value in header.pop("__metadata__", {}).items()}
        layout = [_layout(name, entry) for name, entry in header.items()]
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        raise FileError(f"{path}: its header is damaged or unknown") from None
    tensors: dict[str, Array] = {}
    base, end = 8 + len(text), 0
    for name, dtype, shape, begin, stop in sorted(layout, key=lambda entry: entry[3]):
        count = int(np.prod(shape, dtype=object)) if shape else 1
        if begin != end or stop - begin != count * dtype.itemsize or min(shape, default=0) < 0:
            raise FileError(f"{path}: its header is damaged: {name} does not fit")
        end = stop
        if base + stop > size:
            raise FileError(f"{path}: cut short: {size:,} bytes of at least {base + stop:,}")
        try:
            tensors[name] = np.memmap(path, dtype, "r", base + begin, shape) if count else np.empty(shape, dtype)
        except ValueError as error:
            raise FileError(f"{path}: its header is damaged: {name}: {error}") from None
    if base + end != size:
        raise FileError(f"{path}: {size - base - end:,} bytes too long")
    return tensors, metadata


def _layout(name: str, entry: Mapping[str, Any]) -> tuple[str, np.dtype[np.generic], tuple[int, ...], int, int]:
    """Name, dtype, shape, begin and end of an array, from its entry in the header."""
    begin, end = entry["data_offsets"]
    shape = tuple(entry["shape"])
    if not all(type(number) is int for number in (begin, end, *shape)):
        raise TypeError("sizes must be whole numbers")
    return name, np.dtype(_DTYPES[entry["dtype"]]), shape, begin, end


def _verify_checksum(path: Path, text: bytes, metadata: Mapping[str, str]) -> None:
    given = metadata.get("sha256", "")
    if not given:
        raise FileError(f"{path}: has no checksum; not a file of tilewright")
    digest = hashlib.sha256()
    with path.open("rb") as file:
        file.seek(8 + len(text))
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    before, _, after = text.rpartition(given.encode("ascii", "replace"))
    if given != _checksum(before + _NO_CHECKSUM + after, digest.digest()):
        raise FileError(f"{path}: damaged: its checksum does not match its content")
