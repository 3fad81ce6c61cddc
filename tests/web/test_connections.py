"""Clients that keep the server waiting, or send without end, lose their connection."""

import json
import socket
from collections.abc import Callable, Iterator

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.web.conftest import API
from tests.web.live import HANG_SECONDS, Live, listening, wait_until
from tilewright.web.limits import Limits

FIRST_LINE = b"GET / HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server that waits for a fifth of a second only."""
    with listening(tmp_path_factory.mktemp("runs"), Limits(silent_seconds=0.2, connections=4)) as live:
        yield live


@pytest.fixture
def client(impatient: Live) -> Iterator[socket.socket]:
    host, _, port = impatient.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=HANG_SECONDS) as found:
        yield found


def read_all(client: socket.socket) -> bytes:
    """Return what the server sends until it closes the connection."""
    parts = []
    try:
        while part := client.recv(65536):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


@pytest.mark.parametrize("beginning", [b"", b"G", FIRST_LINE, FIRST_LINE + b"X: ", FIRST_LINE + b"\r\nGET / HT"])
def test_a_silent_connection_is_closed(client: socket.socket, beginning: bytes) -> None:
    client.sendall(beginning)
    assert read_all(client).count(b"HTTP/1.1 200") == beginning.count(b"\r\n\r\n")


@pytest.mark.parametrize("framing", [b"Content-Length: 100", b"Transfer-Encoding: chunked"])
def test_a_body_that_does_not_come_is_not_waited_for(client: socket.socket, framing: bytes) -> None:
    client.sendall(b"POST /api/v1/step HTTP/1.1\r\nHost: x\r\n" + framing + b"\r\n\r\n")
    head, _, body = read_all(client).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert json.loads(body) == {"reason": "the request was not complete after 0.2 seconds"}


@pytest.mark.parametrize(
    "line", [lambda i: b"X-%d: y\r\n" % i, lambda i: b"x" * 100], ids=["more headers", "a long one"]
)
def test_headers_without_end_are_refused(client: socket.socket, line: Callable[[int], bytes]) -> None:
    client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX: ")
    with pytest.raises(ConnectionError):  # noqa: PT012  (any of them)
        for i in range(10**9):
            client.sendall(b"".join(line(i) for _ in range(100)))


def test_trailers_without_end_are_refused(client: socket.socket) -> None:
    client.sendall(b"POST /api/v1/step HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
    with pytest.raises(ConnectionError):  # noqa: PT012
        for i in range(10**9):
            client.sendall(b"X-%d: y\r\n" % i * 1000)


def test_a_client_that_does_not_read_its_answers_is_left(impatient: Live) -> None:
    host, _, port = impatient.url.removeprefix("http://").partition(":")
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect((host, int(port)))
        client.setblocking(False)
        request = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"

        def is_cut() -> bool:
            try:
                client.send(request * 10)
            except BlockingIOError:
                return False
            except ConnectionError:
                return True
            return False

        wait_until(is_cut)


def test_only_so_many_connections_are_open(impatient: Live) -> None:
    host, _, port = impatient.url.removeprefix("http://").partition(":")
    opened = [socket.create_connection((host, int(port)), timeout=HANG_SECONDS) for _ in range(8)]
    assert [read_all(one) for one in opened] == [b""] * 8
    for one in opened:
        one.close()
    with socket.create_connection((host, int(port)), timeout=HANG_SECONDS) as later:
        later.sendall(b"GET /api/v1/games HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert read_all(later).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("path", ["/autoplay", "/watch"])
def test_a_silent_socket_is_closed(impatient: Live, path: str) -> None:
    with connect(impatient.url.replace("http", "ws") + API + path) as quiet:
        assert json.loads(quiet.recv(HANG_SECONDS)) == {"reason": "no request came within 0.2 seconds"}
        with pytest.raises(ConnectionClosed):
            quiet.recv(HANG_SECONDS)
    wait_until(lambda: impatient.server.open_sockets == 0)
