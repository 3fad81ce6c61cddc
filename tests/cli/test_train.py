"""`tilewright train`: presets, changes, folders, stopping and going on, and the report."""

import base64
import os
import pty
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.process import start_tilewright
from tests.training.sessions import learned, rows_but_time, tiny, train
from tilewright import evaluate, make_agent
from tilewright.cli.train_progress import sparkline
from tilewright.ntuple.model import load_model
from tilewright.training.config import preset_names, read_training_config
from tilewright.training.run_folder import RunFolder


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small recipe, in an empty folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    tiny().save(Path("tiny.toml"))
    return Path("tiny.toml")


def test_without_a_recipe_the_presets_are_listed(command: Command) -> None:
    said = command("train")
    assert (said.code, said.err) == (0, "")
    for name, summary in preset_names().items():
        assert re.search(rf"^{name} +{re.escape(summary)}$", said.out, re.MULTILINE)


@pytest.mark.parametrize("name", ["minute", "szubert-small-action", "tiny.toml"])
def test_a_shown_recipe_is_one_to_train_with(command: Command, name: str) -> None:
    said = command("train", name, "--show", "--seed", "3", "--set", "alpha=0.25", "--set", "game = 2048:four=0.5")
    Path("mine.toml").write_text(said.out)
    expected = read_training_config(name, seed=3, alpha=0.25, game="2048:four=0.5")
    assert (said.code, said.err, read_training_config("mine.toml")) == (0, "", expected)
    assert not Path("runs").exists()


def test_a_shown_recipe_trains(command: Command) -> None:
    Path("mine.toml").write_text(command("train", "tiny.toml", "--show").out)
    assert command("train", "mine.toml", "--threads", "1").code == 0
    train(tiny(), Path("straight"))
    assert learned(Path("runs/mine")) == learned(Path("straight"))


def test_it_trains_into_a_new_folder_each_time(command: Command) -> None:
    said = command("train", "tiny.toml", "--threads", "1")
    assert (said.code, said.err) == (0, "")
    moves = RunFolder(Path("runs/tiny")).curve_points()[-1].moves
    assert re.match(rf"300 games, {moves:,} moves in [\d.]+ s of training \([\d,]+ moves/s\)\n", said.out)
    assert said.out.splitlines()[1] == "model runs/tiny/model.safetensors"
    command("train", "tiny.toml", "--threads", "1")
    command("train", "tiny.toml", "--threads", "1", "--seed", "6")
    assert sorted(folder.name for folder in Path("runs").iterdir()) == ["tiny", "tiny-2", "tiny-3"]
    assert learned(Path("runs/tiny-2")) == learned(Path("runs/tiny")) != learned(Path("runs/tiny-3"))
    assert RunFolder(Path("runs/tiny-3")).config() == tiny(seed=6)


def test_what_it_says_to_do_next_works(command: Command) -> None:
    last = command("train", "tiny.toml").out.splitlines()[-1]
    program, *arguments = last.removeprefix("next: ").split()
    assert program == "tilewright"
    said = command(*arguments, "--games", "20")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"ntuple:model=runs/tiny/model.safetensors on {tiny().game}: 20 games")


def test_values_are_set_as_toml_or_as_text(command: Command) -> None:
    changes = ["games=40", "update=online", 'step_size = "fixed"', "lambda=0", 'tuples=["01", "45"]', "symmetric=false"]
    said = command("train", "tiny.toml", "--show", *(word for change in changes for word in ("--set", change)))
    assert said.code == 0
    Path("mine.toml").write_text(said.out)
    expected = tiny(games=40, update="online", step_size="fixed", lambda_=0.0, tuples=("01", "45"), symmetric=False)
    assert read_training_config("mine.toml") == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["minuet"], "there is no preset or file 'minuet' (did you mean 'minute'?); presets: afternoon, "),
        (["missing.toml"], "missing.toml: cannot be read: No such file or directory"),
        (["."], ".: cannot be read: Is a directory"),
        (["tiny.toml", "--set", "aplha=1"], "tiny.toml: unknown key 'aplha' (did you mean 'alpha'?)"),
        (["tiny.toml", "--set", "alpha=many"], "tiny.toml: alpha = 'many': must be a number"),
        (["tiny.toml", "--set", "alpha"], "--set alpha: must be of the form key=value"),
        (["tiny.toml", "--set", "alpha=3"], "alpha = 3.0: must be above 0 to 2"),
        (["tiny.toml", "--set", "game=threse"], "game: there is no game 'threse' (did you mean 'threes'?)"),
        (["tiny.toml", "--seed", "-1"], "seed = -1: must be from 0"),
        (["tiny.toml", "--seed", "x"], "'x' is not a valid integer"),
        (["tiny.toml", "--threads", "0"], "threads=0: at least one is needed"),
        (["tiny.toml", "--resume"], "runs/tiny: no run to resume: there is no config.toml"),
        (["tiny.toml", "--out", "tiny.toml/run"], "cannot be written: Not a directory"),
    ],
)
def test_what_cannot_be_is_one_line_before_any_work(command: Command, arguments: list[str], message: str) -> None:
    said = command("train", *arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("tilewright: ")
    assert message in said.err
    assert said.err.count("\n") == 1
    assert [path.name for path in Path().iterdir()] == ["tiny.toml"]


def test_a_folder_is_used_once_unless_resumed(command: Command) -> None:
    assert command("train", "tiny.toml", "--out", "there", "--set", "games=100", "--threads", "1").code == 0
    refused = command("train", "tiny.toml", "--out", "there")
    assert (refused.code, refused.out) == (2, "")
    assert "there holds a run already: --resume goes on with it, --out takes another folder" in refused.err
    changed = command("train", "tiny.toml", "--out", "there", "--resume", "--set", "alpha=0.5")
    assert "there was begun with alpha = 1.0, not 0.5; it cannot be resumed so" in changed.err
    assert command("train", "tiny.toml", "--out", "there", "--resume", "--threads", "1").code == 0
    train(tiny(), Path("straight"))
    assert learned(Path("there")) == learned(Path("straight"))
    assert rows_but_time(Path("there")) == rows_but_time(Path("straight"))


def png_size(content: bytes) -> tuple[int, int]:
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert content[12:16] == b"IHDR"
    assert content[-8:-4] == b"IEND"
    return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")


@pytest.mark.parametrize("games", [300, 5], ids=["a curve", "too few games for a point"])
def test_the_report_is_one_page_that_needs_nothing_else(command: Command, games: int) -> None:
    assert command("train", "tiny.toml", "--out", "a <b> & c", "--set", f"games={games}").code == 0
    folder = RunFolder(Path("a <b> & c"))
    page = folder.report_file.read_text()
    assert "<title>a &lt;b&gt; &amp; c</title>" in page
    assert "alpha = 1.0" in page
    assert not re.search(r"https?:|<script|<link|@import|url\(", page)
    pictures = re.findall(r'src="([^"]*)"', page)
    assert len(pictures) == ("Learning curve" in page) == (games == 300)
    for picture in pictures:
        kind, _, text = picture.partition(",")
        assert kind == "data:image/png;base64"
        assert png_size(base64.b64decode(text)) == png_size(folder.curve_file.read_bytes())
    width, height = png_size(folder.curve_file.read_bytes())
    assert width > height > 300


def endless(*arguments: str, terminal: int | None = None) -> "subprocess.Popen[str]":
    """A run with no end in sight, with tests to be told of."""
    budget = ["--set", "games=1_000_000_000", "--set", "curve_games=100", "--threads", "1", "--out", "run"]
    streams = {} if terminal is None else {"stderr": terminal}
    return start_tilewright(
        "train", "tiny.toml", *budget, *arguments, changes={"TERM": "xterm", "COLUMNS": "150"}, **streams
    )


def wait_for_tests(process: "subprocess.Popen[str]", more_than: int) -> None:
    deadline = time.monotonic() + 120
    while len(RunFolder(Path("run")).evaluation_points()) <= more_than:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.usefixtures("ctrl_c_raises")
def test_ctrl_c_and_sigterm_save_and_the_run_goes_on_later(command: Command) -> None:
    folder, games = RunFolder(Path("run")), 0
    for number in (signal.SIGINT, signal.SIGTERM):
        tests = len(folder.evaluation_points())
        process = endless("--set", "evaluate_minutes=0.001", *(["--resume"] if tests else []))
        wait_for_tests(process, tests)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        lines = [line for line in err.splitlines() if not line.startswith("compiling kernels")]
        assert process.returncode == 0
        assert lines.count("stopping after the games under way; what was learned is saved") == 1
        assert "\x1b" not in out + err
        for line in lines:
            stop, test = r"stopping after .*", r"test after [\d,]+ games: mean [\d,]+ ± [\d,]+ in 10 games"
            assert re.fullmatch(rf"{stop}|{test}|[ \d.]+ %  [\d,]+ games .*", line)
        found = int(load_model(folder.model_file).origin["games"])
        assert out.startswith(f"{found:,} games, ")
        assert found > games
        games = found
    assert command("train", "tiny.toml", "--out", "run", "--resume", "--set", "curve_games=100").code == 0


@pytest.mark.usefixtures("ctrl_c_raises")
def test_a_terminal_gets_a_bar_with_the_figures_and_the_curve() -> None:
    terminal, its_end = pty.openpty()
    process = endless(terminal=its_end)
    os.close(its_end)
    seen, deadline = "", time.monotonic() + 120
    while not re.search(r"[▁-█]{3}.*games.*moves/s.*mean [\d,]+.*won [\d.]+ %", seen):
        assert time.monotonic() < deadline, seen[-500:]
        seen += os.read(terminal, 4096).decode(errors="replace")
    process.send_signal(signal.SIGINT)
    try:
        while piece := os.read(terminal, 4096):
            seen += piece.decode(errors="replace")
    except OSError:  # Linux's way to say that the other end is closed
        pass
    os.close(terminal)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "stopping after the games under way; what was learned is saved" in seen
    assert "Traceback" not in seen
    assert "model run/model.safetensors" in out


def test_the_trained_player_is_better_than_greedy(command: Command) -> None:
    command("train", "tiny.toml", "--set", "games=3000")
    game = tiny().make_game()
    trained = make_agent("ntuple", model="runs/tiny/model.safetensors")
    ours, theirs = (evaluate(agent, game, games=200, seed=1) for agent in (trained, make_agent("greedy")))
    assert ours.score.value > 1.2 * theirs.score.value


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ([], ""),
        ([0.0], "▁"),
        ([1.0, 2.0, 4.0, 8.0], "▂▃▅█"),
        ([-5.0, 8.0], "▁█"),
        ([float(i) for i in range(1000)], "▁▁▁▂▂▂▃▃▃▄▄▄▅▅▅▆▆▆▇▇▇███"),
    ],
)
def test_a_curve_in_one_line(values: list[float], line: str) -> None:
    assert sparkline(values) == line
