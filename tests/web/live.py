"""A server that really listens, on a thread of this process; and waiting for conditions."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import uvicorn

from tilewright.web.app import make_app
from tilewright.web.limits import Limits
from tilewright.web.server import bind, url_of
from tilewright.web.state import ServerState

__all__ = ["HANG_SECONDS", "Live", "blocked", "listening", "wait_until"]

HANG_SECONDS = 600  # after which a test counts as hanging; no test depends on less
_POLL_SECONDS = 0.01


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
def listening(runs: Path, limits: Limits | None = None, agents: Sequence[str] = ()) -> Iterator[Live]:
    """Serve a runs folder on a free port."""
    socket = bind("127.0.0.1", 0)
    app = make_app(runs, limits, agents=agents)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
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
    slow, gate = server.executors.slow, threading.Event()
    wait_until(lambda: slow.pending == 0)
    started = threading.Semaphore(0)

    def block() -> None:
        started.release()
        gate.wait(HANG_SECONDS)

    for _ in range(slow.threads):
        slow.submit(block)
    for _ in range(slow.threads):
        assert started.acquire(timeout=HANG_SECONDS)
    try:
        yield slow.threads
    finally:
        gate.set()
