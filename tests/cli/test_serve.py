"""`tilewright serve`: where it is, how it ends, and what it says of itself."""

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.process import start_tilewright
from tilewright.web import server


def start(*options: str) -> "subprocess.Popen[str]":
    return start_tilewright("serve", "--no-open", "--port", "0", *options)


def url_said_by(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    found = re.fullmatch(r"tilewright is at (http://\S+/) \(Ctrl-C stops it\)\n", process.stdout.readline())
    assert found is not None
    return found[1]


@pytest.mark.usefixtures("ctrl_c_raises")
def test_it_says_where_it_is_answers_and_ends_well_on_ctrl_c(tmp_path: Path) -> None:
    with start("--runs", str(tmp_path)) as process:
        url = url_said_by(process)
        assert url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{url}api/v1/runs", timeout=60) as answer:  # noqa: S310
            assert json.load(answer) == []
        with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310
            assert b"<title>tilewright</title>" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert process.stderr is not None
        assert [line for line in process.stderr if not line.startswith("compiling kernels")] == []


def test_listening_elsewhere_is_said(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing listens: what would be said is all that is looked at."""
    bind = server.bind
    monkeypatch.setattr(server, "bind", lambda host, port: bind("127.0.0.1", 0))

    def serve(listening: socket.socket, *arguments: object, ready: Callable[[], None], **options: object) -> None:
        with listening:
            ready()

    monkeypatch.setattr(server, "serve", serve)
    said = command("serve", "--no-open", "--host", "192.0.2.7")
    assert said.err == "it listens on 192.0.2.7: everybody who can reach this machine can use it\n"
    assert command("serve", "--no-open").err == ""


def test_a_port_that_is_taken_is_one_line(command: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = command("serve", "--no-open", "--port", str(port))
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        f"tilewright: cannot listen on 127.0.0.1, port {port}: Address already in use; --port takes another port\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--port", "65536"], "65536 is not in the range 0<=x<=65535"),
        (["--host", "no such host"], "cannot listen on no such host, port 2048"),
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
