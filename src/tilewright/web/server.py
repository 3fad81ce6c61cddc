"""Runs the application: one process, one event loop, and a socket that is bound before anything is announced."""

import logging
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from tilewright.errors import UsageError
from tilewright.web.app import make_app
from tilewright.web.connections import connection_type
from tilewright.web.limits import Limits
from tilewright.web.security import LOOPBACK, is_loopback

__all__ = ["bind", "configure", "serve", "url_of"]


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address.

    Args:
        host: A host name or an address of this machine.
        port: A port number; 0 for any free port.

    Raises:
        UsageError: The address cannot be used. Its `__cause__` is the error of the operating system.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=128)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = str(getattr(error, "strerror", None) or error).partition(" (while")[0]
        raise UsageError(f"cannot listen on {host}, port {port}: {reason}") from error


def url_of(listening: socket.socket) -> str:
    """Return the URL of the page for a browser on this machine."""
    host, port = listening.getsockname()[:2]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{name}:{port}/"


def _is_ours(record: logging.LogRecord) -> bool:
    """Tell whether a message of the log is about the server; what clients send over sockets is not text at times."""
    return not record.getMessage().startswith("Invalid UTF-8 sequence received from client")


def configure(app: FastAPI, limits: Limits) -> uvicorn.Config:
    """Return how the application is served; malformed requests are answered, and not logged."""
    logging.getLogger("uvicorn.error").addFilter(_is_ours)
    return uvicorn.Config(
        app,
        http=connection_type(limits),
        log_level="error",
        access_log=False,
        server_header=False,
        ws_max_size=limits.body,
        timeout_graceful_shutdown=1,
    )


class _Server(uvicorn.Server):
    """Calls a function as soon as requests are answered; if it fails, as where standard output is full, it stops."""

    def __init__(self, app: FastAPI, on_ready: Callable[[], None]) -> None:
        super().__init__(configure(app, app.state.server.limits))
        self._on_ready = on_ready
        self.failure: OSError | None = None  # of the function

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call the function."""
        await super().startup(sockets)
        if not self.should_exit:
            try:
                self._on_ready()
            except OSError as error:
                self.failure, self.should_exit = error, True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop; requests that wait for a search or a compilation are given up, and uvicorn says nothing of them."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        await super().shutdown(sockets)


def serve(
    listening: socket.socket,
    host: str,
    runs: Path,
    *,
    agents: Sequence[str] = (),
    origins: Sequence[str] = (),
    open_browser: bool,
    on_ready: Callable[[], None],
) -> bool:
    """Serve the page until Ctrl-C.

    Args:
        listening: A socket of `bind`, closed at the end.
        host: The host that the socket was bound to. On a loopback host, requests for other host names are refused.
        runs: The folder of training runs.
        agents: Specs of agents to offer in addition to all registered ones.
        origins: The origins of other sites whose pages may read from the API.
        open_browser: Whether to open the page in a browser.
        on_ready: Called when the server answers requests.

    Returns:
        True if all threads are idle; Python waits for the others before it exits, however long they compile or search.

    Raises:
        OSError: Raised by `on_ready`.
    """

    def announce() -> None:
        on_ready()
        if open_browser:
            threading.Thread(target=webbrowser.open, args=[url_of(listening)], daemon=True).start()

    hosts = (*LOOPBACK, host) if is_loopback(host) else None
    app = make_app(runs, hosts=hosts, agents=agents, origins=origins)
    try:
        running = _Server(app, announce)
        running.run(sockets=[listening])
        if running.failure is not None:
            raise running.failure
    except KeyboardInterrupt:
        pass
    finally:
        listening.close()
    is_idle: bool = app.state.server.executors.is_idle
    return is_idle
