"""Files that survive: written whole or not at all, and refused with one clear line when they are not what they say.

Weights are kept as safetensors: a length, a JSON header, raw arrays. They are written in pieces rather than through the
safetensors package, whose writer needs a second copy of every array in memory; the format is the same.
"""

import hashlib
import json
import mmap
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tilewright.errors import FileError

__all__ = [
    "forget_pages",
    "make_folder",
    "read_tensors",
    "replace_file",
    "try_lock",
    "write_bytes",
    "write_tensors",
    "write_text",
]

Tensors = Mapping[str, NDArray[Any]]

_DTYPES = {"F32": np.float32, "I16": np.int16, "U8": np.uint8, "I64": np.int64, "U64": np.uint64, "F64": np.float64}
_NAMES = {np.dtype(kind): name for name, kind in _DTYPES.items()}
_LONGEST_HEADER = 1 << 20
_PIECE = 1 << 24  # bytes written or hashed at a time
_ALIGN = 64
_NO_SUM = b"0" * 64  # stands where the checksum will be, while the header is summed up


@contextmanager
def replace_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `path` when the block ends well and is forgotten when not.

    What was there before stays until the new content is safely on the disk: temporary file, fsync, rename.
    """
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
        with unfinished.open("xb") as file:  # with the permissions of any new file; those of tempfile are private
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
    """Hold the file `path` for this thread alone, if no other process or thread does: says whether it is held."""
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
    """Make a folder, if there is none; raises FileError where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: cannot be written: {error.strerror}") from None


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    with replace_file(path) as file:
        file.write(content)


def write_tensors(path: Path, tensors: Tensors, metadata: Mapping[str, str]) -> None:
    """Write arrays and metadata as safetensors, with a checksum over all of it."""
    header: dict[str, Any] = {}
    end = 0
    digest = hashlib.sha256()
    for name, tensor in tensors.items():
        begin, end = end, end + tensor.nbytes
        header[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, end]}
        for piece in _pieces(tensor):
            digest.update(piece)
    header["__metadata__"] = {**metadata, "sha256": _NO_SUM.decode()}
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % _ALIGN)
    before, zeros, after = text.rpartition(_NO_SUM)
    text = before + _whole_sum(before + zeros + after, digest.digest()).encode() + after
    with replace_file(path) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            for piece in _pieces(tensor):
                file.write(piece)


def _pieces(tensor: NDArray[Any]) -> Iterator[memoryview]:
    data: memoryview = np.ascontiguousarray(tensor).reshape(-1).view(np.uint8).data
    for begin in range(0, len(data), _PIECE):
        yield data[begin : begin + _PIECE]


def _whole_sum(text: bytes, arrays: bytes) -> str:
    """The checksum of a header, in which the sum itself is still zeros, and of the sum of the arrays."""
    return hashlib.sha256(text + arrays).hexdigest()


def read_tensors(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """The arrays of a safetensors file, mapped into memory, and its metadata; raises FileError if anything is off."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if size < 10 or not 2 <= length <= min(_LONGEST_HEADER, size - 8):
                raise FileError(f"{path}: not a safetensors file")
            text = file.read(length)
        tensors, metadata = _parse_header(path, text, size)
        _check_sum(path, text, metadata)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror or error}") from None
    return tensors, metadata


def forget_pages(tensor: NDArray[Any]) -> None:
    """Let the system take back the memory of a mapped array; it is read again from the file when needed."""
    mapping = getattr(tensor, "_mmap", None)
    if mapping is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapping.madvise(mmap.MADV_DONTNEED)


def _parse_header(path: Path, text: bytes, size: int) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    try:
        header = json.loads(text)
        metadata = {str(key): str(value) for key, value in header.pop("__metadata__", {}).items()}
        layout = [_layout(name, entry) for name, entry in header.items()]
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        raise FileError(f"{path}: its header is damaged or of an unknown kind") from None
    tensors: dict[str, NDArray[Any]] = {}
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


def _layout(name: str, entry: Mapping[str, Any]) -> tuple[str, np.dtype[Any], tuple[int, ...], int, int]:
    """Name, dtype, shape, begin and end of an array, out of its entry in the header."""
    begin, end = entry["data_offsets"]
    shape = tuple(entry["shape"])
    if not all(type(number) is int for number in (begin, end, *shape)):
        raise TypeError("sizes are whole numbers")
    return name, np.dtype(_DTYPES[entry["dtype"]]), shape, begin, end


def _check_sum(path: Path, text: bytes, metadata: Mapping[str, str]) -> None:
    given = metadata.get("sha256", "")
    if not given:
        raise FileError(f"{path}: has no checksum; not a file of tilewright")
    digest = hashlib.sha256()
    with path.open("rb") as file:
        file.seek(8 + len(text))
        while piece := file.read(_PIECE):
            digest.update(piece)
    before, _, after = text.rpartition(given.encode("ascii", "replace"))
    if given != _whole_sum(before + _NO_SUM + after, digest.digest()):
        raise FileError(f"{path}: damaged: its checksum does not fit its content")
