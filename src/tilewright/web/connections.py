"""Connections whose clients must not keep the server waiting, nor send without end.

Uvicorn waits for ever for the first byte of a request and for the end of its headers, and keeps whatever headers come.
"""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tilewright.web.limits import Limits

__all__ = ["connection_type"]

_SLACK = 64 * 1024  # bytes of a request besides its headers and its body: sizes of chunks, trailers


def connection_type(limits: Limits) -> type[asyncio.Protocol]:
    """Return the protocol of a connection with the limits of a server."""

    class Connection(_BoundedConnection):
        _limits = limits

    return Connection


class _BoundedConnection(HttpToolsProtocol):
    """HTTP/1.1 with limits for the time and the size of a request, for unread answers, and for open connections."""

    _limits: Limits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect a request, or close the connection if there are too many."""
        super().connection_made(transport)
        self._received = 0  # bytes of the request that is being received
        self._is_in_headers = True
        self._giving_up: asyncio.TimerHandle | None = None
        self._is_unread: asyncio.TimerHandle | None = None
        if len(self.connections) > self._limits.connections:
            transport.close()
        else:
            self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse a part of a request, unless the request has become too long."""
        self._received += len(data)
        most = self._limits.headers
        if not self._is_in_headers:
            most += self._limits.recording + _SLACK
        if self._received > most:
            if not self.transport.is_closing():
                self.send_400_response("The request is too long.")
            return
        super().data_received(data)

    def on_message_begin(self) -> None:
        """Expect the end of the headers soon."""
        super().on_message_begin()
        self._is_in_headers = True
        self._expect_headers()

    def on_headers_complete(self) -> None:
        """Start the request; from here on, the application limits the time for its body."""
        self._is_in_headers = False
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Expect another request; Uvicorn closes a connection on which none begins."""
        super().on_message_complete()
        self._received = 0
        self._is_in_headers = True

    def pause_writing(self) -> None:
        """Close the connection unless the client goes on reading the answer."""
        super().pause_writing()
        if self._is_unread is None:
            self._is_unread = self.loop.call_later(self._limits.silent_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on with the answer."""
        if self._is_unread is not None:
            self._is_unread.cancel()
            self._is_unread = None
        super().resume_writing()

    def handle_websocket_upgrade(self) -> None:
        """Leave the connection to the protocol of the socket, unless there are too many."""
        self._stop_waiting()
        super().handle_websocket_upgrade()

    def _expect_headers(self) -> None:
        if self._giving_up is None:
            self._giving_up = self.loop.call_later(self._limits.silent_seconds, self._give_up)

    def _give_up(self) -> None:
        """Close the connection; an answer to an earlier request that is under way is sent first."""
        self._giving_up = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
        else:
            self._expect_headers()

    def _stop_waiting(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None
