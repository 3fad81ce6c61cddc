"""`tilewright train`: presets, changes, folders, stopping and resuming, and the report."""

import base64
import os
import pty
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.pseudoterminal import on_terminal
from tests.process import start_tilewright
from tests.training.sessions import StopAfter, learned, rows_but_time, tiny, train
from tilewright import evaluate, make_agent
from tilewright._core.config import describe_config
from tilewright.ntuple.model import load_model
from tilewright.training.config import TrainingConfig, list_presets, read_config
from tilewright.training.run_folder import RunFolder


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small config, in an empty folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    tiny().save(Path("tiny.toml"))
    return Path("tiny.toml")


def test_without_a_config_the_presets_are_listed(command: Command) -> None:
    said = command("train")
    assert (said.code, said.err) == (0, "")
    for name, summary in list_presets().items():
        assert re.search(rf"^{name} +{re.escape(summary)}$", said.out, re.MULTILINE)
    assert said.out.endswith("train one: tilewright train PRESET\n")


@pytest.mark.parametrize("name", ["minute", "szubert-small-action", "tiny.toml"])
def test_a_shown_config_reads_back(command: Command, name: str) -> None:
    said = command("train", name, "--show", "--seed", "3", "--set", "alpha=0.25", "--set", "game = 2048:four=0.5")
    Path("mine.toml").write_text(said.out)
    expected = read_config(name, seed=3, alpha=0.25, game="2048:four=0.5")
    assert (said.code, said.err, read_config("mine.toml")) == (0, "", expected)
    assert not Path("runs").exists()


def test_a_shown_config_explains_its_keys(command: Command) -> None:
    text = command("train", "minute", "--show").out
    words = " ".join(line.removeprefix("# ") for line in text.splitlines())
    for row in describe_config(TrainingConfig):
        assert f"{row.comment} {row.key} = " in words


def test_a_shown_config_trains(command: Command) -> None:
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
    assert RunFolder(Path("runs/tiny-3")).read_config() == tiny(seed=6)


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
    assert read_config("mine.toml") == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["minuet"], "there is no preset or file 'minuet' (did you mean 'minute'?); presets: 3x4, afternoon, "),
        (["missing.toml"], "missing.toml: cannot be read: No such file or directory"),
        (["."], ".: cannot be read: Is a directory"),
        (["tiny.toml", "--set", "aplha=1"], "tiny.toml: unknown key 'aplha' (did you mean 'alpha'?)"),
        (["tiny.toml", "--set", "alpha=many"], "tiny.toml: alpha = 'many': must be a number"),
        (["tiny.toml", "--set", "alpha"], "--set alpha: must be of the form KEY=VALUE"),
        (["tiny.toml", "--set", "seed=1", "--seed", "2"], "--set seed=1: seed is given twice"),
        (["minute", "--set", 'tuples=["0123"]'], 'minute: network = "4x6" and tuples exclude each other'),
        (["tiny.toml", "--set", "alpha=3"], "alpha = 3.0: must be above 0 and at most 2"),
        (["tiny.toml", "--set", "game=threse"], "game: there is no game 'threse' (did you mean 'threes'?)"),
        (["tiny.toml", "--seed", "-1"], "seed = -1: must be from 0"),
        (["tiny.toml", "--seed", "x"], "'x' is not a valid integer"),
        (["tiny.toml", "--threads", "0"], "threads=0: at least one is needed"),
        (["--resume", "runs/tiny"], "runs/tiny: no run to resume or read: there is no config.toml"),
        (["tiny.toml", "--resume", "run"], "--resume run takes everything from the run: leave out CONFIG and --out"),
        (["--out", "run", "--resume", "run"], "--resume run takes everything from the run: leave out CONFIG and --out"),
        (["--show"], "CONFIG is missing: a preset or a file; `tilewright train` lists the presets"),
        (["--seed", "3"], "CONFIG is missing: a preset or a file; `tilewright train` lists the presets"),
        (["tiny.toml", "--out", "tiny.toml/run"], "cannot be written: Not a directory"),
    ],
)
def test_what_is_wrong_is_one_line_before_any_work(command: Command, arguments: list[str], message: str) -> None:
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
    hint = "`tilewright train --resume there` continues it, --out takes another"
    assert f"there already holds a run: {hint}" in refused.err
    changed = command("train", "--resume", "there", "--set", "alpha=0.5")
    assert "there was started with alpha = 1.0, not 0.5; a resumed run cannot change it" in changed.err
    seed = command("train", "--resume", "there", "--seed", "6")
    assert "there was started with seed = 5, not 6; a resumed run cannot change it" in seed.err
    said = command("train", "--resume", "there", "--games", "300", "--threads", "1")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("300 games, ")
    train(tiny(), Path("straight"))
    assert learned(Path("there")) == learned(Path("straight"))
    assert rows_but_time(Path("there")) == rows_but_time(Path("straight"))


def test_a_run_folder_alone_is_enough_to_go_on(command: Command) -> None:
    session = train(tiny(), Path("there"), callbacks=StopAfter(50))
    assert session.progress.games < 300
    said = command("train", "--resume", "there", "--threads", "1")
    assert (said.code, said.err) == (0, "")
    train(tiny(), Path("straight"))
    assert learned(Path("there")) == learned(Path("straight"))
    shown = command("train", "--resume", "there", "--show", "--minutes", "7")
    Path("shown.toml").write_text(shown.out)
    assert read_config("shown.toml") == tiny(minutes=7)


def png_size(content: bytes) -> tuple[int, int]:
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert content[12:16] == b"IHDR"
    assert content[-8:-4] == b"IEND"
    return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")


@pytest.mark.parametrize("games", [300, 5], ids=["a curve", "too few games for a full row"])
def test_the_report_is_one_page_that_needs_nothing_else(command: Command, games: int) -> None:
    assert command("train", "tiny.toml", "--out", "a <b> & c", "--set", f"games={games}").code == 0
    folder = RunFolder(Path("a <b> & c"))
    page = folder.report_file.read_text()
    assert "<title>a &lt;b&gt; &amp; c</title>" in page
    assert "alpha = 1.0" in page
    assert not re.search(r"https?:|<script|<link|@import|url\(", page)
    pictures = re.findall(r'src="([^"]*)"', page)
    assert len(pictures) == page.count("<h2>Learning curve</h2>") == 1
    last = folder.curve_points()[-1]
    assert f"<p>{games} games and {last.moves:,} moves of training in {last.seconds:,.0f} s.</p>" in page
    for picture in pictures:
        kind, _, text = picture.partition(",")
        assert kind == "data:image/png;base64"
        assert png_size(base64.b64decode(text)) == png_size(folder.curve_file.read_bytes())
    width, height = png_size(folder.curve_file.read_bytes())
    assert width > height > 300


def start_endless(*arguments: str, terminal: int | None = None) -> "subprocess.Popen[str]":
    """A training without an end; it goes on with the run if there is one."""
    new = ["tiny.toml", "--out", "run", "--games", "1000000000", "--set", "curve_games=100"]
    which = ["--resume", "run"] if Path("run/config.toml").exists() else new
    streams = {} if terminal is None else {"stderr": terminal}
    terms = {"TERM": "xterm", "COLUMNS": "150"}
    return start_tilewright("train", *which, *arguments, "--threads", "1", changes=terms, **streams)


def wait_until(is_true: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    while not is_true():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def test_ctrl_c_sigterm_and_a_closed_terminal_lose_nothing_and_the_run_goes_on_later(command: Command) -> None:
    folder, games = RunFolder(Path("run")), 0
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        before = len(folder.evaluation_points())
        process = start_endless("--set", "evaluate_minutes=0.001")
        wait_until(lambda before=before: len(folder.evaluation_points()) > before, process)  # type: ignore[misc]
        process.send_signal(number)
        out, err = process.communicate()
        lines = [line for line in err.splitlines() if not line.startswith("compiling kernels")]
        assert process.returncode == 0
        assert lines.count("stopping after the current games, to save everything") == 1
        assert "\x1b" not in out + err
        for line in lines:
            stop = r"stopping after .*"
            evaluation = r"evaluation after [\d,]+ games: mean [\d,]+ ± [\d,]+ in 10 games"
            assert re.fullmatch(rf"{stop}|{evaluation}|[ \d.]+ %  [\d,]+ games .*", line)
        origin, last = load_model(folder.model_file).origin, folder.curve_points()[-1]
        assert (last.games, last.moves) == (int(origin["games"]), int(origin["moves"]))
        assert out.startswith(f"{last.games:,} games, {last.moves:,} moves in ")
        assert "\ncontinue: tilewright train --resume run\n" in out
        assert f"{last.games:,} games and {last.moves:,} moves of training" in folder.report_file.read_text()
        assert last.games > games
        games = last.games
    said = command("train", "--resume", "run", "--games", str(games))
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"{games:,} games, ")


def test_a_terminal_gets_a_bar_with_the_status_and_the_curve() -> None:
    terminal, its_end = pty.openpty()
    process = start_endless(terminal=its_end)
    os.close(its_end)
    seen = ""
    while not re.search(r"[▁-█]{3}.*games.*moves/s.*mean [\d,]+.*won [\d.]+ %", seen):
        seen += os.read(terminal, 4096).decode(errors="replace")
    process.send_signal(signal.SIGINT)
    try:
        while piece := os.read(terminal, 4096):
            seen += piece.decode(errors="replace")
    except OSError:  # Linux's way to say that the other end is closed
        pass
    os.close(terminal)
    out, _ = process.communicate()
    assert process.returncode == 0
    assert "stopping after the current games, to save everything" in seen
    assert "Traceback" not in seen
    assert "model run/model.safetensors" in out


def test_a_terminal_that_goes_away_does_not_take_the_training_with_it() -> None:
    """Writing to it fails from then on; everything is saved all the same."""
    folder = RunFolder(Path("run"))
    with on_terminal("train", "tiny.toml", "--out", "run", "--games", "1000000000", "--threads", "1") as terminal:
        while not folder.metrics_file.exists():
            assert terminal.process.poll() is None, terminal.raw
            terminal._read(0.1)
        os.close(terminal._theirs)
        os.close(terminal.ours)
        assert terminal.process.wait(600) == 1
    assert load_model(folder.model_file).origin["games"] == str(folder.curve_points()[-1].games)
    assert folder.checkpoint_file.exists()
    assert folder.report_file.exists()


def test_the_trained_player_is_better_than_greedy(command: Command) -> None:
    command("train", "tiny.toml", "--set", "games=3000")
    game = tiny().make_game()
    trained = make_agent("ntuple", model="runs/tiny/model.safetensors")
    ours, theirs = (evaluate(agent, game, games=200, seed=1) for agent in (trained, make_agent("greedy")))
    assert ours.score.value > 1.2 * theirs.score.value
