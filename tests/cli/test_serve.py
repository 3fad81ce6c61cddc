"""`tilewright serve`: its address, its end, its messages, and plug-ins."""

import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import urllib.request
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command
from tests.process import environment, start_tilewright
from tests.web.live import HANG_SECONDS
from tilewright.web import server

SLEEPY = "api/v1/move?board=1120000000000001&agent=Sleeper"
PLUGINS = """
import time
import tilewright as tw

class Doubling(tw.LineGame):
    tile_values = (2, 4, 8, 16)

    def slide_line(self, line):
        tiles = [tile for tile in line if tile]
        return tiles + [0] * (len(line) - len(tiles)), 0

    def spawns(self):
        return {2: 1.0}

class Sleeper(tw.Agent):
    def values(self, board, stream=None):
        print("sleeping", flush=True)
        time.sleep(3600)

class First(tw.Agent):
    last: bool = False

    def values(self, board, stream=None):
        moves = board.game.legal(board)
        return {move: float(i if self.last else -i) for i, move in enumerate(moves)}
"""


def start(*options: str, **changes: str) -> "subprocess.Popen[str]":
    return start_tilewright("serve", "--no-open", "--port", "0", *options, changes=changes)


def url_said_by(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    found = re.fullmatch(r"tilewright is at (http://\S+/) \(Ctrl-C stops it\)\n", process.stdout.readline())
    assert found is not None
    return found[1]


def test_it_says_where_it_is_answers_and_ends_well_on_ctrl_c(tmp_path: Path) -> None:
    with start("--runs", str(tmp_path)) as process:
        url = url_said_by(process)
        assert url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{url}api/v1/runs", timeout=HANG_SECONDS) as answer:  # noqa: S310
            assert json.load(answer) == []
        with urllib.request.urlopen(url, timeout=HANG_SECONDS) as answer:  # noqa: S310
            assert b"<title>tilewright</title>" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(HANG_SECONDS) == 0
        assert process.stderr is not None
        assert [line for line in process.stderr if not line.startswith("compiling kernels")] == []


def test_ctrl_c_does_not_wait_for_what_still_computes(tmp_path: Path) -> None:
    """A search that never ends stands for a compilation of many seconds: neither is waited for, nor told of."""
    (tmp_path / "mine.py").write_text(PLUGINS)
    path = os.pathsep.join([str(tmp_path), environment()["PYTHONPATH"]])
    with start("--agent", "mine:Sleeper", PYTHONPATH=path) as process:
        url = url_said_by(process)
        asking = subprocess.Popen(
            [sys.executable, "-c", f"import urllib.request; urllib.request.urlopen({url + SLEEPY!r})"],
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "sleeping\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(HANG_SECONDS) == 0
        assert process.stderr is not None
        assert [line for line in process.stderr if not line.startswith("compiling kernels")] == []
        asking.wait(HANG_SECONDS)


def test_games_and_agents_of_users_are_offered(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PLUGINS)
    path = os.pathsep.join([str(tmp_path), environment()["PYTHONPATH"]])
    with start("--game", "mine:Doubling", "--agent", "mine:First,last=true", PYTHONPATH=path) as process:
        url = url_said_by(process)

        def get(question: str) -> Any:
            with urllib.request.urlopen(f"{url}api/v1/{question}", timeout=HANG_SECONDS) as answer:  # noqa: S310
                return json.load(answer)

        assert "Doubling" in [game["name"] for game in get("games")]
        assert "First:last=true" in [agent["spec"] for agent in get("agents?game=Doubling")]
        board = get("start?game=Doubling&seed=1")
        advice = get(f"move?game=Doubling&agent=First:last=true&board={board['code']}")
        assert advice["move"] == board["legal"][-1]
        process.send_signal(signal.SIGINT)
        assert process.wait(HANG_SECONDS) == 0


def test_the_browser_is_opened_at_the_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The server stops as soon as it is ready; by then it has opened the browser."""
    opened: queue.Queue[str] = queue.Queue()
    monkeypatch.setattr(webbrowser, "open", opened.put)
    listening = server.bind("127.0.0.1", 0)
    url = server.url_of(listening)

    def stop() -> None:
        running[0].should_exit = True

    running: list[Any] = []
    make = server._Server.__init__

    def remember(self: Any, *arguments: Any) -> None:
        make(self, *arguments)
        running.append(self)

    monkeypatch.setattr(server._Server, "__init__", remember)
    server.serve(listening, "127.0.0.1", tmp_path, open_browser=True, on_ready=stop)
    assert opened.get(timeout=HANG_SECONDS) == url


def test_listening_elsewhere_is_said(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """No server is started: only the messages are tested."""
    bind = server.bind
    monkeypatch.setattr(server, "bind", lambda host, port: bind("127.0.0.1", 0))

    def serve(listening: socket.socket, *arguments: object, on_ready: Callable[[], None], **options: object) -> None:
        with listening:
            on_ready()

    monkeypatch.setattr(server, "serve", serve)
    said = command("serve", "--no-open", "--host", "192.0.2.7")
    assert said.err == "it listens on 192.0.2.7: everybody who can reach this machine can use it\n"
    assert command("serve", "--no-open").err == ""


def test_a_port_that_is_taken_is_one_line(command: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = command("serve", "--no-open", "--port", str(port))
    assert (said.code, said.out) == (2, "")
    reason = "Address already in use; choose another port with --port"
    assert said.err == f"tilewright: cannot listen on 127.0.0.1, port {port}: {reason}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--port", "65536"], "65536 is not in the range 0<=x<=65535"),
        (["--host", "no such host"], "cannot listen on no such host, port 2048"),
        (["--game", "no_such_module:Game"], "there is no module 'no_such_module'"),
        (["--agent", "gredy"], "there is no agent 'gredy' (did you mean 'greedy'?)"),
    ],
)
def test_a_wrong_option_is_one_line(command: Command, arguments: list[str], message: str) -> None:
    said = command("serve", "--no-open", *arguments)
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert said.err.count("\n") == 1


def test_a_missing_extra_names_its_pip_line(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "tilewright.web.server", raising=False)
    said = command("serve", "--no-open")
    assert (said.code, said.out) == (1, "")
    assert "pip install 'tilewright[web]'" in said.err
