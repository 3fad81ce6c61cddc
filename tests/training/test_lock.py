"""Two sessions never write to one run folder."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.process import start_tilewright
from tests.training.sessions import StopAfter, learned, tiny, train
from tilewright.errors import UsageError
from tilewright.training.callbacks import Callback
from tilewright.training.run_folder import RunFolder
from tilewright.training.session import TrainingSession, open_session


def test_a_second_session_is_refused_with_the_process_that_is_there(tmp_path: Path) -> None:
    class Intruder(Callback):
        def on_games_end(self, session: TrainingSession) -> None:
            in_use = f"run is in use by process {os.getpid()}: wait until it ends, or choose another folder"
            with pytest.raises(UsageError, match=in_use):
                open_session(tiny(), tmp_path / "run", resume=True)

    train(tiny(), tmp_path / "straight")
    train(tiny(), tmp_path / "run", callbacks=Intruder())
    assert learned(tmp_path / "run") == learned(tmp_path / "straight")


def test_the_lock_ends_with_the_session_however_it_ends(tmp_path: Path) -> None:
    class Fails(Callback):
        def on_games_end(self, session: TrainingSession) -> None:
            raise RuntimeError

    train(tiny(), tmp_path, callbacks=StopAfter(20))
    for _ in range(2):
        with pytest.raises(RuntimeError):
            train(tiny(), tmp_path, resume=True, callbacks=Fails())
    session = open_session(tiny(), tmp_path, resume=True)
    with pytest.raises(UsageError, match="in use by process"):
        open_session(tiny(), tmp_path, resume=True)
    del session
    assert train(tiny(), tmp_path, resume=True).progress.games == 300


def test_a_killed_process_leaves_a_run_that_can_be_resumed(tmp_path: Path) -> None:
    """Also while it runs, another process is refused before it has changed anything."""
    tiny(games=10**9, checkpoint_minutes=0.0002).save(tmp_path / "endless.toml")
    folder = RunFolder(tmp_path / "run")
    process = start_tilewright(
        "train", str(tmp_path / "endless.toml"), "--out", str(folder.path), "--threads", "1", stderr=subprocess.STDOUT
    )
    while not folder.checkpoint_file.exists():
        assert process.poll() is None, process.communicate()
    for resume in (["--resume", str(folder.path)], [str(tmp_path / "endless.toml"), "--out", str(folder.path)]):
        second = start_tilewright("train", *resume)
        out, err = second.communicate()
        assert (second.returncode, out) == (2, "")
        assert f"in use by process {process.pid}" in err or "already holds a run" in err
    process.kill()
    assert process.wait() == -signal.SIGKILL
    process.communicate()
    games = folder.curve_points()[-1].games + 1000
    assert train(tiny(games=games, checkpoint_minutes=1), folder.path, resume=True).progress.games == games


def test_a_new_run_touches_nothing_that_is_there(tmp_path: Path) -> None:
    """A folder of something else, with a file of the same name."""
    for name in ("model.safetensors", "metrics.csv", "report.html", "curve.png"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_text("mine")
        with pytest.raises(UsageError, match=f"{name} already exists and would be replaced: choose another folder"):
            open_session(tiny(), tmp_path / name)
        assert [file.name for file in (tmp_path / name).iterdir()] == [name]


def test_a_new_run_removes_what_a_session_left_that_was_killed_before_it_began(tmp_path: Path) -> None:
    """Killed while it wrote its configuration, so that there is no run to resume."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / ".config.toml.0123456789abcdef.part").write_text("games = ")
    (folder / ".mine.part").write_text("somebody else's")
    train(tiny(games=5), folder)
    assert [path.name for path in folder.glob("*.part")] == [".mine.part"]
