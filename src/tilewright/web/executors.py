"""Threads for whatever computes, so that the server itself never waits for a search.

There are two lanes: quick calls (a move by rules or by one look at a network) never stand behind slow ones.
Kernels run without the GIL, so threads are all it takes.
"""

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.requests import Request

from tilewright._core.parallel import default_threads
from tilewright.errors import TilewrightError
from tilewright.web.limits import Limits

__all__ = ["BusyError", "Lane", "Lanes"]

T = TypeVar("T")
_PATIENCE = 10  # the "nice" value of threads that search
_LOOK_SECONDS = 0.05  # how often a visitor who waits is looked at


class BusyError(TilewrightError):
    """More is asked for than the server takes on at once."""


class Lane:
    """Some threads and a queue that is never longer than `waiting`; `patient` threads let all others go first."""

    def __init__(self, name: str, threads: int, waiting: int, *, patient: bool = False) -> None:
        self._pool = ThreadPoolExecutor(threads, name, be_patient if patient else None)
        self._most = threads + waiting
        self._count = 0
        self._lock = threading.Lock()

    def submit(self, work: Callable[..., T], *arguments: Any) -> "Future[T]":
        with self._lock:
            if self._count >= self._most:
                raise BusyError("the server is busy; ask again in a moment")
            self._count += 1
        future = self._pool.submit(work, *arguments)
        future.add_done_callback(self._finished)
        return future

    def _finished(self, future: "Future[Any]") -> None:
        with self._lock:
            self._count -= 1

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """Do it on a thread; what nobody waits for any more is not begun."""
        return await asyncio.wrap_future(self.submit(work, *arguments))

    async def run_for(self, request: Request, work: Callable[..., T], *arguments: Any) -> T:
        """The same for a visitor who may go away while it waits: a page that asks anew gives up its last question."""
        future = asyncio.ensure_future(self.run(work, *arguments))
        while not (await asyncio.wait([future], timeout=_LOOK_SECONDS))[0]:
            if await request.is_disconnected():
                future.cancel()
                raise BusyError("nobody waits for the answer any more")
        return await future

    @property
    def load(self) -> int:
        """How many calls wait or run."""
        return self._count

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def be_patient() -> None:
    """Let the server's other threads have a processor first; only Linux has priorities for single threads."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _PATIENCE)


class Lanes:
    """The lanes of one server."""

    def __init__(self, limits: Limits) -> None:
        self.quick = Lane("quick", 2, limits.waiting)
        self.slow = Lane("slow", default_threads(), limits.waiting, patient=True)
        self.jobs = Lane("job", max(2, default_threads()), limits.jobs, patient=True)

    def close(self) -> None:
        for lane in (self.quick, self.slow, self.jobs):
            lane.close()
