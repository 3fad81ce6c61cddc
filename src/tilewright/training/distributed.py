"""Training on many machines: workers learn apart, and combine what they have learned every so many minutes.

Every worker is a process of a Ray cluster with a network of its own. It plays for a fraction of a second at a time, as
the threads of one process do, but the others see its updates only when the workers synchronise. A synchronised
weight is the mean of the weights of those workers that changed it, each with the share of its updates (the growth of
its sum A); the sums E and A of temporal coherence add up. Most weights are changed by a single worker between two
synchronisations, and are taken over as they are: a plain mean over all workers would undo most of what each learned.

The process that runs the session, the driver, keeps the synchronised network. It alone evaluates, takes snapshots,
collects start boards and saves, so a run can be stopped, killed and resumed like any other. A worker that is lost is
started again from the synchronised network; what it learned since then is lost.

Arrays travel in pieces: neither side ever holds a second network.
"""

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.cluster import Cluster, WorkerLostError
from tilewright._core.config import config_from_toml
from tilewright._core.files import Tensors
from tilewright.errors import ClusterError
from tilewright.games.policy import GameResults
from tilewright.learning.start_states import StartPool
from tilewright.training.config import TrainingConfig
from tilewright.training.schedule import Phase
from tilewright.training.trainer import FIRST_PHASE, Trainer

__all__ = ["DistributedTrainer", "TrainingWorker", "combine"]

PIECE = 1 << 21  # weights that travel at once: 24 MB with the sums of temporal coherence
MAX_LOSSES = 10  # of one worker, while the same games are played
Part: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]  # weights, and their sums E and A; none if fixed


class TrainingWorker:
    """A network in a process of the cluster, as its driver sees it."""

    def __init__(self, config: str) -> None:
        self._trainer = Trainer(config_from_toml(TrainingConfig, config))
        self._trainer.warm_up()

    def learn(self, first: int, count: int, phase: Phase, alpha: float, starts: StartPool | None) -> GameResults:
        """Learn from some games; `starts` is None if they have not changed since the last call."""
        self._trainer.alpha[0] = alpha
        if starts is not None:
            self._trainer.starts = StartPool._make(np.array(column) for column in starts)
        return self._trainer.learn(first, count, phase)

    def read(self, begin: int, end: int) -> Part:
        """Return a piece of the network."""
        return self._trainer.weights[begin:end], self._trainer.sums[2 * begin : 2 * end]

    def write(self, begin: int, weights: NDArray[np.float32], sums: NDArray[np.float32]) -> None:
        """Replace a piece of the network."""
        self._trainer.weights[begin : begin + len(weights)] = weights
        self._trainer.sums[2 * begin : 2 * begin + len(sums)] = sums


def combine(weights: NDArray[np.float32], sums: NDArray[np.float32], parts: Iterable[Part]) -> None:
    """Take what several workers learned into the weights that all of them started from.

    Args:
        weights: float32[n], the weights at the last synchronisation, changed in place.
        sums: float32[2 * n], their sums E and A, changed in place; empty for fixed step sizes.
        parts: Weights and sums of each worker.

    >>> weights = np.array([5, 5, 5], np.float32)
    >>> sums = np.array([0, 1, 0, 1, 0, 1], np.float32)
    >>> one = np.array([5, 6, 6], np.float32), np.array([0, 1, 2, 3, 2, 3], np.float32)
    >>> two = np.array([5, 5, 2], np.float32), np.array([0, 1, 0, 1, -6, 7], np.float32)
    >>> combine(weights, sums, [one, two])
    >>> weights.tolist(), sums.tolist()
    ([5.0, 6.0, 3.0], [0.0, 1.0, 2.0, 3.0, -4.0, 9.0])
    """
    old, old_sums = weights.copy(), sums.copy()
    changed_by = np.zeros(len(weights), np.int32)
    total, mean = np.zeros(len(weights)), np.zeros(len(weights))
    for new, new_sums in parts:
        changed = new != old
        share = np.ones(len(weights))
        if len(sums):
            changed |= (new_sums != old_sums).reshape(-1, 2).any(axis=1)
            growth = new_sums[1::2].astype(np.float64) - old_sums[1::2]
            share = np.maximum(growth, np.finfo(np.float32).tiny)  # A of a million does not feel an error of 0.01
        only = changed & (changed_by == 0)
        again = changed & (changed_by > 0)
        changed_by += changed
        total[changed] += share[changed]
        mean[changed] += (new[changed] - mean[changed]) * (share[changed] / total[changed])
        weights[only], weights[again] = new[only], mean[again]
        if len(sums):
            for which in (0, 1):
                own, before, now = sums[which::2], old_sums[which::2], new_sums[which::2]
                own[again] += now[again] - before[again]
                own[only] = now[only]


class DistributedTrainer(Trainer):
    """A trainer whose games are played by the workers of a cluster.

    Its own arrays are the synchronised network; `learn` does not change them, `synchronise` does.

    Attributes:
        bytes_moved: The number of bytes that synchronisations have sent and received.
        losses: The number of workers that were lost.
    """

    def __init__(self, config: TrainingConfig, cluster: Cluster, workers: int) -> None:
        super().__init__(config)
        self.bytes_moved = self.losses = 0
        self._cluster, self._count = cluster, workers
        self._stale = set(range(workers))  # those that have not seen the network as it is here
        self._has_learned = False
        self._starts_seen: list[StartPool | None] = [None] * workers
        self._lock = threading.Lock()
        self._idle: queue.SimpleQueue[int] = queue.SimpleQueue()
        for number in range(workers):
            self._idle.put(number)

    def warm_up(self) -> None:
        """Start the workers, which load or compile the kernels; those of evaluations are compiled here."""
        super().warm_up()
        self._workers = self._cluster.start_workers(
            TrainingWorker, self._count, self.config.replace(averaging=0.0).to_toml()
        )

    def learn(self, first: int, count: int, phase: Phase = FIRST_PHASE) -> GameResults:
        """Have a worker play some games and learn from them; see Trainer.

        Raises:
            ClusterError: Workers were lost again and again.
        """
        if not count:
            return super().learn(first, count, phase)
        number = self._idle.get()
        try:
            for _ in range(MAX_LOSSES):
                found = self._learn(number, first, count, phase)
                if found is not None:
                    return found
        finally:
            self._idle.put(number)
        raise ClusterError(f"a worker was lost {MAX_LOSSES} times while it played the same games")

    def _learn(self, number: int, first: int, count: int, phase: Phase) -> GameResults | None:
        """Have one worker learn; None if it was lost, and begins anew from the synchronised network."""
        if number in self._stale:
            for begin, end in self._pieces():
                weights, sums = self.weights[begin:end], self.sums[2 * begin : 2 * end]
                if not self._call([number], "write", begin, weights, sums):
                    return None
            self._stale.remove(number)
        starts = None if self._starts_seen[number] is self.starts else self.starts
        found = self._call([number], "learn", first, count, phase, float(self.alpha[0]), starts)
        if not found:
            return None
        self._starts_seen[number], self._has_learned = self.starts, True
        return GameResults._make(found[0])

    def synchronise(self) -> None:
        """Take what the workers have learned into the network, and give it to all of them; no games may be played."""
        if not self._has_learned:
            return
        for begin, end in self._pieces():
            weights, sums = self.weights[begin:end], self.sums[2 * begin : 2 * end]
            combine(weights, sums, self._call(self._fresh(), "read", begin, end))
            self._call(self._fresh(), "write", begin, weights, sums)
        self._has_learned = False

    def start_next_stage(self, stage: int) -> None:
        """End a stage; see Trainer. The workers get the mean of its snapshots."""
        super().start_next_stage(stage)
        self._stale = set(range(self._count))

    def restore(self, tensors: Tensors) -> None:
        """Copy the arrays of a checkpoint; see Trainer."""
        super().restore(tensors)
        self._stale = set(range(self._count))

    def _pieces(self) -> Iterator[tuple[int, int]]:
        for begin in range(0, len(self.weights), PIECE):
            yield begin, min(begin + PIECE, len(self.weights))

    def _fresh(self) -> list[int]:
        return [number for number in range(self._count) if number not in self._stale]

    def _call(self, numbers: list[int], method: str, *arguments: object) -> list[Any]:
        """Call a method of several workers at once.

        Returns:
            The results of those that were not lost.
        """
        found = []
        for number, result in zip(numbers, self._workers.call(numbers, method, *arguments), strict=True):
            if isinstance(result, WorkerLostError):
                self._lose(number)
            else:
                found.append(result)
        with self._lock:
            self.bytes_moved += len(numbers) * sum(map(_bytes_of, arguments)) + sum(map(_bytes_of, found))
        return found

    def _lose(self, number: int) -> None:
        """Note that a worker has to begin anew from the synchronised network."""
        with self._lock:
            self.losses += 1
            self._stale.add(number)
            self._starts_seen[number] = None


def _bytes_of(value: object) -> int:
    """The size of the arrays of a network among the arguments or results of a call."""
    parts = value if type(value) is tuple else (value,)
    return sum(part.nbytes for part in parts if isinstance(part, np.ndarray))
