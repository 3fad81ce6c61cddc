"""A server that really listens, on a thread of this process."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import uvicorn

from tilewright.web.app import make_app
from tilewright.web.limits import Limits
from tilewright.web.server import bind, url_of
from tilewright.web.state import Site

__all__ = ["Live", "listening"]


class Live(NamedTuple):
    url: str  # without a slash at the end
    site: Site


@contextmanager
def listening(runs: Path, limits: Limits | None = None) -> Iterator[Live]:
    socket = bind("127.0.0.1", 0)
    app = make_app(runs, limits)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    try:
        yield Live(url_of(socket).rstrip("/"), app.state.site)
    finally:
        server.should_exit = True
        thread.join(30)
        socket.close()
