"""A server with a hostile runs folder, while malformed requests come in: it refuses them and answers the good ones."""

import http.client
import logging
import random
import socket
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.web.conftest import API, BOARD
from tests.web.hostile import make_hostile_runs, malformed_request
from tests.web.live import HANG_SECONDS, Live, listening, wait_until
from tilewright.web.limits import Limits

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes and names that are no text")
REQUESTS = 300
_PATIENCE = 0.5  # seconds after which a server seems to wait for more
GOOD = ("/games", "/agents", "/runs", f"/move?board={quote(BOARD)}&agent=greedy", "/start?seed=7")


def port_of(live: Live) -> int:
    return int(live.url.rpartition(":")[2])


def send(port: int, request: bytes) -> int:
    """Send bytes, and return the status of the answer; 0 if there was none."""
    with socket.create_connection(("127.0.0.1", port), timeout=HANG_SECONDS) as client:
        try:
            client.sendall(request)
            answer = _receive(client)
        except ConnectionError:  # the server does not read what it has refused
            return 0
    return int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else 0


def _receive(client: socket.socket) -> bytes:
    """Return the first part of the answer; a server that waits for the rest of a request learns that there is none."""
    client.settimeout(_PATIENCE)
    try:
        return client.recv(65536)
    except TimeoutError:
        client.settimeout(HANG_SECONDS)
        client.shutdown(socket.SHUT_WR)
        return client.recv(65536)


def open_files() -> int:
    """Return the number of descriptors of this process; 0 where it is not known."""
    return len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0


def get(live: Live, path: str) -> int:
    connection = http.client.HTTPConnection(live.url.removeprefix("http://"), timeout=HANG_SECONDS)
    connection.request("GET", API + path)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def test_no_malformed_request_makes_the_server_fail(tmp_path: Path) -> None:
    runs, rng, statuses = tmp_path / "runs", random.Random(18), list[int]()
    make_hostile_runs(runs, curve_megabytes=2)
    with listening(runs, Limits(silent_seconds=1)) as live:
        for path in GOOD:
            assert get(live, path) == 200
        before = open_files()
        for number in range(REQUESTS):
            statuses.append(send(port_of(live), malformed_request(rng, port_of(live))))
            if number % 30 == 0:
                assert get(live, GOOD[number // 30 % len(GOOD)]) == 200
        wait_until(lambda: live.server.executors.quick.pending == 0)
        wait_until(lambda: open_files() <= before + 2)
    assert [status for status in statuses if status >= 500] == []
    assert sum(400 <= status < 500 for status in statuses) > REQUESTS // 2


def test_a_message_that_is_no_text_is_the_mistake_of_the_client_and_not_logged(tmp_path: Path) -> None:
    told: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = told.append  # type: ignore[method-assign, assignment]
    log = logging.getLogger("uvicorn.error")
    with listening(tmp_path) as live:
        log.addHandler(handler)
        try:
            with connect(f"ws://{live.url.removeprefix('http://')}{API}/watch") as client:
                client.send(b"\xff\xfe", text=True)
                with pytest.raises(ConnectionClosed):
                    client.recv(HANG_SECONDS)
        finally:
            log.removeHandler(handler)
    assert [record.getMessage() for record in told if record.levelno >= logging.ERROR] == []
