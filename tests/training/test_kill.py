"""Runs and suites that are killed again and again, often while they save, and end as if nothing had happened.

Processes are killed after events (a checkpoint was written, a function was called), never after a time that a slow
machine could need for something else: a random delay only moves the kill, and no assertion depends on it.
"""

import random
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from tests.process import run_python, start_tilewright
from tests.training.sessions import learned, rows_but_time, tiny, train
from tilewright._core.files import read_tensors
from tilewright.ntuple.model import load_model
from tilewright.reproduce.store import Store
from tilewright.training.ntuple_session import load_checkpoint
from tilewright.training.run_folder import RunFolder
from tilewright.training.trainer import Trainer

ROW = 250  # games
ENDLESS = tiny(games=10**9, curve_games=ROW, checkpoint_minutes=0.0002)


def start(folder: RunFolder, config: Path) -> subprocess.Popen[str]:
    """A training without an end; it goes on with the run if there is one."""
    which = ["--resume", str(folder.path)] if folder.exists() else [str(config), "--out", str(folder.path)]
    return start_tilewright("train", *which, "--threads", "1", stderr=subprocess.STDOUT)


def checkpoint_of(folder: RunFolder) -> tuple[int, int] | None:
    """Another answer for every checkpoint that is written."""
    try:
        found = folder.checkpoint_file.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def wait_for_checkpoints(process: subprocess.Popen[str], folder: RunFolder, count: int) -> None:
    last = checkpoint_of(folder)
    while count:
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.001)
        found = checkpoint_of(folder)
        count, last = count - (found != last), found


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    out, _ = process.communicate()
    assert process.returncode == -signal.SIGKILL, out
    assert "Traceback" not in out
    assert "tilewright: " not in out


def saved_games(folder: RunFolder) -> int:
    """The games of the checkpoint; the rows of the learning curve are complete up to there."""
    games = load_checkpoint(folder, Trainer(ENDLESS)).games if folder.checkpoint_file.exists() else 0
    rows = [row.games for row in folder.curve_points() if row.window == ROW]
    assert rows == list(range(ROW, ROW * len(rows) + 1, ROW))
    assert len(rows) >= games // ROW
    return games


def assert_same_as_undisturbed(folder: RunFolder, path: Path, games: int) -> None:
    undisturbed = train(tiny(games=games, curve_games=ROW), path).folder
    assert learned(folder.path) == learned(undisturbed.path)
    assert rows_but_time(folder.path) == rows_but_time(undisturbed.path)
    assert np.array_equal(load_model(folder.model_file).weights, read_tensors(folder.checkpoint_file)[0]["weights"])
    assert list(folder.path.rglob("*.part")) == []


@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_a_run_killed_many_times_is_the_same_run(kills: int, tmp_path: Path) -> None:
    config, folder = tmp_path / "tiny.toml", RunFolder(tmp_path / "killed")
    ENDLESS.save(config)
    chance, saved = random.Random(7), 0
    for number in range(kills):
        process = start(folder, config)
        if number % 4 == 3:  # while it starts
            time.sleep(chance.uniform(0, 0.6))
            kill(process)
            assert saved_games(folder) >= saved
        else:
            wait_for_checkpoints(process, folder, chance.randint(1, 4))
            time.sleep(chance.uniform(0, 0.02))
            kill(process)
            assert saved_games(folder) > saved
        saved = saved_games(folder)
    games = saved + 1000
    process = start_tilewright("train", "--resume", str(folder.path), "--games", str(games), "--threads", "1")
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert out.startswith(f"{games:,} games, ")
    assert_same_as_undisturbed(folder, tmp_path / "undisturbed", games)


DYING = """
import itertools, os, signal
from tilewright.cli.main import main
import {module}
original, calls = {module}.{function}, itertools.count(1)
def dying(*arguments, **options):
    last = next(calls) == {call}
    if last and {before}:
        os.kill(os.getpid(), signal.SIGKILL)
    result = original(*arguments, **options)
    if last:
        os.kill(os.getpid(), signal.SIGKILL)
    return result
{module}.{function} = dying
main({arguments})
"""


def run_and_die(module: str, function: str, call: int, when: str, *arguments: str) -> None:
    """Run a command in a process that kills itself before or after a certain call of a function."""
    code = DYING.format(module=module, function=function, call=call, before=when == "before", arguments=arguments)
    died = run_python(code)
    assert died.returncode == -signal.SIGKILL, died.stderr


@pytest.mark.parametrize(
    ("module", "function", "call", "when"),
    [
        ("tilewright._core.files", "_chunks", 11, "before"),  # a checkpoint is half written
        ("os", "fsync", 7, "after"),  # a checkpoint is written, but the old one is still in its place
        ("tilewright._core.files", "_sync_folder", 7, "before"),  # the new one is in its place
        ("tilewright.training.run_folder", "RunFolder.append", 2, "after"),  # a row is written without a checkpoint
        ("tilewright.training.run_folder", "RunFolder.drop_rows_after", 1, "before"),  # a resumed run starts
        ("tilewright.training.run_folder", "RunFolder.save_checkpoint", 3, "before"),
    ],
)
def test_a_run_killed_at_a_certain_moment_is_the_same_run(
    module: str, function: str, call: int, when: str, tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path / "killed")
    train(tiny(games=100, curve_games=ROW, checkpoint_minutes=1e-6), folder.path)
    arguments = ["train", "--resume", str(folder.path), "--games", "1000", "--threads", "1"]
    run_and_die(module, function, call, when, *arguments)
    assert saved_games(folder) >= 100
    train(tiny(games=1000, curve_games=ROW), folder.path, resume=True)
    assert_same_as_undisturbed(folder, tmp_path / "undisturbed", 1000)


def scores(folder: Path) -> dict[str, object]:
    """The scores of every job of a suite, by its key."""
    return {job.key: job.result.get("scores") for job in Store(folder).jobs()}


def test_a_suite_killed_three_times_has_the_same_results(tmp_path: Path) -> None:
    tiny(lambda_=0.0, games=20_000, curve_games=1_000).save(tmp_path / "tiny.toml")
    arguments = ["sweep", str(tmp_path / "tiny.toml"), "alpha=0.25,0.5", "step_size=fixed,tc", "--evaluate-games", "50"]
    killed = [*arguments, "--out", str(tmp_path / "killed")]
    run_and_die("tilewright.training.trainer", "Trainer.learn", 5, "after", *killed)
    run_and_die("tilewright.reproduce.store", "Store.add", 1, "after", *killed)
    run_and_die("tilewright.reproduce.store", "Store.add", 2, "before", *killed)
    for name in ("killed", "undisturbed"):
        process = start_tilewright(*arguments, "--out", str(tmp_path / name), stderr=subprocess.STDOUT)
        out, _ = process.communicate()
        assert process.returncode == 0, out
    assert len(scores(tmp_path / "undisturbed")) == 8
    assert scores(tmp_path / "killed") == scores(tmp_path / "undisturbed")
