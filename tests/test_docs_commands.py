"""The shell commands of README and docs: fast ones run and print what the page says, and all of them can be run."""

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import click
import pytest
from _examples import Command, read_blocks, read_cells, read_commands, working_in

import tilewright as tw
from tests.process import HANG_SECONDS, environment
from tests.shown_commands import check_command, has_placeholder
from tests.shown_pages import PAGES, ROOT, is_shown, name_of, text_of, write_files
from tests.web.live import listening

WEB = ROOT / "docs" / "how-to" / "web.md"
LANGUAGES = {"console", "json", "python", "sh", "text", "toml", "{toctree}"}
# Commands that no test runs as they stand -> why. They are checked; tests/run_shown_commands.py starts them all.
NOT_RUN = {
    r"^(pip|pipx|uv|git) ": "installs or downloads; tests/test_packaging.py installs the wheel",
    r"^make |^tilewright demo$": "sets up everything; tests/cli/test_demo.py runs a short demo",
    r"run_shown_commands": "runs everything; tests/test_run_shown_commands.py runs a small page",
    r"^ray |--engine ray": "needs a cluster; tests/cli and tests/training run Ray on this machine",
    r"^tilewright serve": "runs until it is stopped; tests/cli/test_serve.py does that",
    r"^tilewright play .*--watch": "plays a game at a speed to watch; tests/cli/test_play.py runs it faster",
    r"^(curl|python examples/bot.py) ": "needs a server: test_the_requests_get_the_answers_that_the_page_shows",
    r"^taskset |^python benchmarks/(web|key)_": "measures a server on a quiet machine",
    r"^python benchmarks/": "measures for minutes or hours; tests/test_benchmarks.py runs short ones",
    r"^python -m torture": "takes minutes; tests/torture runs a second of every campaign",
    r"^python examples/train_ppo.py": "trains a deep network; tests/test_examples.py runs a few steps",
    r"^tilewright train (?!.*--show|.*--games 500 )\S": "trains for a minute or more; its configuration is read",
    r"model=runs/": "plays the model of a training of a minute or more",
    r"expectimax:depth=[23] .*--games|heuristic:.*--games|uct:": "plays for minutes; tests/search plays less",
    r"^tilewright reproduce .*(--all|-20\d\d|-dqn|exact)": "takes minutes or more; tests/reproduce runs small ones",
    r"^tilewright reproduce --csv": "exports what other commands of the page have run",
    r"^tilewright sweep": "trains for minutes; tests/cli/test_reproduce.py runs a small sweep",
    r"^tilewright solve endgame:L3-256 --out|(L3-256|442-256|3x3).table": "takes minutes and gigabytes",
    r"^tilewright solve 2048:rows=3,columns=3": "takes a minute of processor time and 500 MB",
    r"^tilewright bench": "measures for minutes",
    r"^tilewright audit": "needs a package or module of the reader's; tests/cli/test_audit.py has some",
    r"^tilewright evaluate corner:": "needs an installed package; its entry points have a test",
}
# Commands of blocks that take more than a few seconds: `make test-full` runs them, and those in the text.
SLOW = r"doctor|text_player|leaderboard|--exact"


def name_or_nothing(value: object) -> str:
    return name_of(value) if isinstance(value, Path) else ""


def reason_not_to_run(command: Command) -> str:
    """Why a command is only checked, or nothing."""
    if has_placeholder(command.text):
        return "the reader puts something in"
    if command.in_text and re.fullmatch(r"\w+ \w+( --[\w-]+)*", command.text):
        return "a sentence names a command or an option"
    return next((reason for pattern, reason in NOT_RUN.items() if re.search(pattern, command.text)), "")


def commands_to_run(*, slow: bool) -> list[tuple[Path, list[Command]]]:
    """The commands of every page that can be run, each once."""
    seen: set[str] = set()
    found = []
    for page in PAGES:
        chosen = []
        for command in read_commands(text_of(page)):
            is_slow = command.in_text or re.search(SLOW, command.text) is not None
            if command.text not in seen and not reason_not_to_run(command):
                seen.add(command.text)
                chosen += [command] if is_slow == slow else []
        if chosen:
            found.append((page, chosen))
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that the commands of the pages read."""
    write_files(tmp_path)
    return tmp_path


def run(command: str, folder: Path) -> str:
    """Run a command in a shell of its own, and return what it prints."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    found = subprocess.run(
        ["/bin/bash", "-c", f"set -o pipefail; {command}"],
        cwd=folder,
        env=environment(PATH=path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=HANG_SECONDS,
        check=False,
    )
    assert found.returncode == (1 if "grade.py" in command else 0), f"{command}\n{found.stdout}{found.stderr}"
    return found.stdout


def assert_shown(printed: str, shown: str) -> None:
    assert is_shown(printed, shown), f"{printed}\nis not\n{shown}"


def test_every_block_says_what_it_is() -> None:
    found = {(name_of(page), language) for page in PAGES for language, _ in read_blocks(text_of(page))}
    assert [(page, language) for page, language in found if language not in LANGUAGES] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_everything_that_a_command_names_exists(page: Path, folder: Path) -> None:
    (folder / "my-config.toml").write_text("games = 1\n")  # the command before it writes such a file
    short_names = {"evaluate corner:": "evaluate my_agents:Corner,", "--game fibonacci": "--game my_games:Fibonacci"}
    with working_in(folder):
        for command in read_commands(text_of(page)):
            text = command.text
            for short, whole in short_names.items():
                text = text.replace(short, whole)
            check_command(text)


@pytest.mark.parametrize(
    "text",
    [
        "tilewright trains minute",
        "tilewright train minutes",
        "tilewright train minute --set alpa=1",
        "tilewright evaluate greedy --gams 3",
        "tilewright evaluate expectimax:deep=3",
        "tilewright evaluate --exakt",
        "tilewright reproduce szubert-2014/table-9",
        "tilewright sweep minute alpa=0,1",
        "tilewright solve endgame:L9-256",
        "tilewright bench 4x6-tdd",
        "tilewright games 2048s",
        "tilewright models package:chess",
        "tilewright move 112",
        "python examples/bott.py",
        "python examples/text_player.py --move 3",
        "make tests",
        "pip install '.[webb]'",
        "tilewrite move",
    ],
)
def test_a_command_with_a_mistake_is_found(text: str) -> None:
    with pytest.raises((AssertionError, OSError, click.ClickException, tw.TilewrightError)):
        check_command(text)


@pytest.mark.parametrize(("page", "commands"), commands_to_run(slow=False), ids=name_or_nothing)
def test_commands_run_and_print_what_the_page_shows(page: Path, commands: list[Command], folder: Path) -> None:
    for command in commands:
        assert_shown(run(command.text, folder), command.output)


@pytest.mark.slow
@pytest.mark.parametrize(("page", "commands"), commands_to_run(slow=True), ids=name_or_nothing)
def test_longer_commands_run_and_print_what_the_page_shows(page: Path, commands: list[Command], folder: Path) -> None:
    run("tilewright evaluate greedy --games 3 --seed 1 --record games.jsonl", folder)
    run("tilewright solve 2048:rows=2,columns=3 --out 2x3.table", folder)
    for command in commands:
        assert_shown(run(command.text, folder), command.output)


@pytest.mark.slow
def test_the_minute_on_the_command_line_runs_as_a_whole(tmp_path: Path) -> None:
    block = next(block for language, block in read_blocks(text_of(ROOT / "README.md")) if "tilewright move" in block)
    ran = 0
    for command in read_commands(f"```sh\n{block}```\n"):
        if not command.text.startswith("tilewright serve"):
            run(command.text, tmp_path)
            ran += 1
    assert ran >= 6


def test_the_requests_get_the_answers_that_the_page_shows(tmp_path: Path) -> None:
    commands = [command for command in read_commands(text_of(WEB)) if command.text.startswith("curl -s ")]
    with listening(tmp_path) as live:
        for command in commands:
            url = command.text.partition('"')[2].rstrip('"').replace("http://127.0.0.1:2048", live.url)
            try:
                with urllib.request.urlopen(url) as answer:  # noqa: S310
                    printed = answer.read().decode()
            except urllib.error.HTTPError as refusal:
                printed = refusal.read().decode()
            assert_shown(printed, command.output)
    assert len(commands) == 2


@pytest.mark.slow
def test_the_bot_scores_what_the_page_says(tmp_path: Path) -> None:
    (command,) = [command for command in read_commands(text_of(WEB)) if "examples/bot.py http" in command.text]
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    with listening(tmp_path) as live:
        printed = run(command.text.replace("http://127.0.0.1:2048", live.url), tmp_path)
    assert_shown(printed, command.output)


def test_the_recorded_games_that_are_shown_can_be_read(tmp_path: Path) -> None:
    shown = [block for page in PAGES for language, block in read_blocks(text_of(page)) if language == "json"]
    for block in shown:
        (tmp_path / "game.jsonl").write_text(json.dumps(json.loads(block)) + "\n", encoding="utf-8")
        (recording,) = tw.read_games(tmp_path / "game.jsonl")
        assert recording.score == json.loads(block)["score"]
    assert len(shown) == 2


def test_blocks_that_are_not_run_name_things_that_exist() -> None:
    cells = [cell for page in PAGES for cell in read_cells(text_of(page)) if cell.is_code and not cell.is_run]
    for cell in cells:
        compile(cell.text, "<page>", "exec")
        assert set(re.findall(r"\btw\.(\w+)", cell.text)) <= set(tw.__all__)
    assert len(cells) == 1  # a log-in to an experiment tracker


def test_every_reason_not_to_run_a_command_is_needed() -> None:
    commands = [command for page in PAGES for command in read_commands(text_of(page))]
    unused = [pattern for pattern in NOT_RUN if not any(re.search(pattern, command.text) for command in commands)]
    assert unused == []
