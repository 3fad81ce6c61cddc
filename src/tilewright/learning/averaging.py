"""Averaging of weights: the mean of several snapshots of a network that learns.

Every update moves the weights towards one sampled return, so the last weights carry the noise of the last games. The
mean of snapshots along the way has less of it (Polyak & Juditsky 1992; for deep networks stochastic weight averaging,
Izmailov et al. 2018). The value of a board is a sum of weights, so the value by the mean weights is exactly the mean of
the values by the snapshots. Learning goes on from its own weights: averaging only watches.

With weight promotion, a weight that is not written yet stands for that of the stage before. A mean counts it so: it
stays unwritten as long as no snapshot has written it, and it begins with the mean of the stage before when one has.
"""

import numpy as np
from numpy.typing import NDArray

from tilewright._core.parallel import parallel_for
from tilewright.ntuple.stages import UNWRITTEN

__all__ = ["WeightAverage"]

_PIECE = 1 << 16  # weights: small enough for the cache of a processor
_MARK = np.float32(UNWRITTEN)


class WeightAverage:
    """The mean of the snapshots taken so far.

    Attributes:
        mean: float32[n], the mean weights; empty before the first snapshot.
        snapshots: int64[1], the number of snapshots.

    Args:
        promoted_from: The index of the first weight of the second stage, where stages promote; None for no promotion.

    >>> average = WeightAverage()
    >>> for weights in ([1, 0, 4], [2, 0, 5], [6, 3, 0]):
    ...     average.add(np.array(weights, np.float32))
    >>> average.mean.tolist()
    [3.0, 1.0, 3.0]
    """

    def __init__(self, promoted_from: int | None = None) -> None:
        self._promoted_from = promoted_from
        self.mean = np.zeros(0, np.float32)
        self.snapshots = np.zeros(1, np.int64)

    def add(self, weights: NDArray[np.float32], threads: int = 1) -> None:
        """Take a snapshot into the mean.

        Args:
            weights: float32[n], the weights as they are now; not changed.
            threads: The number of threads that share the work.
        """
        if not self.snapshots[0]:
            self.mean = np.empty(len(weights), np.float32)
        self.snapshots += 1
        part = len(weights) if self._promoted_from is None else self._promoted_from
        step = np.float32(1 / self.snapshots[0])

        def work(first: int, count: int) -> None:
            for begin in range(first * _PIECE, min(part, (first + count) * _PIECE), _PIECE):
                places = [
                    slice(begin + base, min(begin + _PIECE, part) + base) for base in range(0, len(weights), part)
                ]
                _add_piece([self.mean[place] for place in places], [weights[place] for place in places], step)

        parallel_for(work, -(-part // _PIECE), threads)

    def clear(self) -> None:
        """Forget all snapshots."""
        self.mean = np.zeros(0, np.float32)
        self.snapshots[0] = 0


def _add_piece(means: list[NDArray[np.float32]], weights: list[NDArray[np.float32]], step: np.float32) -> None:
    """Move the means of the same piece of every stage by `step` towards the weights, the last stage first.

    The stages before still have their old means then, which a weight that is written for the first time begins with.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # weights that diverged are found later
        for stage in range(len(means) - 1, -1, -1):
            mean, now = means[stage], weights[stage]
            if step == 1:
                mean[:] = now
            elif stage == 0:
                mean += (now - mean) * step
            else:
                written = now > _MARK
                first_time = written & (mean <= _MARK)
                mean[first_time] = _promoted(means[:stage])[first_time]
                mean[written] += (now[written] - mean[written]) * step


def _promoted(means: list[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the means that a stage after these reads where it has none of its own."""
    found = means[0]
    for mean in means[1:]:
        found = np.where(mean <= _MARK, found, mean)
    return found
