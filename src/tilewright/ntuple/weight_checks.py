"""What kernels rely on in the weights of a network, whoever made them.

A promoting network marks the weights of later stages that were never written, and a kernel that meets the mark reads
the same weight of the stage before. In the first stage there is nothing before: a mark there leads out of the table.
"""

from collections.abc import Iterator

import numpy as np

from tilewright._core.files import forget_pages
from tilewright.ntuple.stages import UNWRITTEN, UNWRITTEN_16, Weights

__all__ = ["MAX_WEIGHT", "find_fault", "pieces"]

MAX_WEIGHT = 1e30  # far beyond all points, and a sum of all look-ups stays finite in 32 bits
_PIECE = 1 << 22  # weights


def pieces(weights: Weights) -> Iterator[Weights]:
    """Yield the weights in chunks; those of a mapped file do not stay in memory."""
    for begin in range(0, len(weights), _PIECE):
        yield weights[begin : begin + _PIECE]
        forget_pages(weights)


def find_fault(weights: Weights, promoted_from: int | None = None) -> str:
    """Return what is wrong with weights, in words; nothing if kernels can read them.

    >>> find_fault(np.array([0.5, np.nan], np.float32))
    'weight 1 is nan'

    Args:
        weights: float32[n] or int16[n].
        promoted_from: The index from which on weights may be marked as unwritten; None for nowhere.
    """
    is_16_bits = weights.dtype == np.int16
    mark = weights.dtype.type(UNWRITTEN_16 if is_16_bits else UNWRITTEN)
    begin = 0
    for piece in pieces(weights):
        is_mark = piece == mark
        bad = is_mark.copy()
        if promoted_from is not None:
            bad[max(0, promoted_from - begin) :] = False
        if not is_16_bits:
            bad |= ~is_mark & ~(np.abs(piece) <= np.float32(MAX_WEIGHT))
        if bad.any():
            i = int(bad.argmax())
            what = "marked as unwritten, which only later stages can be" if is_mark[i] else f"{piece[i]:g}"
            return f"weight {begin + i:,} is {what}"
        begin += len(piece)
    return ""
