"""Who may ask, and how much: checks that come before any other code, for HTTP and WebSocket alike.

A page of another site cannot use this server through its visitor's browser: browsers name the page's site in `Origin`,
which must be this server, and a name that was made to point here (DNS rebinding) is not among the allowed hosts.
"""

import json
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tilewright.web.limits import Limits

__all__ = ["LOOPBACK", "Guard", "is_loopback"]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HEADERS = [
    (b"content-security-policy", b"default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-cache"),
]


def is_loopback(host: str) -> bool:
    return host in LOOPBACK or host.startswith("127.")


class Guard:
    """Refuses foreign hosts, foreign pages and large bodies; adds the headers that every answer has."""

    def __init__(self, app: ASGIApp, limits: Limits, hosts: Iterable[str] | None) -> None:
        self._app, self._limits = app, limits
        self._hosts = None if hosts is None else frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        reason = self._refusal(scope, host, headers.get(b"origin"))
        if scope["type"] == "websocket":
            await (self._app(scope, receive, send) if reason is None else _close(receive, send))
            return
        if reason is not None:
            await _refuse(_with_headers(send), 403, reason)
            return
        if scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self._app(scope, receive, _with_headers(send))
            return
        most = self._limits.recording if scope["path"].endswith("/reviews") else self._limits.body
        body = await _whole_body(receive, headers.get(b"content-length", "0"), most)
        if body is None:
            await _refuse(_with_headers(send), 413, f"the request is larger than {most:,} bytes")
            return
        await self._app(scope, _replay(body, receive), _with_headers(send))

    def _refusal(self, scope: Scope, host: str, origin: str | None) -> str | None:
        """Why a request is refused, or None."""
        if self._hosts is not None and _host_name(host) not in self._hosts:
            return "this server is not known by that name"
        safe = scope["type"] == "http" and scope["method"] in ("GET", "HEAD", "OPTIONS")
        if origin is not None and not safe and _place_of(origin) != host:
            return "requests from other sites are refused"
        return None


def _place_of(origin: str) -> str:
    """`http://localhost:2048` -> `localhost:2048`"""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _host_name(host: str) -> str:
    """`localhost:2048` -> `localhost`, `[::1]:2048` -> `::1`"""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


async def _whole_body(receive: Receive, length: str, most: int) -> bytes | None:
    """All of a request's body; None as soon as it is too large."""
    if not length.isascii() or not length.isdigit() or len(length) > 12 or int(length) > most:
        return None
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return bytes(body)
        body += message.get("body", b"")
        if len(body) > most:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _with_headers(send: Send) -> Send:
    async def add(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *_HEADERS]
        await send(message)

    return add


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = json.dumps({"reason": reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _close(receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "websocket.close", "code": 1008})
