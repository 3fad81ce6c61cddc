"""Clients that keep the server waiting, or send without end, lose their connection."""

import contextlib
import json
import socket
from collections.abc import Callable, Iterator

import pytest
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection, connect

from tests.web.conftest import API
from tests.web.live import HANG_SECONDS, Live, listening, wait_until
from tilewright.web.limits import Limits

FIRST_LINE = b"GET / HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server that waits for a fifth of a second only."""
    with listening(tmp_path_factory.mktemp("runs"), Limits(silent_seconds=0.2, connections=4)) as live:
        yield live


def connection(live: Live) -> socket.socket:
    host, _, port = live.url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=HANG_SECONDS)


@pytest.fixture
def client(impatient: Live) -> Iterator[socket.socket]:
    with connection(impatient) as found:
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


def answer_to(live: Live, message: bytes) -> bytes:
    """Return all that the server sends to a connection that says `message`, and then nothing.

    A busy machine may take longer than the server's patience to send the message. It is then sent again.
    """
    answers: list[bytes] = []

    def is_answered() -> bool:
        with connection(live) as client:
            try:
                client.sendall(message)
            except ConnectionError:
                return False
            answers.append(read_all(client))
        return answers[-1] != b""

    wait_until(is_answered)
    return answers[-1]


@pytest.mark.parametrize("beginning", [b"", b"G", FIRST_LINE, FIRST_LINE + b"X: "])
def test_a_silent_connection_is_closed(client: socket.socket, beginning: bytes) -> None:
    with contextlib.suppress(ConnectionError):  # closed before a word was said
        client.sendall(beginning)
    assert read_all(client) == b""


def test_a_connection_that_is_silent_after_an_answer_is_closed(impatient: Live) -> None:
    assert answer_to(impatient, FIRST_LINE + b"\r\nGET / HT").count(b"HTTP/1.1 200") == 1


@pytest.mark.parametrize("framing", [b"Content-Length: 100", b"Transfer-Encoding: chunked"])
def test_a_body_that_does_not_come_is_not_waited_for(impatient: Live, framing: bytes) -> None:
    answer = answer_to(impatient, b"POST /api/v1/step HTTP/1.1\r\nHost: x\r\n" + framing + b"\r\n\r\n")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert json.loads(body) == {"reason": "the request was not complete after 0.2 seconds"}


@pytest.mark.parametrize(
    "line", [lambda i: b"X-%d: y\r\n" % i, lambda i: b"x" * 100], ids=["more headers", "a long one"]
)
def test_headers_without_end_are_refused(client: socket.socket, line: Callable[[int], bytes]) -> None:
    with pytest.raises(ConnectionError):  # noqa: PT012  (any of them)
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX: ")
        for i in range(10**9):
            client.sendall(b"".join(line(i) for _ in range(100)))


def test_trailers_without_end_are_refused(client: socket.socket) -> None:
    with pytest.raises(ConnectionError):  # noqa: PT012
        client.sendall(b"POST /api/v1/step HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
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
    opened = [connection(impatient) for _ in range(8)]
    assert [read_all(one) for one in opened] == [b""] * 8
    for one in opened:
        one.close()
    later = answer_to(impatient, b"GET /api/v1/games HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert later.startswith(b"HTTP/1.1 200 ")


def open_socket(url: str) -> ClientConnection:
    """Open a socket; a busy machine may take longer than the server's patience to ask for it, and then asks again."""
    opened: list[ClientConnection] = []

    def is_open() -> bool:
        with contextlib.suppress(InvalidHandshake, ConnectionError, EOFError):
            opened.append(connect(url))
        return bool(opened)

    wait_until(is_open)
    return opened[0]


@pytest.mark.parametrize("path", ["/autoplay", "/watch"])
def test_a_silent_socket_is_closed(impatient: Live, path: str) -> None:
    with open_socket(impatient.url.replace("http", "ws") + API + path) as quiet:
        assert json.loads(quiet.recv(HANG_SECONDS)) == {"reason": "no request came within 0.2 seconds"}
        with pytest.raises(ConnectionClosed):
            quiet.recv(HANG_SECONDS)
    wait_until(lambda: impatient.server.open_sockets == 0)
