"""Changes of safetensors files that keep what a reader checks first: the layout of the header and the checksum."""

import functools
import hashlib
import json
import random
import zlib
from typing import Any

import numpy as np

from torture.mutation import any_number, any_value, flip_bytes, mutate_text, mutate_tree, sometimes

__all__ = ["mutated_file", "read_parts", "sealed", "zeros_bomb"]

_DTYPES = {"F32": "<f4", "I16": "<i2", "U8": "<u1", "I64": "<i8", "U64": "<u8", "F64": "<f8"}
_FLOATS = (float("nan"), float("inf"), float("-inf"), -1e38, -1.0000001e38, 3.4e38, 1e-45, -0.0, 1e30, 0.0)
_NO_CHECKSUM = "0" * 64

Arrays = dict[str, tuple[str, list[int], bytes]]  # name -> dtype, shape, content


def read_parts(content: bytes) -> tuple[dict[str, str], Arrays]:
    """Return the metadata and the arrays of a file."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__")
    body = content[8 + length :]
    arrays: Arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        arrays[name] = (entry["dtype"], entry["shape"], body[begin:end])
    return metadata, arrays


def sealed(header: Any, body: bytes) -> bytes:
    """Return a file with this header and a valid checksum, if the header has a place for it."""
    if isinstance(header, dict) and isinstance(header.get("__metadata__"), dict):
        header["__metadata__"]["sha256"] = _NO_CHECKSUM
    text = json.dumps(header).encode("utf-8", "replace")
    text += b" " * (-(len(text) + 8) % 64)
    before, zeros, after = text.rpartition(_NO_CHECKSUM.encode())
    if zeros:
        checksum = hashlib.sha256(text + hashlib.sha256(body).digest()).hexdigest()
        text = before + checksum.encode() + after
    return len(text).to_bytes(8, "little") + text + body


def _assembled(metadata: Any, arrays: Arrays) -> tuple[dict[str, Any], bytes]:
    """Return the header and the body of a file with these arrays."""
    header: dict[str, Any] = {}
    body = b""
    for name, (dtype, shape, content) in arrays.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(content)]}
        body += content
    header["__metadata__"] = metadata
    return header, body


def mutated_file(chance: random.Random, content: bytes, *, compressed: bool = False) -> bytes:
    """Return a changed file; in nine of ten its checksum is valid.

    Args:
        chance: Where the changes come from.
        content: The file.
        compressed: Whether its arrays are compressed, so that what they contain is changed.
    """
    if sometimes(chance, 0.05):
        return flip_bytes(chance, content)
    metadata, arrays = read_parts(content)
    for _ in range(chance.choice((1, 1, 1, 2))):
        kind = chance.randrange(10)
        if kind < 4:
            metadata = _mutate_metadata(chance, metadata)
        elif kind < 9 and arrays:
            arrays = _mutate_arrays(chance, arrays, compressed)
    header, body = _assembled(metadata, arrays)
    if sometimes(chance, 0.15):
        header = mutate_tree(chance, header)
    if sometimes(chance, 0.03):
        body = flip_bytes(chance, body)
    made = sealed(header, body)
    return flip_bytes(chance, made) if sometimes(chance, 0.05) else made


def _mutate_metadata(chance: random.Random, metadata: Any) -> Any:
    """Change one entry; an entry that is JSON is changed as a tree, so that it stays JSON."""
    if not isinstance(metadata, dict) or not metadata:
        return any_value(chance)
    changed = dict(metadata)
    key = chance.choice(list(changed))
    text = changed[key]
    tree = _parsed(text)
    if isinstance(tree, dict | list) and sometimes(chance, 0.9):
        for _ in range(chance.choice((1, 1, 2))):
            tree = mutate_tree(chance, tree)
        changed[key] = json.dumps(tree)
    elif sometimes(chance, 0.1):
        del changed[key]
    elif sometimes(chance, 0.2):
        changed[key] = any_value(chance)
    elif sometimes(chance, 0.4):
        changed[key] = str(any_number(chance))
    elif isinstance(text, str):
        changed[key] = mutate_text(chance, text)
    return changed


def _parsed(text: Any) -> Any:
    """The value of a JSON text; None for what is no such text, as after an earlier change."""
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (RecursionError, ValueError):
        return None


def _mutate_arrays(chance: random.Random, arrays: Arrays, compressed: bool) -> Arrays:
    changed = dict(arrays)
    name = chance.choice(list(changed))
    dtype, shape, content = changed[name]
    kind = chance.randrange(10)
    if kind == 0:
        del changed[name]
    elif kind == 1:
        changed[name + chance.choice((".", "x", "\0"))] = changed[name]
    elif kind == 2 and dtype in _DTYPES:
        other = chance.choice(list(_DTYPES))
        values = np.frombuffer(content, _DTYPES[dtype])
        with np.errstate(all="ignore"):
            changed[name] = (other, shape, values.astype(_DTYPES[other]).tobytes())
    elif kind == 3:
        changed[name] = _resized(chance, dtype, shape, content)
    elif compressed:
        packed = _recompressed(chance, content)
        changed[name] = ("U8", [len(packed)], packed)
    else:
        changed[name] = (dtype, shape, _changed_values(chance, dtype, content))
    return changed


def _resized(chance: random.Random, dtype: str, shape: list[int], content: bytes) -> tuple[str, list[int], bytes]:
    """Change the length of an array, with a header that fits."""
    size = np.dtype(_DTYPES.get(dtype, "<u1")).itemsize
    count = chance.choice((0, 1, len(content) // size + 1, max(0, len(content) // size - 1), 2 * len(content) // size))
    return dtype, [count], (content * 2 + bytes(size))[: count * size].ljust(count * size, b"\0")


def _changed_values(chance: random.Random, dtype: str, content: bytes) -> bytes:
    values = np.frombuffer(content, _DTYPES.get(dtype, "<u1")).copy()
    if not len(values):
        return content
    count = chance.choice((1, 1, 10, len(values)))
    places = np.array([chance.randrange(len(values)) for _ in range(min(count, 1000))])
    places = np.arange(len(values)) if count == len(values) else places
    if values.dtype.kind == "f":
        values[places] = chance.choice(_FLOATS)
    else:
        info = np.iinfo(values.dtype)
        values[places] = chance.choice((info.min, info.max, 0, 1, info.max // 2, info.min // 2))
    return values.tobytes()


@functools.cache
def zeros_bomb() -> bytes:
    """Return 256 MB of zeros, compressed."""
    packer = zlib.compressobj(9)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(256)) + packer.flush()


def _recompressed(chance: random.Random, content: bytes) -> bytes:
    """Change what a compressed array contains; one in twenty is a bomb of 256 MB."""
    if sometimes(chance, 0.05):
        return zeros_bomb()
    try:
        plain = zlib.decompress(content)
    except zlib.error:
        return flip_bytes(chance, content)
    if sometimes(chance, 0.3):
        return flip_bytes(chance, content)
    plain = chance.choice((flip_bytes(chance, plain), plain + b"\0", plain[:-1], b"\xff" * len(plain), plain * 2, b""))
    return zlib.compress(plain, 1)
