"""Spread numbered pieces of work over threads; kernels run without the GIL, so threads are all it takes."""

import os
import threading
import time
from collections.abc import Callable

from tilewright.errors import UsageError

__all__ = ["default_threads", "parallel_for"]

_CHUNK_SECONDS = 0.1  # how long one piece should take: short enough for a lively progress bar and a quick Ctrl-C


def default_threads() -> int:
    """As many threads as this process may use processors."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parallel_for(
    work: Callable[[int, int], None],
    count: int,
    threads: int,
    progress: Callable[[int], None] | None = None,
    until: Callable[[], bool] | None = None,
) -> int:
    """Call `work(first, n)` until all of `count` numbers are covered once, in pieces, on several threads.

    No new piece is begun once `until` is true, a thread raised an error, or Ctrl-C was pressed; those under way are
    finished, so that the numbers covered are always the first ones. Returns how many; errors and Ctrl-C are raised.
    """
    if threads < 1:
        raise UsageError(f"threads={threads}: at least one is needed")
    plan = _Plan(count, threads, until)
    pool = [threading.Thread(target=plan.run, args=(work, progress), daemon=True) for _ in range(min(threads, count))]
    try:
        for thread in pool:
            thread.start()
        for _ in pool:
            # Not `thread.join`: up to Python 3.12 an interrupted one takes a running thread for a finished one.
            while not plan.ended.acquire(timeout=0.05):
                pass
    except BaseException:
        plan.stop()
        raise
    finally:
        for thread in pool:
            if thread.ident is not None:
                thread.join()
    if plan.error is not None:
        raise plan.error
    return plan.covered


class _Plan:
    """Hands out pieces, sized by how fast the last ones were."""

    def __init__(self, count: int, threads: int, until: Callable[[], bool] | None) -> None:
        self.error: BaseException | None = None
        self.covered = 0
        self.ended = threading.Semaphore(0)  # one for every thread that is done
        self._count, self._threads, self._size = count, threads, 1
        self._until, self._stopped = until, False
        self._lock = threading.Lock()

    def stop(self) -> None:
        self._stopped = True

    def _take(self) -> tuple[int, int]:
        with self._lock:
            if self._stopped or (self._until is not None and self._until()):
                return self.covered, 0
            left = self._count - self.covered
            size = max(1, min(self._size, left // self._threads))
            first, n = self.covered, min(size, left)
            self.covered += n
            return first, n

    def run(self, work: Callable[[int, int], None], progress: Callable[[int], None] | None) -> None:
        try:
            while (piece := self._take())[1]:
                began = time.perf_counter()
                work(*piece)
                seconds = max(time.perf_counter() - began, 1e-6)
                self._size = max(1, min(int(piece[1] * _CHUNK_SECONDS / seconds), 8 * piece[1]))
                if progress:
                    progress(piece[1])
        except BaseException as error:  # noqa: BLE001  (handed to the caller's thread)
            self.error = self.error or error
            self.stop()
        finally:
            self.ended.release()
