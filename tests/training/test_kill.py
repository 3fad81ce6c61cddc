"""Runs and suites that are killed again and again, often while saving, and always go on."""

import random
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.process import start_tilewright
from tests.training.sessions import learned, rows_but_time, tiny, train
from tilewright._core.files import read_tensors
from tilewright.ntuple.model import load_model
from tilewright.reproduce.store import Store
from tilewright.training.run_folder import RunFolder
from tilewright.training.trainer import Trainer

# More games than are played until the last kill.
RECIPE = tiny(games=150_000, curve_games=250, checkpoint_minutes=0.0002)


def start(config: Path, folder: RunFolder, *more: str) -> subprocess.Popen[str]:
    arguments = ["train", str(config), "--out", str(folder.path), "--threads", "1", *more]
    return start_tilewright(
        *arguments, *(["--resume"] if folder.config_file.exists() else []), stderr=subprocess.STDOUT
    )


def saves(folder: RunFolder) -> tuple[int, int]:
    """Changes with every checkpoint and every new session."""
    changed = folder.checkpoint_file.stat().st_mtime_ns if folder.checkpoint_file.exists() else 0
    return changed, len(list(folder.path.glob("events.*")))


def kill_at_some_moment(process: subprocess.Popen[str], folder: RunFolder, chance: random.Random) -> None:
    """Most times soon after training has begun, sometimes while the process is still starting."""
    before, deadline = saves(folder), time.monotonic() + 60
    starting = folder.config_file.exists() and chance.random() < 0.2
    while not starting and saves(folder) == before:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.001)
    time.sleep(chance.uniform(0, 0.6 if starting else 0.35))
    process.kill()
    out, _ = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL, out
    assert "Traceback" not in out
    assert "tilewright: " not in out


@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_a_run_killed_many_times_is_the_same_run(kills: int, tmp_path: Path) -> None:
    config, folder = tmp_path / "tiny.toml", RunFolder(tmp_path / "killed")
    RECIPE.save(config)
    chance, saved = random.Random(7), [0]
    for _ in range(kills):
        kill_at_some_moment(start(config, folder), folder, chance)
        games = folder.load_checkpoint(Trainer(RECIPE)).games if folder.checkpoint_file.exists() else 0
        assert games >= saved[-1]
        saved.append(games)
        rows = [row.games for row in folder.curve_points()]
        assert rows == list(range(250, 250 * len(rows) + 1, 250))
        assert len(rows) >= games // 250
    assert len(set(saved)) > kills / 4
    assert saved[-1] < RECIPE.games
    process = start(config, folder, "--set", "checkpoint_minutes=5")
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0, out
    assert list(folder.path.rglob("*.part")) == []
    undisturbed = train(replace(RECIPE, checkpoint_minutes=5), tmp_path / "undisturbed")
    assert learned(folder.path) == learned(undisturbed.folder.path)
    assert rows_but_time(folder.path) == rows_but_time(undisturbed.folder.path)
    assert np.array_equal(load_model(folder.model_file).weights, read_tensors(folder.checkpoint_file)[0]["weights"])


def scores(folder: Path) -> dict[str, object]:
    """The scores of every job of a suite, by its key."""
    return {job.key: job.result.get("scores") for job in Store(folder).jobs()}


def test_a_suite_killed_three_times_has_the_same_results(tmp_path: Path) -> None:
    tiny(lambda_=0.0, games=80_000, curve_games=1_000).save(tmp_path / "tiny.toml")
    arguments = ["sweep", str(tmp_path / "tiny.toml"), "alpha=0.25,0.5", "step_size=fixed,tc", "--games", "50"]
    chance, kills = random.Random(9), 0
    while kills < 3:
        process = start_tilewright(*arguments, "--out", str(tmp_path / "killed"), stderr=subprocess.STDOUT)
        assert process.stdout is not None
        assert "jobs, " in process.stdout.readline()
        time.sleep(chance.uniform(0.2, 1.2))
        if process.poll() is not None:
            break
        process.kill()
        process.communicate(timeout=60)
        kills += 1
    assert kills
    for name in ("killed", "undisturbed"):
        process = start_tilewright(*arguments, "--out", str(tmp_path / name), stderr=subprocess.STDOUT)
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0, out
    assert len(scores(tmp_path / "undisturbed")) == 8
    assert scores(tmp_path / "killed") == scores(tmp_path / "undisturbed")
