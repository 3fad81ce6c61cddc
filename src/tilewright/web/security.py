"""Checks before any other code, for HTTP and WebSockets alike: the host, the origin, the size of the body.

A page of another site cannot use this server through the browser of its visitor. Browsers send the site of the page as
`Origin`, which must be this server. A foreign name that resolves to this machine (DNS rebinding) is not among the
allowed hosts.
"""

import json
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tilewright.web.limits import Limits

__all__ = ["LOOPBACK", "SecurityMiddleware", "is_loopback"]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_READING = ("GET", "HEAD", "OPTIONS")  # methods without a body
_HEADERS = [
    (b"content-security-policy", b"default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-cache"),
]


def is_loopback(host: str) -> bool:
    """Return whether a host can be reached from this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, False)
    """
    return host in LOOPBACK or host.startswith("127.")


class SecurityMiddleware:
    """Refuses foreign hosts, foreign pages and large bodies; adds security headers to every answer."""

    def __init__(self, app: ASGIApp, limits: Limits, hosts: Iterable[str] | None) -> None:
        """Wrap an application.

        Args:
            app: The application.
            limits: The limits of the server.
            hosts: The host names that requests may use; None for any.
        """
        self._app, self._limits = app, limits
        self._hosts = None if hosts is None else frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        reason = self._refusal(scope, headers.get(b"host", ""), headers.get(b"origin"))
        if scope["type"] == "websocket":
            await (self._app(scope, receive, send) if reason is None else _close(receive, send))
            return
        send = _with_headers(send)
        if reason is not None:
            await _refuse(send, 403, reason)
            return
        if scope["method"] in _READING:
            await self._app(scope, receive, send)
            return
        limit = self._limits.recording if scope["path"].endswith("/reviews") else self._limits.body
        body = await _read_body(receive, headers.get(b"content-length", "0"), limit)
        if body is None:
            await _refuse(send, 413, f"the request is larger than {limit:,} bytes")
            return
        await self._app(scope, _replay(body, receive), send)

    def _refusal(self, scope: Scope, host: str, origin: str | None) -> str | None:
        """Return why a request is refused, or None."""
        if self._hosts is not None and _host_name(host) not in self._hosts:
            return "this server does not answer to that host name"
        only_reads = scope["type"] == "http" and scope["method"] in _READING
        if origin is not None and not only_reads and _location(origin) != host:
            return "requests from other sites are refused"
        return None


def _location(origin: str) -> str:
    """`http://localhost:2048` -> `localhost:2048`."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _host_name(host: str) -> str:
    """`localhost:2048` -> `localhost`, `[::1]:2048` -> `::1`."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


async def _read_body(receive: Receive, length: str, limit: int) -> bytes | None:
    """Return the whole body of a request; None as soon as it is too large."""
    if not length.isascii() or not length.isdigit() or len(length) > 12 or int(length) > limit:
        return None
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return bytes(body)
        body += message.get("body", b"")
        if len(body) > limit:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that delivers a body that has been read already."""
    delivered = False

    async def receive_again() -> Message:
        nonlocal delivered
        if delivered:
            return await receive()
        delivered = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *_HEADERS]
        await send(message)

    return send_with_headers


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = json.dumps({"reason": reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _close(receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "websocket.close", "code": 1008})
