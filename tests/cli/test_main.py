"""The way in: help, suggestions, one line for every error, exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tilewright
from tests.cli.conftest import Command
from tests.process import environment, run_python, run_tilewright
from tilewright.cli.main import COMMANDS


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_help_lists_every_command_with_its_summary_and_an_example(command: Command, arguments: list[str]) -> None:
    said = command(*arguments)
    assert (said.code, said.err) == (0, "")
    for name, (_, summary) in COMMANDS.items():
        assert f"  {name} " in said.out
        assert summary in said.out
    assert "tilewright evaluate greedy --games 1000" in said.out


@pytest.mark.parametrize("name", COMMANDS.keys())
def test_help_of_every_command_has_an_example_that_begins_with_it(command: Command, name: str) -> None:
    said = command(name, "--help")
    assert (said.code, said.err) == (0, "")
    assert f"\n    tilewright {name}" in said.out.partition("Example")[2]


def test_version(command: Command) -> None:
    assert command("--version").out == f"tilewright, version {tilewright.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evalute", "random"], "there is no command 'evalute' (did you mean 'evaluate'?)"),
        (["zoom"], "there is no command 'zoom'; there are: demo, train, evaluate"),
        (["evaluate", "rnadom"], "there is no agent 'rnadom' (did you mean 'random'?)"),
        (["evaluate", "random:depth=3"], "agent random has no option 'depth'; it has none"),
        (["evaluate", "random", "--game", "threse"], "there is no game 'threse' (did you mean 'threes'?)"),
        (["evaluate", "random", "--game", "2048:row=3"], "game 2048 has no option 'row' (did you mean 'rows'?)"),
        (["evaluate", "random", "--gamse", "3"], "No such option '--gamse'"),
        (["evaluate", "random", "--games", "many"], "'many' is not a valid integer"),
        (["evaluate", "random", "--games", "0"], "games=0: at least one game must be played"),
        (["evaluate", "random", "--games", "-1"], "games=-1: at least one game must be played"),
        (["evaluate", "random", "--games", "9" * 15], "there is not enough memory for the results"),
        (["evaluate", "random", "--games", "9" * 30], "there is not enough memory for the results"),
        (["evaluate", "random", "--threads", "0"], "threads=0: at least one is needed"),
        (["evaluate", "random", "--seed", "-1"], "seed -1: a seed is a whole number from 0 up"),
        (["evaluate"], "Missing argument 'AGENT'"),
        (["evaluate", "random", "greedy"], "unexpected extra argument"),
        (["move"], "Missing argument 'BOARD'"),
        (["games", "thees"], "there is no game 'thees' (did you mean 'threes'?)"),
        (["agents", "gredy"], "there is no agent 'gredy' (did you mean 'greedy'?)"),
        (["bench", "2048-rando"], "there is no benchmark '2048-rando' (did you mean '2048-random'?)"),
        (["bench", "--repeat", "0"], "repeat=0: at least one run is needed"),
        (["demo", "--games", "0"], "--games 0: at least one game must be played"),
    ],
)
def test_a_wrong_request_is_one_line_that_says_what_is_wrong(
    command: Command, arguments: list[str], message: str
) -> None:
    said = command(*arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("tilewright: ")
    assert message in said.err
    assert said.err.count("\n") == 1


def test_a_failure_has_exit_code_1(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for error, line in [
        (tilewright.TilewrightError("the disk is full of cats"), "tilewright: the disk is full of cats\n"),
        (OSError(28, "No space left on device"), "tilewright: [Errno 28] No space left on device\n"),
        (KeyboardInterrupt(), "\ntilewright: stopped\n"),
    ]:

        def fail(*arguments: object, error: BaseException = error, **options: object) -> None:
            raise error

        monkeypatch.setattr("tilewright.cli.games.list_registry", fail)
        assert command("games") == (1, "", line)


def test_the_process_ends_with_the_exit_code() -> None:
    done, wrong = run_tilewright("games"), run_tilewright("evaluate", "nobody")
    assert (done.returncode, done.stderr) == (0, "")
    assert (wrong.returncode, wrong.stdout) == (2, "")


@pytest.mark.parametrize("arguments", [["games"], ["evaluate", "random", "--games", "500", "--json"]])
def test_a_reader_that_went_away_is_no_traceback(arguments: list[str]) -> None:
    """What `tilewright … | head -1` does, with certainty: the pipe is closed before anything is written."""
    reader, writer = os.pipe()
    os.close(reader)
    found = subprocess.run(
        [sys.executable, "-m", "tilewright", *arguments],
        env=environment(),
        stdout=writer,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    os.close(writer)
    errors = [line for line in found.stderr.splitlines() if not line.startswith("compiling kernels")]
    assert (found.returncode, errors) == (1, [])


DROPPED_INTERRUPT = """
import signal, time, weakref
from tilewright.cli import main as module

class Child:
    pass

def command(words, standalone_mode):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    child = Child()
    reference = weakref.ref(child, lambda _: signal.raise_signal(signal.SIGINT))
    del child
    time.sleep(60)

module.cli.main = command
module.run()
"""


def test_ctrl_c_during_a_callback_whose_exceptions_python_drops_is_not_lost() -> None:
    said = run_python(DROPPED_INTERRUPT)
    assert (said.returncode, said.stderr) == (1, "tilewright: stopped\n")


def test_ctrl_c_while_an_extension_module_is_imported_is_no_traceback(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(cause: BaseException | None) -> None:
        raise ImportError("initialization failed") from cause

    monkeypatch.setattr("tilewright.cli.games.list_registry", lambda *_, **__: fail(KeyboardInterrupt()))
    assert command("games") == (1, "", "tilewright: stopped\n")
    monkeypatch.setattr("tilewright.cli.games.list_registry", lambda *_, **__: fail(None))
    with pytest.raises(ImportError):
        command("games")


def test_a_terminal_without_unicode_gets_replacements() -> None:
    found = run_tilewright("move", "--agent", "greedy", "1120000000000001", PYTHONIOENCODING="ascii")
    assert found.returncode == 0, found.stderr
    assert "?    2 ?    2 ?    4 ?      ?" in found.stdout


def test_the_notice_of_compiling_is_registered_once_a_process(command: Command) -> None:
    from numba.core import event

    command("evaluate", "random", "--games", "1")
    before = len(event._registered["numba:compile"])
    command("evaluate", "random", "--games", "1")
    assert len(event._registered["numba:compile"]) == before


OWN_AGENT = """
from tilewright import Agent

class Corner(Agent):
    weight: float = 1.0

    def values(self, board, stream=None):
        order = ("right", "down", "left", "up")
        return {move: -self.weight * order.index(move) for move in board.game.legal(board)}
"""


def console_script(*arguments: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run the installed command in a folder; unlike `python -m`, it does not look there for modules by itself."""
    code = f"import sys; sys.path.remove(''); sys.argv[1:] = {arguments!r}; import tilewright.cli.main as m; m.run()"
    return subprocess.run(
        [sys.executable, "-c", code], env=environment(), cwd=folder, capture_output=True, encoding="utf-8", check=False
    )


def test_an_agent_of_the_current_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "my_agents.py").write_text(OWN_AGENT)
    found = console_script("evaluate", "my_agents:Corner,weight=2", "--games", "3", "--json", folder=tmp_path)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["agent"] == "my_agents:Corner,weight=2.0"
    found = console_script("agents", "my_agents:Corner", folder=tmp_path)
    assert found.returncode == 0, found.stderr
    assert "weight  1.0" in found.stdout


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("no_such_module:Corner", "there is no module 'no_such_module'"),
        ("my_agents:Conrer", "the module my_agents has no class 'Conrer' (did you mean 'Corner'?)"),
        ("broken:Corner", "importing broken failed: ZeroDivisionError"),
    ],
)
def test_an_own_agent_that_cannot_be_used_is_one_line(tmp_path: Path, spec: str, message: str) -> None:
    (tmp_path / "my_agents.py").write_text(OWN_AGENT)
    (tmp_path / "broken.py").write_text("1 / 0")
    found = console_script("evaluate", spec, "--games", "3", folder=tmp_path)
    assert (found.returncode, found.stdout) == (2, "")
    assert message in found.stderr
    assert found.stderr.count("\n") == 1


def test_a_working_folder_that_was_removed_is_no_error(tmp_path: Path) -> None:
    code = (
        "import os, sys; from tilewright.cli.main import run\n"
        "os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); sys.argv[1:] = ['games']; run()"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], env=environment(), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout.startswith("game ")
