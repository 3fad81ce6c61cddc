"""Runs the application: one process, one event loop, a socket that is bound before anything is promised."""

import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from tilewright.errors import UsageError
from tilewright.web.app import make_app
from tilewright.web.security import LOOPBACK, is_loopback

__all__ = ["bind", "serve", "url_of"]

_LARGEST_MESSAGE = 64 * 1024  # bytes from a visitor's socket


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens there; raises UsageError when it cannot."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=128)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = str(getattr(error, "strerror", None) or error).partition(" (while")[0]
        raise UsageError(f"cannot listen on {host}, port {port}: {reason}; --port takes another port") from None


def url_of(listening: socket.socket) -> str:
    """Where a browser on this machine finds the page."""
    host, port = listening.getsockname()[:2]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{name}:{port}/"


def serve(listening: socket.socket, host: str, runs: Path, *, open_browser: bool, ready: Callable[[], None]) -> None:
    """Serve until Ctrl-C."""
    app = make_app(runs, hosts=(*LOOPBACK, host) if is_loopback(host) else None)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws_max_size=_LARGEST_MESSAGE,
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)
    if open_browser:
        threading.Timer(0.5, webbrowser.open, [url_of(listening)]).start()
    ready()
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        listening.close()
