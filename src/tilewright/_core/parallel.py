"""Distribute numbered pieces of work over threads; kernels release the GIL, so threads are enough."""

import math
import os
import threading
import time
from collections.abc import Callable
from numbers import Integral

from tilewright._core.text import excerpt
from tilewright.errors import UsageError

__all__ = ["check_threads", "default_threads", "parallel_for"]

_MOST_THREADS = 1024
_CHUNK_SECONDS = 0.1  # aim for a chunk: short enough for a smooth progress bar and a quick Ctrl-C
_PATIENCE = 2.0  # seconds after an error or Ctrl-C, before chunks are abandoned


def default_threads() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_threads(threads: object) -> None:
    """Raise UsageError unless a value is a possible number of threads."""
    if not isinstance(threads, Integral) or isinstance(threads, bool):
        raise UsageError(f"threads={excerpt(threads)}: must be a whole number")
    if int(threads) < 1:
        raise UsageError(f"threads={excerpt(threads)}: at least one is needed")
    if int(threads) > _MOST_THREADS:
        raise UsageError(f"threads={excerpt(threads)}: at most {_MOST_THREADS:,} are allowed")


def parallel_for(
    work: Callable[[int, int], None],
    count: int,
    threads: int,
    progress: Callable[[int], None] | None = None,
    until: Callable[[], bool] | None = None,
    abandon: Callable[[], None] | None = None,
) -> int:
    """Call `work(first, n)` for chunks of the numbers 0 to `count - 1`, each number once, on several threads.

    No further chunk is started after `until` returns True, after an error in a thread, or after Ctrl-C. Chunks that
    have started are finished first, so the numbers covered are always 0 to some number. With `abandon`, however, they
    have only two seconds for that after an error or Ctrl-C; then they are abandoned.

    Args:
        work: Called with the first number of a chunk and the size of the chunk.
        count: The number of numbers.
        threads: The number of threads, at least 1.
        progress: Called with the size of every finished chunk, from the thread that finished it.
        until: Asked before every chunk.
        abandon: Makes every call of `work` return soon, from any thread.

    Returns:
        How many numbers were covered.

    Raises:
        UsageError: `threads` is below 1 or above 1,024.
        BaseException: The first error that `work`, `progress` or `until` raised, or KeyboardInterrupt.
    """
    check_threads(threads)
    chunks = _Chunks(count, threads, until)
    pool = [threading.Thread(target=chunks.run, args=(work, progress), daemon=True) for _ in range(min(threads, count))]
    try:
        for thread in pool:
            thread.start()
        chunks.wait_for_all(len(pool))
        if chunks.error is not None:
            raise chunks.error
    except BaseException:
        try:
            chunks.stop()
            if abandon is not None:
                chunks.wait_for_begun(_PATIENCE)
        finally:  # a second Ctrl-C ends the wait
            if abandon is not None:
                abandon()
        raise
    finally:
        chunks.wait_for_begun()
    return chunks.covered


class _Chunks:
    """Hands out chunks of work whose size follows the speed of the last ones."""

    def __init__(self, count: int, threads: int, until: Callable[[], bool] | None) -> None:
        self.error: BaseException | None = None
        self.covered = 0
        self._begun = self._ended = 0  # threads
        self._count, self._threads, self._size = count, threads, 1
        self._until, self._stopped = until, False
        self._lock = threading.Lock()
        self._changed = threading.Condition()

    def stop(self) -> None:
        """Hand out no further chunk."""
        self._stopped = True

    def wait_for_all(self, threads: int) -> None:
        """Wait until all threads have ended, or one of them with an error.

        `Thread.join` would not do: up to Python 3.12, an interrupted join takes a running thread for a finished one.
        """
        with self._changed:
            while self._ended < threads and self.error is None:
                self._changed.wait(0.05)

    def wait_for_begun(self, seconds: float = math.inf) -> None:
        """Wait until the threads that have begun have ended; those that begin after `stop` get no chunk."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while self._ended < self._begun and time.monotonic() < deadline:
                self._changed.wait(0.05)

    def run(self, work: Callable[[int, int], None], progress: Callable[[int], None] | None) -> None:
        """Work on chunks until none is left; the body of every thread."""
        with self._changed:
            self._begun += 1
        try:
            while (chunk := self._take())[1]:
                start = time.perf_counter()
                work(*chunk)
                self._size = next_size(chunk[1], time.perf_counter() - start)
                if progress:
                    progress(chunk[1])
        except BaseException as error:  # noqa: BLE001  (raised again in the caller's thread)
            self.error = self.error or error
            self.stop()
        finally:
            with self._changed:
                self._ended += 1
                self._changed.notify()

    def _take(self) -> tuple[int, int]:
        """The first number of the next chunk and its size; a size of 0 when there is none."""
        with self._lock:
            if self._stopped or (self._until is not None and self._until()):
                return self.covered, 0
            left = self._count - self.covered
            size = max(1, min(self._size, left // self._threads))
            first, n = self.covered, min(size, left)
            self.covered += n
            return first, n


def next_size(size: int, seconds: float) -> int:
    """The size of the chunk after one of `size` numbers that took `seconds`: at most eight times as large."""
    return max(1, min(int(size * _CHUNK_SECONDS / max(seconds, 1e-6)), 8 * size))
