"""Files that are written completely or not at all, and that are checked when they are read.

Arrays are stored as safetensors: the length of the header, the header in JSON, then the raw arrays. They are written
chunk by chunk and not by the safetensors package, whose writer needs a second copy of every array in memory. The format
is the same.
"""

import glob
import hashlib
import json
import math
import mmap
import os
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from tilewright._core.descriptors import lock_descriptor
from tilewright._core.folders import make_folders
from tilewright._core.inputs import open_input, shown
from tilewright._core.outputs import FileKind, check_output, write_error
from tilewright._core.text import excerpt
from tilewright.errors import FileError

__all__ = [
    "Array",
    "Tensors",
    "forget_pages",
    "make_folder",
    "parse_json",
    "read_metadata",
    "read_tensors",
    "remove_unfinished",
    "replace_file",
    "write_bytes",
    "write_tensors",
    "write_text",
]

Array: TypeAlias = NDArray[Any]  # of a type that only the file knows
Tensors: TypeAlias = Mapping[str, Array]

_DTYPES = {"F32": np.float32, "I16": np.int16, "U8": np.uint8, "I64": np.int64, "U64": np.uint64, "F64": np.float64}
_NAMES = {np.dtype(kind): name for name, kind in _DTYPES.items()}
_MAX_HEADER = 1 << 20
_MAX_DIMENSIONS = 8
_CHUNK = 1 << 24  # bytes written or hashed at once
_ALIGN = 64
_ON_WINDOWS = os.name == "nt"
_LONGEST_NAME = 200  # bytes; file systems allow 255
_NO_CHECKSUM = b"0" * 64  # in place of the checksum, while the checksum of the header is computed


@contextmanager
def replace_file(path: Path, kind: FileKind | None = None, *, force: bool = False) -> Iterator[IO[bytes]]:
    """Open a file to write to, which replaces `path` when the block ends without an error.

    The old content stays until the new content is on the disk: temporary file, fsync, rename. After an error the
    temporary file is removed, and `path` is unchanged.

    Args:
        path: The file. A link is followed; folders, devices and pipes are refused.
        kind: What is written. An existing file of another kind is refused; None allows any kind.
        force: Whether to replace an existing file of another kind.

    Raises:
        FileError: The file cannot be written, or is of another kind.
    """
    target = check_output(path, kind, force=force)
    temporary: Path | None = None
    try:
        make_folders(target.parent)
        remove_unfinished(target)
        with _open_unfinished(target) as file:
            temporary = Path(file.name)
            yield file
            file.flush()
            os.fsync(file.fileno())
            if not _ON_WINDOWS:  # where no open file is renamed; elsewhere it is locked until it has its name
                temporary.replace(target)
        if _ON_WINDOWS:
            temporary.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        raise write_error(path, error) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _open_unfinished(target: Path) -> IO[bytes]:
    """Open a temporary file beside `target`, and lock it, so that no other process takes it for an abandoned one."""
    while True:
        unfinished = target.with_name(f".{_short(target.name)}.{secrets.token_hex(8)}.part")
        file = unfinished.open("xb")  # tempfile would make a file that only its owner can read
        if lock_descriptor(file.fileno()) and os.fstat(file.fileno()).st_nlink:
            return file
        file.close()  # another process has just removed it


def remove_unfinished(path: Path) -> None:
    """Remove what processes left that were killed while they replaced `path`; files that are being written stay."""
    with suppress(OSError):
        for part in path.parent.glob(f".{glob.escape(_short(path.name))}.*.part"):
            with part.open("rb") as file:
                if not lock_descriptor(file.fileno()):
                    continue
                if not _ON_WINDOWS:
                    part.unlink(missing_ok=True)
            part.unlink(missing_ok=True)  # Windows removes no open file


def _short(name: str) -> str:
    """Return a name to which a suffix can be added, however long names may be."""
    return name if len(os.fsencode(name)) < _LONGEST_NAME else name[: _LONGEST_NAME // 4]


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, unless they exist.

    Raises:
        FileError: The folder cannot be made.
    """
    try:
        make_folders(folder)
    except OSError as error:
        raise write_error(folder, error) from error
    except ValueError:
        raise FileError(f"{shown(folder)}: cannot be written: no folder can have this name") from None


def write_text(path: Path, text: str, kind: FileKind | None = None, *, force: bool = False) -> None:
    """Replace the content of a file by a text in UTF-8; see `replace_file`.

    Parts of file names that are not UTF-8 are written as question marks.
    """
    write_bytes(path, text.encode("utf-8", "replace"), kind, force=force)


def write_bytes(path: Path, content: bytes, kind: FileKind | None = None, *, force: bool = False) -> None:
    """Replace the content of a file; see `replace_file`."""
    with replace_file(path, kind, force=force) as file:
        file.write(content)


def write_tensors(
    path: Path,
    tensors: Mapping[str, Array | list[Array]],
    metadata: Mapping[str, str],
    kind: FileKind | None = None,
    *,
    force: bool = False,
) -> None:
    """Write arrays and metadata as safetensors, with a checksum of all of it in the metadata; see `replace_file`.

    Args:
        path: The file.
        tensors: The arrays by name; a list of one-dimensional arrays is written as one array.
        metadata: Texts by name.
        kind: What may be replaced.
        force: Whether any file may be replaced.
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
    with replace_file(path, kind, force=force) as file:
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

    The file is opened once: one that replaces it meanwhile, as a training replaces its model, changes nothing.

    Returns:
        The arrays by name, mapped into memory read-only, and the metadata.

    Raises:
        FileError: The file cannot be read, is of another kind, or is damaged.
    """
    try:
        with open_input(path) as file:
            text, size = _read_header(path, file)
            header, metadata = _parse_header(path, text)
            tensors = _map_tensors(path, file, header, 8 + len(text), size)
            _verify_checksum(path, file, text, metadata)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror or error}") from None
    return tensors, metadata


def read_metadata(path: Path) -> dict[str, str]:
    """Read the metadata of a file without a look at its arrays and its checksum.

    Raises:
        FileError: The file cannot be read, is of another kind, or its header is damaged.
    """
    try:
        with open_input(path) as file:
            return _parse_header(path, _read_header(path, file)[0])[1]
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror or error}") from None


def _read_header(path: Path, file: IO[bytes]) -> tuple[bytes, int]:
    """Return the text of the header, and the size of the whole file."""
    size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(8), "little")
    if size < 10 or not 2 <= length <= size - 8:
        raise FileError(f"{path}: not a safetensors file")
    if length > _MAX_HEADER:
        raise FileError(f"{path}: a header of {length:,} bytes is too long; at most {_MAX_HEADER:,} are read")
    return file.read(length), size


def forget_pages(tensor: Array) -> None:
    """Release the memory of a mapped array; the system reads it from the file again when it is needed."""
    mapping = getattr(tensor, "_mmap", None)
    if mapping is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapping.madvise(mmap.MADV_DONTNEED)


def _parse_header(path: Path, text: bytes) -> tuple[dict[str, object], dict[str, str]]:
    """Return the entries of the arrays, and the metadata."""
    try:
        header = _read_object(parse_json(text), "the header")
        return header, _read_metadata(header.pop("__metadata__", {}))
    except ValueError as error:
        raise FileError(f"{path}: its header is damaged: {error}") from None


def _map_tensors(path: Path, file: IO[bytes], header: Mapping[str, object], base: int, size: int) -> dict[str, Array]:
    """Map the arrays, which begin at byte `base` and fill the rest of the file without gaps."""
    try:
        layout = [_layout(name, entry) for name, entry in header.items()]
    except ValueError as error:
        raise FileError(f"{path}: its header is damaged: {error}") from None
    tensors: dict[str, Array] = {}
    end = 0
    for name, dtype, shape, begin, stop in sorted(layout, key=lambda entry: entry[3:]):
        count = math.prod(shape)
        if begin != end or stop - begin != count * dtype.itemsize or min(shape, default=0) < 0:
            raise FileError(f"{path}: its header is damaged: {excerpt(name, 60)} does not fit")
        end = stop
        if base + stop > size:
            raise FileError(f"{path}: cut short: {size:,} bytes of at least {base + stop:,}")
        try:
            tensors[name] = np.memmap(file, dtype, "r", base + begin, shape) if count else np.empty(shape, dtype)
        except ValueError as error:
            raise FileError(f"{path}: its header is damaged: {excerpt(name, 60)}: {error}") from None
    if base + end != size:
        raise FileError(f"{path}: {size - base - end:,} bytes too long")
    return tensors


def parse_json(text: str | bytes) -> object:
    """Read JSON from a file that anybody may have written.

    Raises:
        ValueError: It is not JSON, is nested too deeply, or an object has a key twice.

    >>> parse_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    ValueError: the key 'a' occurs twice
    """
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {excerpt(twice)} occurs twice")
    return found


def _read_object(found: object, what: str) -> dict[str, object]:
    if not isinstance(found, dict):
        raise ValueError(f"{what} is {excerpt(found)}, no JSON object")
    return found


def _read_metadata(found: object) -> dict[str, str]:
    metadata: dict[str, str] = {}
    for key, value in _read_object(found, "its metadata").items():
        if not isinstance(value, str) or not _is_unicode(key + value):
            raise ValueError(f"{excerpt(key)} of its metadata is {excerpt(value)}, no text")
        metadata[key] = value
    return metadata


def _is_unicode(text: str) -> bool:
    """Tell whether text can be printed: JSON may hold halves of characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _layout(name: str, found: object) -> tuple[str, np.dtype[np.generic], tuple[int, ...], int, int]:
    """Name, dtype, shape, begin and end of an array, from its entry in the header."""
    entry = _read_object(found, f"the entry of {excerpt(name, 60)}")
    dtype, shape, offsets = (entry.get(key) for key in ("dtype", "shape", "data_offsets"))
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        raise ValueError(f"{excerpt(name, 60)} has the unknown type {excerpt(dtype)}")
    if not _is_list_of_sizes(shape) or len(shape) > _MAX_DIMENSIONS:
        raise ValueError(f"{excerpt(name, 60)} has the shape {excerpt(shape)}")
    if not _is_list_of_sizes(offsets) or len(offsets) != 2:
        raise ValueError(f"{excerpt(name, 60)} has the offsets {excerpt(offsets)}")
    return name, np.dtype(_DTYPES[dtype]), tuple(shape), offsets[0], offsets[1]


def _is_list_of_sizes(found: object) -> TypeGuard[list[int]]:
    return isinstance(found, list) and all(type(size) is int for size in found)


def _verify_checksum(path: Path, file: IO[bytes], text: bytes, metadata: Mapping[str, str]) -> None:
    given = metadata.get("sha256", "")
    if not given:
        raise FileError(f"{path}: has no checksum; not a file of tilewright")
    digest = hashlib.sha256()
    file.seek(8 + len(text))
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    before, _, after = text.rpartition(given.encode("ascii", "replace"))
    if given != _checksum(before + _NO_CHECKSUM + after, digest.digest()):
        raise FileError(f"{path}: damaged: its checksum does not match its content")
