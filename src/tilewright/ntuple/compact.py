"""Compact weights, small enough to ship: 16 bits a weight, visited weights only, compressed.

A bit map marks the visited weights. Their values follow in order, with the sign as the lowest bit, so that small values
of either sign have a high byte of zero. High and low bytes are stored apart, and the high ones compress to nothing.
"""

import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import kernel, writable_view
from tilewright._core.memory import check_memory
from tilewright.errors import FileError
from tilewright.ntuple.stages import UNWRITTEN, UNWRITTEN_16, Weights
from tilewright.ntuple.weight_checks import pieces

__all__ = ["LARGEST", "MIN_QUANTUM", "pack", "quantised", "unpack"]

LARGEST = 32_767
MIN_QUANTUM = float(np.finfo(np.float32).tiny)  # kernels multiply by it in 32 bits, where smaller numbers are inexact
_LEVEL = 9
_PARTS = ("visited", "upper", "lower")


def quantised(weights: Weights, quantum: float = 0.0) -> tuple[NDArray[np.int16], float]:
    """Return the weights in 16 bits and their quantum: at least `quantum`; a larger one packs smaller."""
    reach = max(
        (float(np.abs(piece).max(initial=0, where=piece > UNWRITTEN)) for piece in pieces(weights)), default=0.0
    )
    quantum = max(quantum, reach / LARGEST)
    quantum = max(quantum, MIN_QUANTUM) if quantum else 1.0
    whole = np.empty(len(weights), np.int16)
    begin = 0
    for piece in pieces(weights):
        part = whole[begin : begin + len(piece)]
        written = piece > UNWRITTEN
        part[:] = np.rint(np.where(written, piece, 0) / np.float32(quantum))
        part[~written] = UNWRITTEN_16
        begin += len(piece)
    return whole, quantum


def pack(whole: NDArray[np.int16], promoted_from: int | None = None) -> dict[str, NDArray[np.uint8]]:
    """Return 16-bit weights compressed, as byte arrays.

    A weight that was not visited is 0; from index `promoted_from` on, in stages with promotion, it is unwritten.
    """
    visited = whole != _blank(len(whole), promoted_from)
    values = whole[visited]
    folded = ((values << 1) ^ (values >> 15)).view(np.uint16)
    parts = (np.packbits(visited), (folded >> 8).astype(np.uint8), folded.astype(np.uint8))
    with ThreadPoolExecutor() as pool:
        packed = pool.map(lambda part: zlib.compress(part, _LEVEL), [part.tobytes() for part in parts])
        return {name: np.frombuffer(part, np.uint8) for name, part in zip(_PARTS, packed, strict=True)}


def _blank(size: int, promoted_from: int | None) -> NDArray[np.int16]:
    """Return weights of which none was visited."""
    whole = np.zeros(size, np.int16)
    if promoted_from is not None:
        whole[promoted_from:] = UNWRITTEN_16
    return whole


def unpack(packed: Mapping[str, NDArray[np.uint8]], size: int, promoted_from: int | None = None) -> NDArray[np.int16]:
    """Return the 16-bit weights of the compressed form.

    A part is never decompressed beyond the length that it must have, whatever a file pretends.

    Args:
        packed: The parts by name.
        size: The number of weights.
        promoted_from: See `pack`.

    Raises:
        FileError: The parts are missing, damaged, or of a network of another size, or there is not enough memory.
    """
    marks = -(-size // 8)
    check_memory(2 * size + marks, f"a network of {size:,} weights", FileError)
    try:
        parts = [packed[name] for name in _PARTS]
        if any(part.dtype != np.uint8 or part.ndim != 1 for part in parts):
            raise ValueError("they are not bytes")
        visited = _decompress(parts[0], marks)
        count = int(np.bitwise_count(visited).sum(dtype=np.int64))
        if _marks_beyond(visited, size):
            raise ValueError("they are of a network of another size")
        check_memory(2 * size + marks + 2 * count, f"unpacking {count:,} weights", FileError)
        with ThreadPoolExecutor(2) as pool:
            high, low = pool.map(_decompress, parts[1:], (count, count))
        whole = _blank(size, promoted_from)
        _fill(whole, visited, high, low)
    except KeyError as error:
        raise FileError(f"the packed weights do not unpack: {error} is missing") from None
    except MemoryError:
        raise FileError(f"there is not enough memory for a network of {size:,} weights") from None
    except (zlib.error, ValueError) as error:
        raise FileError(f"the packed weights do not unpack: {error}") from None
    return whole


def _decompress(packed: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Decompress a part that has `size` bytes, no more and no less: NumPy would fill up or repeat what is missing."""
    stream = zlib.decompressobj()
    found = stream.decompress(packed.tobytes(), size + 1)
    if len(found) != size or not stream.eof or stream.unused_data:
        raise ValueError("they are of a network of another size")
    return writable_view(np.frombuffer(found, np.uint8))


def _marks_beyond(visited: NDArray[np.uint8], size: int) -> bool:
    """Tell whether one of the bits that fill up the last byte is set."""
    return bool(size % 8 and visited[-1] & (0xFF >> size % 8))


@kernel
def _fill(
    whole: NDArray[np.int16], visited: NDArray[np.uint8], high: NDArray[np.uint8], low: NDArray[np.uint8]
) -> None:
    """Write the values to where the marks are."""
    done = 0
    for i in range(len(visited)):
        marks = visited[i]
        if marks == 0:  # as most are: most of a large network was never visited
            continue
        for j in range(8):
            if marks & (0x80 >> j):
                folded = (np.int32(high[done]) << 8) | np.int32(low[done])
                whole[8 * i + j] = np.int16((folded >> 1) ^ -(folded & 1))
                done += 1
