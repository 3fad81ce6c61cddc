"""Checks before any other code, for HTTP and WebSockets alike: the host, the origin, the size of the body.

A page of another site cannot use this server through the browser of its visitor. Browsers send the site of the page as
`Origin` with whatever changes something, which must be this server, and say in `Sec-Fetch-Site` where any request comes
from: the API answers to the page of this server, to what its visitor types, and to programs, which send neither. A
foreign name that resolves to this machine (DNS rebinding) is not among the allowed hosts.

The server may be started with origins that it trusts. Their pages can read from the API (GET), and nothing else.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tilewright._core.text import excerpt
from tilewright.errors import UsageError
from tilewright.web.limits import Limits

__all__ = ["LOOPBACK", "SecurityMiddleware", "check_origin", "is_loopback"]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_READING = ("GET", "HEAD", "OPTIONS")  # methods without a body
_ONCE = (b"host", b"origin", b"sec-fetch-site", b"content-length", b"content-type")  # headers that decide something
_OWN_REQUESTS = ("same-origin", "none")  # of Sec-Fetch-Site: our own page, and what a visitor types
_LONG = ("/reviews", "/replays")  # what has a whole game in it
_API, _DESCRIPTION = "/api/", "/api/v1/openapi.json"  # only the description is computed once for all
_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?")  # as browsers send it: letters beyond are encoded
_ADDRESS = re.compile(r"[0-9a-f:.]*:[0-9a-f:.]*")
_SCHEMES = {"ws": "http", "wss": "https"}  # of a socket -> of the page that opens it
_POLICY = (
    b"default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    b"frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-cache"),
]
_OWN_RESOURCES = [(b"cross-origin-resource-policy", b"same-origin")]


def is_loopback(host: str) -> bool:
    """Return whether a host can be reached from this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, False)
    """
    return host in LOOPBACK or host.startswith("127.")


def check_origin(origin: str) -> str:
    """Return an origin as browsers write it.

    >>> check_origin("https://Example.org")
    'https://example.org'

    Raises:
        UsageError: It is not an exact origin: `*`, `null`, a path and a user name are refused.
    """
    try:
        parts = urlsplit(origin)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    host = parts.hostname or ""
    is_default = port == {"http": 80, "https": 443}.get(parts.scheme)
    is_address = parts.netloc.startswith("[")
    name = f"[{host}]" if is_address else host
    exact = f"{parts.scheme}://{name}" + ("" if port is None or is_default else f":{port}")
    written = f"{parts.scheme}://{parts.netloc}".lower()
    is_origin = parts.scheme in ("http", "https") and "@" not in parts.netloc
    is_origin &= (_ADDRESS if is_address else _HOST).fullmatch(host) is not None and not parts.netloc.endswith(":")
    if not is_origin or origin.lower() != written:
        raise UsageError(
            f"{excerpt(origin)} is not an origin: give only scheme, host and port, such as https://example.org"
        )
    return exact


class SecurityMiddleware:
    """Refuses foreign hosts, foreign pages and large bodies; adds security headers to every answer."""

    def __init__(self, app: ASGIApp, limits: Limits, hosts: Iterable[str] | None, origins: Iterable[str] = ()) -> None:
        """Wrap an application.

        Args:
            app: The application.
            limits: The limits of the server.
            hosts: The host names that requests may use; None for any.
            origins: The origins of other sites whose pages may read from the API.
        """
        self._app, self._limits = app, limits
        self._hosts = None if hosts is None else frozenset(hosts)
        self._origins = frozenset(check_origin(origin) for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        status, reason = self._refusal(scope, headers)
        if scope["type"] == "websocket":
            await (self._app(scope, receive, send) if reason is None else _close(receive, send))
            return
        trusted = self._trusted_origin(scope, headers)
        send = _with_headers(send, trusted, with_body=scope["method"] != "HEAD")
        if reason is not None:
            await _refuse(send, status, reason)
            return
        if trusted and scope["method"] == "OPTIONS":
            await _allow(send)
            return
        if scope["method"] in _READING:
            await self._app({**scope, "method": "GET"} if scope["method"] == "HEAD" else scope, receive, send)
            return
        limit = self._limits.recording if scope["path"].endswith(_LONG) else self._limits.body
        try:
            async with asyncio.timeout(self._limits.silent_seconds):
                body = await _read_body(receive, headers.get(b"content-length", "0"), limit)
        except TimeoutError:
            await _refuse(send, 408, f"the request was not complete after {self._limits.silent_seconds:g} seconds")
            return
        if body is None:
            await _refuse(send, 413, f"the request is larger than {limit:,} bytes")
            return
        await self._app(scope, _replay(body, receive), send)

    def _refusal(self, scope: Scope, headers: dict[bytes, str]) -> tuple[int, str | None]:
        """Return the status and the reason of a refusal; no reason if the request is passed on."""
        given = Counter(name for name, _ in scope["headers"])
        for name in _ONCE:
            if given[name] > 1:
                return 400, f"the header {name.decode()} is given {given[name]} times"
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        if self._hosts is not None and _host_name(host) not in self._hosts:
            return 403, "this server does not answer to that host name"
        scheme = _SCHEMES.get(scope["scheme"], scope["scheme"])
        only_reads = scope["type"] == "http" and scope["method"] in _READING
        is_foreign = origin is not None and not only_reads and origin.lower() != f"{scheme}://{host}".lower()
        computes = scope["path"].startswith(_API) and scope["path"] != _DESCRIPTION
        is_own = headers.get(b"sec-fetch-site", "none") in _OWN_REQUESTS
        is_foreign |= computes and not is_own and self._trusted_origin(scope, headers) is None
        return 403, "requests from other sites are refused" if is_foreign else None

    def _trusted_origin(self, scope: Scope, headers: dict[bytes, str]) -> str | None:
        """Return the origin of another site whose page may read what it asks for; None for all others."""
        origin = headers.get(b"origin")
        reads = scope["type"] == "http" and scope["method"] in _READING and scope["path"].startswith(_API)
        return origin if reads and origin in self._origins else None


def _host_name(host: str) -> str:
    """`localhost:2048` -> `localhost`, `[::1]:2048` -> `::1`."""
    try:
        return "" if "@" in host else urlsplit(f"//{host}").hostname or ""
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


def _with_headers(send: Send, trusted: str | None, *, with_body: bool) -> Send:
    """Return a `send` that adds the security headers; the answer to HEAD is that to GET without its body."""
    sharing = _OWN_RESOURCES if trusted is None else _sharing_headers(trusted)

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *_HEADERS, *sharing]
        elif not with_body:
            message = {**message, "body": b""}
        await send(message)

    return send_with_headers


def _sharing_headers(origin: str) -> list[tuple[bytes, bytes]]:
    """Return the headers that let the pages of an origin read an answer, also if this machine is not a public one."""
    return [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-allow-methods", b"GET"),
        (b"access-control-allow-private-network", b"true"),
        (b"cross-origin-resource-policy", b"cross-origin"),
        (b"vary", b"Origin"),
    ]


async def _allow(send: Send) -> None:
    """Answer the question of a browser whether a page may ask."""
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def _refuse(send: Send, status: int, reason: str) -> None:
    """Refuse a request, the rest of which is not read."""
    body = json.dumps({"reason": reason}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _close(receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "websocket.close", "code": 1008})
