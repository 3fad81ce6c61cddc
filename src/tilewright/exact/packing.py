"""Distilled tables as bytes: boards of the free cells in order, differences between neighbours, 16-bit probabilities.

A board is four bits for each free cell; walls are the same in all boards. The boards are sorted as numbers, so that
neighbours differ little, and the bytes of the same weight are stored together, so that zeros are compressed away.
"""

import zlib

import numpy as np
from numpy.typing import NDArray

from tilewright._core.memory import check_memory
from tilewright.errors import FileError
from tilewright.exact.kernels import Keys, Space, Values, sum_boards

__all__ = ["STEPS", "pack_boards", "unpack_boards"]

STEPS = 65_535  # of a probability
_KEY_BYTES, _VALUE_BYTES = 8, 2
_LEVEL = 9


def pack_boards(space: Space, keys: Keys, values: Values) -> NDArray[np.uint8]:
    """Return boards and their probabilities compressed.

    Args:
        space: The problem.
        keys: Boards in any order, each once.
        values: Their probabilities, multiples of 1 / STEPS.
    """
    squeezed = _squeeze(space, keys)
    order = np.argsort(squeezed)
    steps = np.diff(squeezed[order], prepend=np.uint64(0))
    whole = np.rint(values[order] * STEPS).astype(np.uint64)
    planes = [*_bytes_of(steps, _KEY_BYTES), *_bytes_of(whole, _VALUE_BYTES)]
    return np.frombuffer(zlib.compress(b"".join(planes), _LEVEL), np.uint8)


def unpack_boards(space: Space, packed: NDArray[np.uint8], count: int) -> tuple[Keys, Values, NDArray[np.int64]]:
    """Return boards sorted by layer, their probabilities, and where each layer begins.

    The bytes are never decompressed beyond the length that they must have, whatever a file pretends.

    Args:
        space: The problem.
        packed: What `pack_boards` returned.
        count: The number of boards.

    Raises:
        FileError: There is not enough memory.
        ValueError: The bytes are something else.
    """
    size = (_KEY_BYTES + _VALUE_BYTES) * count
    check_memory(6 * size, f"a table of {count:,} boards", FileError)
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(packed.tobytes(), size + 1)
    except zlib.error as error:
        raise ValueError(f"it does not unpack: {error}") from None
    if len(found) != size or not stream.eof or stream.unused_data:
        raise ValueError("it does not unpack to the number of boards that it names")
    planes = np.frombuffer(found, np.uint8).reshape(_KEY_BYTES + _VALUE_BYTES, count)
    keys = _spread(space, np.cumsum(_number_of(planes[:_KEY_BYTES]), dtype=np.uint64))
    values = _number_of(planes[_KEY_BYTES:]).astype(np.float64) / STEPS
    sums = np.empty(count, np.int64)
    sum_boards(space, keys, sums)
    order = np.lexsort((keys, sums))
    sizes = np.bincount(sums // 2, minlength=1)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return keys[order], values[order], offsets


def _free_places(space: Space) -> list[int]:
    return [place for place in range(16) if int(space.free) >> 4 * place & 1]


def _squeeze(space: Space, keys: Keys) -> Keys:
    """Move the free cells together."""
    squeezed = np.zeros(len(keys), np.uint64)
    for i, place in enumerate(_free_places(space)):
        squeezed |= (keys >> np.uint64(4 * place) & np.uint64(15)) << np.uint64(4 * i)
    return squeezed


def _spread(space: Space, squeezed: Keys) -> Keys:
    """Move the free cells to their places, between the walls."""
    keys = np.full(len(squeezed), space.walls, np.uint64)
    for i, place in enumerate(_free_places(space)):
        keys |= (squeezed >> np.uint64(4 * i) & np.uint64(15)) << np.uint64(4 * place)
    return keys


def _bytes_of(numbers: Keys, width: int) -> list[bytes]:
    """The bytes of all numbers, the lowest ones of all first."""
    return [(numbers >> np.uint64(8 * i)).astype(np.uint8).tobytes() for i in range(width)]


def _number_of(planes: NDArray[np.uint8]) -> Keys:
    numbers = np.zeros(planes.shape[1], np.uint64)
    for i, plane in enumerate(planes):
        numbers |= plane.astype(np.uint64) << np.uint64(8 * i)
    return numbers
