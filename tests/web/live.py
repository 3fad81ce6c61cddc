"""A server that really listens, on a thread of this process; and waiting for conditions."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import uvicorn

from tests.process import HANG_SECONDS
from tilewright.web.app import make_app
from tilewright.web.executors import BoundedExecutor
from tilewright.web.limits import Limits
from tilewright.web.server import bind, configure, url_of
from tilewright.web.state import ServerState

__all__ = ["HANG_SECONDS", "PATIENT", "Live", "blocked", "blocked_files", "listening", "wait_until"]

_POLL_SECONDS = 0.01
PATIENT = Limits(search_seconds=HANG_SECONDS, silent_seconds=HANG_SECONDS, job_seconds=HANG_SECONDS)


class Live(NamedTuple):
    url: str  # without a slash at the end
    server: ServerState


def wait_until(holds: Callable[[], bool], pause: Callable[[float], None] = time.sleep) -> None:
    """Wait for a condition; `pause` waits some seconds."""
    deadline = time.monotonic() + HANG_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "the condition never holds"
        pause(_POLL_SECONDS)


@contextmanager
def listening(
    runs: Path, limits: Limits | None = None, agents: Sequence[str] = (), origins: Sequence[str] = ()
) -> Iterator[Live]:
    """Serve a runs folder on a free port."""
    socket = bind("127.0.0.1", 0)
    app = make_app(runs, limits or PATIENT, agents=agents, origins=origins)
    server = uvicorn.Server(configure(app, app.state.server.limits))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    try:
        yield Live(url_of(socket).rstrip("/"), app.state.server)
    finally:
        server.should_exit = True
        thread.join(HANG_SECONDS)
        socket.close()


@contextmanager
def blocked(server: ServerState) -> Iterator[int]:
    """Keep every thread for searches busy; yields their number."""
    wait_until(lambda: server.executors.slow.pending == 0)
    with _blocked(server.executors.slow):
        yield server.executors.slow.threads


@contextmanager
def blocked_files(server: ServerState) -> Iterator[None]:
    """Keep every thread for files busy, as a slow disk does."""
    with _blocked(server.executors.files):
        yield


@contextmanager
def _blocked(executor: BoundedExecutor) -> Iterator[None]:
    started, gate = threading.Semaphore(0), threading.Event()

    def block() -> None:
        started.release()
        gate.wait(HANG_SECONDS)

    for _ in range(executor.threads):
        executor.submit(block)
    for _ in range(executor.threads):
        assert started.acquire(timeout=HANG_SECONDS)
    try:
        yield
    finally:
        gate.set()
