"""Requests to the web server on loopback: no answer is an error of the server, and nobody else has to wait."""

import base64
import json
import os
import random
import re
import select
import signal
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tilewright import make_game
from torture.campaign import Campaign, Case, WrongError
from torture.kinds.boards import GAMES
from torture.kinds.hostile_runs import make_hostile_runs
from torture.kinds.routes import Route, agent_specs, fill_path, list_routes
from torture.kinds.specs import random_spec
from torture.mutation import any_text, any_value, flip_bytes, mutate_text, mutate_tree, sometimes

__all__ = ["Requests"]

_ANSWER_SECONDS = 20.0  # more than the 10 seconds after which the server ends a search
_COMPILE_SECONDS = 300.0
_MOMENT_SECONDS = 0.05  # that a client of a WebSocket waits before it goes
_GOOD_SECONDS = 0.05  # within which 95 % of good requests are answered
_GROWTH_MEGABYTES = 64.0
_GROWTH_DESCRIPTORS = 30
_READING_REQUESTS = 300  # between two readings of memory and descriptors
_FEWEST_READINGS = 3
_WARM_PART = 10  # after a tenth of the requests nothing may grow any more: the agents that the server keeps are there
_MAX_GAMES = 10_000  # of an evaluation or an outlook; more are refused
_LONG_GAMES = 3
_FEWEST_TIMES = 40  # of good requests

_BOARD = "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"
_AGENTS = (
    "random",
    "greedy",
    "heuristic:depth=1",
    "ntuple:model=good",
    "ntuple:model=nan-model",
    "ntuple:model=../x",
    "uct:rollouts=8",
)
_METHODS = (
    "GET",
    "GET",
    "POST",
    "HEAD",
    "PUT",
    "DELETE",
    "OPTIONS",
    "PATCH",
    "TRACE",
    "CONNECT",
    "get",
    "G E T",
    "\x00",
)
_GAME3 = "2048:rows=3,columns=3,win_tile=64"
_TINY = "2048:rows=2,columns=2"
_QUERY = {"seed": 1, "x": "y"}  # of routes that take none
_PLACES = ("good", "good-deep", "long-curve", "nan-model", "linked-folder", "loop", "..", "x", "%00", "a/b", "é")


def _bodies(route: Route) -> list[dict[str, Any] | None]:
    """Return the bodies of good requests: a step has either a move or an agent."""
    if route.body is None or not {"move", "agent"} <= set(route.body):
        return [route.body]
    return [{name: value for name, value in route.body.items() if name != other} for other in ("move", "agent")]


def _pairs(values: dict[str, Any]) -> str:
    """Return the query of a request."""
    return "&".join(f"{quote(name)}={quote(str(value).encode('utf-8', 'replace'))}" for name, value in values.items())


class Requests(Campaign):
    """HTTP and WebSocket messages, changed as trees, as text and as bytes, against one server."""

    name = "requests"
    seconds = 30.0
    alone = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        make_hostile_runs(folder / "runs")
        self.log = folder / "server"
        command = [
            sys.executable,
            "-m",
            "tilewright",
            "serve",
            "--port",
            "0",
            "--no-open",
            "--runs",
            str(folder / "runs"),
        ]
        with self.log.open("wb") as log:
            self.server = subprocess.Popen(command, stdout=log, stderr=log)
        self.address = self._wait_for_address()
        self.routes = list_routes(folder / "runs")
        games = {spec: make_game(spec) for spec in (*GAMES, _GAME3)}
        self.boards = {spec: game.text(game.start(seed=1)) for spec, game in games.items()}
        self._warm_up()
        self.requests = 0
        self.readings: list[tuple[float, int]] = []
        self.idle = [self._good() for _ in range(100)]
        self.times: list[float] = []
        self.stopped = threading.Event()
        self.visitor = threading.Thread(target=self._visit, daemon=True)
        self.visitor.start()

    def _wait_for_address(self) -> tuple[str, int]:
        while self.server.poll() is None:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/", self.log.read_text()):
                return "127.0.0.1", int(found[1])
            time.sleep(0.05)
        raise WrongError(f"the server does not start: {self.log.read_text()[-1000:]}")

    def _warm_up(self) -> None:
        """Visit every route, and ask every agent for a move of every game: all that is loaded once is loaded then."""
        for route in self.routes.http:
            for body in _bodies(route):
                self._visit_route(route, route.query, body)
        self._wait_for_jobs()
        routes = {route.path.rpartition("/")[2]: route for route in self.routes.http}
        for game, board in self.boards.items():
            for agent in (*_AGENTS, *agent_specs("good"), *agent_specs("good-deep")):
                asked = {"game": game, "board": board, "agent": agent}
                self._visit_route(routes["move"], asked, None, refusals=True)
                self._visit_route(routes["step"], {}, asked, refusals=True)

    def _visit_route(
        self, route: Route, query: dict[str, Any], body: dict[str, Any] | None, *, refusals: bool = False
    ) -> None:
        """Send a good request; an example that is refused would load nothing."""
        content = None if body is None else json.dumps(body).encode()
        target = f"{fill_path(route, route.places)}?{_pairs(query)}"
        answer = self._send(self._http(route.method, target, content), _COMPILE_SECONDS)
        self._check(answer)
        good = (b"HTTP/1.1 2", b"HTTP/1.1 404") if "id" in route.places else (b"HTTP/1.1 2",)
        if not refusals and not answer.startswith(good):
            raise WrongError(f"a good request is refused: {route.method} {target}: {answer[-300:]!r}")

    def _wait_for_jobs(self) -> None:
        """Wait until all jobs have ended: they load kernels, too."""
        deadline = time.monotonic() + _COMPILE_SECONDS
        while time.monotonic() < deadline:
            answer = self._send(self._http("GET", "/api/v1/jobs"), _ANSWER_SECONDS)
            if not {job["state"] for job in json.loads(answer.partition(b"\r\n\r\n")[2])} & {"waiting", "running"}:
                return
            time.sleep(0.05)
        raise WrongError("the jobs of good requests do not end")

    # Good requests, meanwhile

    def _visit(self) -> None:
        """Ask for something simple again and again, and keep the times."""
        while not self.stopped.wait(0.05):
            try:
                self.times.append(self._good())
            except (OSError, WrongError):
                if self.server.poll() is None and not self.stopped.is_set():
                    self.times.append(_ANSWER_SECONDS)

    def _good(self) -> float:
        """Return how long a good request takes."""
        began = time.monotonic()
        answer = self._send(self._http("GET", f"/api/v1/board?board={quote(_BOARD)}"), _ANSWER_SECONDS)
        if not answer.startswith(b"HTTP/1.1 200"):
            raise WrongError(f"a good request is refused: {answer[:200]!r}")
        return time.monotonic() - began

    # Making inputs

    def make(self, chance: random.Random) -> Case:
        """Make a request: a sensible one with changes, bytes that are none, or the messages of a WebSocket."""
        kind = chance.randrange(10)
        if kind < 5:
            return {"kind": "request", "bytes": self._query(chance)}
        if kind < 8:
            return {"kind": "request", "bytes": self._body(chance)}
        if kind == 8:
            return {"kind": "raw", "bytes": self._raw(chance)}
        return {
            "kind": "socket",
            "path": chance.choice((*self.routes.sockets, "/api/v1/x")),
            "bytes": self._messages(chance),
        }

    def _http(self, method: str, path: str, body: bytes | None = None, headers: tuple[str, ...] = ()) -> bytes:
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.address[1]}", "Connection: close", *headers]
        if body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        return "\r\n".join([*lines, "", ""]).encode("utf-8", "replace") + (body or b"")

    def _query(self, chance: random.Random) -> bytes:
        route = chance.choice(self.routes.http)
        values = {name: str(value) for name, value in (route.query or _QUERY).items()}
        game = chance.choice(list(self.boards))
        own = {"game": game, "board": self.boards[game], "agent": chance.choice(_AGENTS)}
        values |= {name: text for name, text in own.items() if name in values and sometimes(chance, 0.7)}
        for name in list(values):
            if sometimes(chance, 0.2):
                del values[name]
            elif sometimes(chance, 0.25):
                values[name] = mutate_text(chance, values[name]) if sometimes(chance, 0.5) else any_text(chance)
        if sometimes(chance, 0.1) and "agent" in values:
            values["agent"] = random_spec(chance, ("random", "greedy", "ntuple", "dqn", "policy", "afterstate"))
        places = {name: chance.choice(_PLACES) for name in route.places}
        path = (
            fill_path(route, places)
            if sometimes(chance, 0.95)
            else f"/api/v1/{quote(any_text(chance), errors='replace')}"
        )
        target = f"{path}?{_pairs(values)}"
        if sometimes(chance, 0.1):
            target = mutate_text(chance, target).encode("ascii", "replace").decode().replace(" ", "+").replace("\n", "")
        headers = []
        if sometimes(chance, 0.1):
            headers.append(
                f"Origin: {chance.choice(('http://evil.example', 'null', 'http://127.0.0.1', any_text(chance)))}"
            )
        if sometimes(chance, 0.05):
            headers.append("Host: evil.example")
        headers = [re.sub(r"[\r\n\0]", "", header) for header in headers]
        return self._http("GET" if sometimes(chance, 0.9) else chance.choice(_METHODS), target, None, tuple(headers))

    def _body(self, chance: random.Random) -> bytes:
        route = chance.choice([route for route in self.routes.http if route.body is not None])
        body = chance.choice(_bodies(route))
        tree: Any = dict(body or {})
        game = chance.choice(list(self.boards))
        own = {"game": game, "board": self.boards[game], "agent": chance.choice(_AGENTS)}
        tree |= {name: text for name, text in own.items() if name in tree and sometimes(chance, 0.7)}
        if "games" in tree:  # a long evaluation is a good request, and slow
            tree |= {"game": _TINY, "agent": "random"} | ({"board": self.boards[_TINY]} if "board" in tree else {})
        if "recording" in tree and sometimes(chance, 0.5):
            tree["recording"] = json.dumps(mutate_tree(chance, json.loads(tree["recording"])))
        if "text" in tree and sometimes(chance, 0.7):
            tree["text"] = mutate_text(chance, tree["text"])
        for _ in range(chance.choice((0, 1, 1, 2))):
            tree = mutate_tree(chance, tree)
        games = tree.get("games") if isinstance(tree, dict) else None
        if isinstance(games, int | float) and not isinstance(games, bool) and _LONG_GAMES < games <= _MAX_GAMES:
            tree = {**tree, "games": _LONG_GAMES}
        content = json.dumps(tree).encode("utf-8", "replace")
        if sometimes(chance, 0.1):
            content = flip_bytes(chance, content)
        method = "POST" if sometimes(chance, 0.9) else chance.choice(("DELETE", "PUT", "PATCH"))
        return self._http(method, fill_path(route, route.places), content)

    def _raw(self, chance: random.Random) -> bytes:
        """Make bytes that are hardly a request."""
        good = self._http("POST", "/api/v1/step", b'{"board": "1120000000000001", "move": "left"}')
        kind = chance.randrange(7)
        if kind == 0:
            return flip_bytes(chance, flip_bytes(chance, good))
        if kind == 1:
            return chance.randbytes(chance.choice((1, 50, 5000)))
        if kind == 2:
            return good.replace(
                b"Content-Length: 45", b"Content-Length: " + str(any_value(chance)).encode("utf-8", "replace")[:100]
            )
        if kind == 3:
            head = b"POST /api/v1/step HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
            return head + chance.choice((b"5\r\nabcde\r\n0\r\n\r\n", b"ffffffffffff\r\n", b"-1\r\n\r\n", b"zz\r\n"))
        if kind == 4:
            return (
                b"GET / HTTP/1.1\r\n"
                + b"".join(b"X-%d: %s\r\n" % (i, b"a" * 500) for i in range(chance.choice((1, 100))))
                + b"\r\n"
            )
        if kind == 5:
            return good.replace(b"Host:", chance.choice((b"Host: a\r\nHost:", b"Hots:", b"Host: \xff\xfe\r\nX:")))
        return good[: chance.randrange(len(good))]

    def _messages(self, chance: random.Random) -> list[bytes]:
        """Make the frames that a client sends over a WebSocket."""
        tree: object = {"game": "2048", "board": _BOARD, "agent": chance.choice(_AGENTS), "speed": 0}
        if sometimes(chance, 0.5):
            tree = {"agent": "random", "game": "2048:rows=2,columns=2", "games": 2, "seed": 1, "speed": 0}
        for _ in range(chance.choice((0, 1, 1, 2))):
            tree = mutate_tree(chance, tree)
        frames = [_frame(json.dumps(tree).encode("utf-8", "replace"), chance.choice((1, 1, 1, 2, 9, 3)))]
        for _ in range(chance.choice((0, 1, 3))):
            frames.append(_frame(json.dumps(mutate_tree(chance, {"speed": 5})).encode("utf-8", "replace"), 1))
        return [flip_bytes(chance, frame) if sometimes(chance, 0.2) else frame for frame in frames]

    # Running inputs

    def run(self, case: Case) -> None:
        """Send it, and look at the answer."""
        self.requests += 1
        if self.requests % _READING_REQUESTS == 0:
            self.readings.append(self._usage())
        if case["kind"] == "socket":
            self._converse(case["path"], case["bytes"])
        else:
            is_request = case["kind"] == "request"
            self._check(self._send(case["bytes"], _ANSWER_SECONDS, patient=is_request, more=is_request))
        if self.server.poll() is not None:
            raise WrongError(
                f"the server ended with exit code {self.server.returncode}: {self.log.read_text()[-1500:]}"
            )

    def _send(self, content: bytes, seconds: float, *, patient: bool = True, more: bool = True) -> bytes:
        """Send bytes, and return the answer; without `more`, the server learns that nothing follows them.

        Raises:
            WrongError: The client is patient, and there is no answer.
        """
        try:
            with socket.create_connection(self.address, timeout=_ANSWER_SECONDS) as connection:
                connection.sendall(content)
                if not more:
                    connection.shutdown(socket.SHUT_WR)
                return self._receive(connection, seconds, patient)
        except (ConnectionError, BrokenPipeError):
            return b""

    @staticmethod
    def _receive(connection: socket.socket, seconds: float, patient: bool) -> bytes:
        answer, deadline = b"", time.monotonic() + seconds
        while time.monotonic() < deadline:
            ready, _, _ = select.select([connection], [], [], deadline - time.monotonic())
            chunk = connection.recv(1 << 16) if ready else b""
            if not chunk:
                if ready:
                    return answer
                break
            answer += chunk
        if patient and not answer:
            raise WrongError(f"no answer within {seconds:g} s")
        return answer

    def _check(self, answer: bytes) -> None:
        if found := re.match(rb"HTTP/1\.[01] (\d{3})", answer):
            status = int(found[1])
            if status >= 500:
                raise WrongError(f"status {status}: {answer[-300:]!r}: {self.log.read_text()[-1000:]}")

    def _converse(self, path: str, frames: list[bytes]) -> None:
        """Open a WebSocket, send frames, read for a moment, and leave without a word."""
        key = base64.b64encode(b"0123456789abcdef").decode()
        upgrade = ("Upgrade: websocket", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}")
        head = self._http("GET", path, None, upgrade).replace(b"Connection: close", b"Connection: Upgrade")
        try:
            with socket.create_connection(self.address, timeout=_ANSWER_SECONDS) as connection:
                connection.sendall(head)
                select.select([connection], [], [], _ANSWER_SECONDS)
                self._check(connection.recv(1 << 16))
                for frame in frames:
                    connection.sendall(frame)
                select.select([connection], [], [], _MOMENT_SECONDS)
        except (ConnectionError, BrokenPipeError):
            pass

    def _usage(self) -> tuple[float, int]:
        """Return the server's memory in megabytes, and its open descriptors."""
        pages = int(Path(f"/proc/{self.server.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6, len(list(Path(f"/proc/{self.server.pid}/fd").iterdir()))

    def finish(self) -> None:
        """Look at what has grown, and at the times of good requests; then stop the server."""
        try:
            self._judge_all()
        finally:
            self.stopped.set()
            self.visitor.join(_ANSWER_SECONDS)
            self.server.send_signal(signal.SIGINT)
            try:
                self.server.wait(_ANSWER_SECONDS)
            except subprocess.TimeoutExpired:
                self.server.kill()
                self.server.wait()

    def _judge_all(self) -> None:
        """Note all measurements; raise WrongError with everything that is wrong."""
        problems = [*self._wrong_server(), *self._grown(), *self._slow()]
        if problems:
            raise WrongError("; ".join(problems))

    def _wrong_server(self) -> list[str]:
        said = self.log.read_text("utf-8", "replace")
        if self.server.poll() is not None:
            return [f"the server ended with exit code {self.server.returncode}: {said[-1500:]}"]
        return [f"the server printed a traceback: {said[-1500:]}"] if "Traceback" in said else []

    def _grown(self) -> list[str]:
        if len(self.readings) < _FEWEST_READINGS or self.server.poll() is not None:
            return []
        time.sleep(2)
        megabytes_before, descriptors_before = self.readings[len(self.readings) // _WARM_PART]
        megabytes, descriptors = self._usage()
        memory = f"{megabytes_before:,.0f} -> {megabytes:,.0f} MB"
        self.notes.append(f"server: {memory}, {descriptors_before} -> {descriptors} descriptors")
        problems = []
        if megabytes - megabytes_before > _GROWTH_MEGABYTES:
            problems.append(f"the server grew from {megabytes_before:,.0f} to {megabytes:,.0f} MB")
        if descriptors - descriptors_before > _GROWTH_DESCRIPTORS:
            problems.append(f"the server's open descriptors grew from {descriptors_before} to {descriptors}")
        return problems

    def _slow(self) -> list[str]:
        if len(self.times) <= _FEWEST_TIMES:
            return []
        slow, idle = (1000 * statistics.quantiles(times, n=20)[-1] for times in (self.times, self.idle))
        self.notes.append(f"good requests: {len(self.times):,}, 95 % within {slow:.1f} ms; idle {idle:.1f} ms")
        if slow > max(1000 * _GOOD_SECONDS, 5 * idle):
            return [f"good requests wait: 95 % took up to {slow:.0f} ms, and {idle:.0f} ms before"]
        return []


def _frame(payload: bytes, opcode: int) -> bytes:
    """Return a WebSocket frame as a client sends it, masked."""
    length = len(payload)
    head = bytes([0x80 | opcode])
    if length < 126:
        head += bytes([0x80 | length])
    else:
        head += bytes([0x80 | 126]) + struct.pack(">H", min(length, 65535))
    mask = b"\x01\x02\x03\x04"
    return head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
