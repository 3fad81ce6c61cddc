"""Thread pools with bounded queues, so that a search never blocks the event loop.

Quick calls (a move by the rules, or one evaluation of a network) have threads of their own and never wait for a search.
One of these threads first loads the kernels that all others need.
Kernels release the GIL, so threads are enough.
"""

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from starlette.requests import Request

from tilewright._core.parallel import default_threads
from tilewright.errors import TilewrightError
from tilewright.web.limits import Limits
from tilewright.web.searches import Search

__all__ = ["BoundedExecutor", "BusyError", "Executors"]

P = ParamSpec("P")
T = TypeVar("T")
_LOW_PRIORITY = 10  # the "nice" value of threads that search
_POLL_SECONDS = 0.05  # how often a search is checked for its time, and for a client that has gone away


class BusyError(TilewrightError):
    """The server has as much work as it accepts at once."""


class BoundedExecutor:
    """A thread pool whose queue has a limit."""

    def __init__(self, name: str, threads: int, waiting: int, *, low_priority: bool = False) -> None:
        """Start a pool.

        Args:
            name: The prefix of the names of the threads.
            threads: The number of threads.
            waiting: The largest number of calls in the queue.
            low_priority: Whether other threads of the process run first.
        """
        self._pool = ThreadPoolExecutor(threads, name, _lower_priority if low_priority else None)
        self._limit = threads + waiting
        self._pending = 0
        self._lock = threading.Lock()
        self.threads = threads

    @property
    def pending(self) -> int:
        """The number of calls that wait or run."""
        return self._pending

    def submit(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """Queue a call.

        Raises:
            BusyError: The queue is full.
        """
        with self._lock:
            if self._pending >= self._limit:
                raise BusyError("the server is busy; ask again in a moment")
            self._pending += 1
        future = self._pool.submit(work, *args, **kwargs)
        future.add_done_callback(self._on_done)
        return future

    def _on_done(self, future: "Future[T]") -> None:
        with self._lock:
            self._pending -= 1

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `work` on a thread and wait for its result.

        A call whose waiting task is cancelled while it is in the queue is not started.
        """
        return await asyncio.wrap_future(self.submit(work, *args, **kwargs))

    async def run_search(
        self, search: Search, request: Request | None, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call `work`, which searches, on a thread for a client that may go away.

        Work whose client has gone away, or whose waiting task is cancelled, is not started, or stopped if it runs: a
        page that asks about a new board drops its last question.

        Args:
            search: Stops the work.
            request: The request of the client; None where the waiting task is cancelled when the client goes away.
            work: The work.
            args: Its arguments.
            kwargs: Its keyword arguments.

        Raises:
            BusyError: The queue is full, or the client has gone away.
            TooSlowError: The search took too long.
        """
        future = asyncio.ensure_future(self.run(work, *args, **kwargs))
        try:
            while not (await asyncio.wait([future], timeout=_POLL_SECONDS))[0]:
                if request is not None and await request.is_disconnected():
                    raise BusyError("the client has gone away")
                search.check_time()
            return await future
        finally:
            if not future.done():
                search.stop()
                future.cancel()

    def close(self) -> None:
        """Drop the calls in the queue and stop the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _lower_priority() -> None:
    """Let other threads of the server run first; only Linux has priorities for single threads."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOW_PRIORITY)


class Executors:
    """The thread pools of one server.

    Attributes:
        quick: For calls that take no more than some milliseconds.
        files: For whatever reads the runs folder, whose disk may be slow.
        slow: For searches, and for whatever may load a model or compile kernels.
        jobs: For evaluations and reviews.
    """

    def __init__(self, limits: Limits) -> None:
        """Start the threads."""
        self.quick = BoundedExecutor("quick", 2, limits.waiting)
        self.files = BoundedExecutor("files", 1, limits.waiting)
        self.slow = BoundedExecutor("slow", default_threads(), limits.waiting, low_priority=True)
        self.jobs = BoundedExecutor("job", max(2, default_threads()), limits.jobs, low_priority=True)

    def _all(self) -> tuple[BoundedExecutor, ...]:
        return self.quick, self.files, self.slow, self.jobs

    @property
    def is_idle(self) -> bool:
        """Whether no call waits or runs."""
        return not any(executor.pending for executor in self._all())

    def close(self) -> None:
        """Stop all threads."""
        for executor in self._all():
            executor.close()
