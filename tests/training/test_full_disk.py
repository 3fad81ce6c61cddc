"""Training on a disk that is full, for a while or for good: memory keeps what it can, and messages are true."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.full_disk import fill_disk, free_disk
from tests.process import HANG_SECONDS, environment
from tests.training.sessions import events_of, learned, rows_but_time, tiny, train
from tilewright._core import parallel
from tilewright.errors import FileError
from tilewright.ntuple.model import load_model
from tilewright.training import session as sessions
from tilewright.training.callbacks import Callback
from tilewright.training.run_folder import RunFolder
from tilewright.training.session import TrainingSession

OFTEN = 1e-6  # minutes between checkpoints: one after every few games


class FullFrom(Callback):
    """Fills the disk after some games, and frees it after some more."""

    def __init__(self, full: int, free: int) -> None:
        self._full, self._free = full, free
        self.said: list[str] = []

    def on_games_end(self, session: TrainingSession) -> None:
        fill_disk() if self._full <= session.progress.games < self._free else free_disk()

    def on_save_failed(self, session: TrainingSession, error: FileError) -> None:
        self.said.append(str(error))

    def on_save_recovered(self, session: TrainingSession) -> None:
        self.said.append("recovered")


@pytest.fixture(autouse=True)
def _games_one_by_one_and_a_free_disk_at_the_end(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(parallel, "_CHUNK_SECONDS", 0.0)
    yield
    free_disk()


def test_a_disk_that_is_full_for_a_while_changes_nothing(tmp_path: Path) -> None:
    train(tiny(), tmp_path / "straight")
    callback = FullFrom(50, 200)
    train(tiny(checkpoint_minutes=OFTEN), tmp_path / "full", callbacks=callback)
    failed = {Path(line.partition(": ")[0]).name for line in callback.said if line != "recovered"}
    assert {"metrics.csv", "checkpoint.safetensors"} < failed
    assert any(name.startswith("events.out.tfevents") for name in failed)
    assert callback.said[-1] == "recovered"
    assert rows_but_time(tmp_path / "full") == rows_but_time(tmp_path / "straight")
    assert events_of(tmp_path / "full") == events_of(tmp_path / "straight")
    assert learned(tmp_path / "full") == learned(tmp_path / "straight")
    assert not list((tmp_path / "full").glob("*.part"))


def test_the_end_of_a_training_waits_for_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train(tiny(), tmp_path / "straight")
    monkeypatch.setattr(sessions, "PATIENCE", 1000.0)

    class FreedLate(FullFrom):
        def on_save_failed(self, session: TrainingSession, error: FileError) -> None:
            super().on_save_failed(session, error)
            if len(self.said) > 32:  # 13 rows and their events failed on the way, and what the end writes
                free_disk()

    callback = FreedLate(50, 10**9)
    train(tiny(), tmp_path / "full", callbacks=callback)
    assert callback.said[-1] == "recovered"
    assert learned(tmp_path / "full") == learned(tmp_path / "straight")
    assert rows_but_time(tmp_path / "full") == rows_but_time(tmp_path / "straight")
    load_model(tmp_path / "full" / "model.safetensors")


def test_a_disk_that_stays_full_is_an_error_that_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "PATIENCE", 0.0)
    with pytest.raises(FileError, match="cannot be written: File too large") as error:
        train(tiny(), tmp_path / "never", callbacks=FullFrom(50, 10**9))
    assert str(error.value).endswith(
        "; not saved: model, checkpoint, rows of the learning curve, TensorBoard events; nothing is saved; "
        "there is no checkpoint to resume from"
    )
    free_disk()
    train(tiny(games=100), tmp_path / "once")
    with pytest.raises(FileError, match="a resumed run continues from the previous checkpoint"):
        train(tiny(), tmp_path / "once", resume=True, callbacks=FullFrom(150, 10**9))
    free_disk()
    assert RunFolder(tmp_path / "once").curve_points()[-1].games == 140
    train(tiny(), tmp_path / "once", resume=True)
    train(tiny(), tmp_path / "straight")
    assert learned(tmp_path / "once") == learned(tmp_path / "straight")
    assert rows_but_time(tmp_path / "once") == rows_but_time(tmp_path / "straight")


def test_a_checkpoint_alone_is_enough_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "PATIENCE", 0.0)
    (tmp_path / "run").mkdir()

    class InTheWay(Callback):
        def on_games_end(self, session: TrainingSession) -> None:
            session.folder.model_file.mkdir(exist_ok=True)

    with pytest.raises(FileError, match=r"not saved: model; saved: checkpoint, .*continues from here") as error:
        train(tiny(), tmp_path / "run", callbacks=InTheWay())
    assert "model.safetensors: cannot be written: Is a directory" in str(error.value)
    (tmp_path / "run" / "model.safetensors").rmdir()
    assert train(tiny(), tmp_path / "run", resume=True).progress.games == 300
    load_model(tmp_path / "run" / "model.safetensors")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_training_that_can_save_nothing(number: int, tmp_path: Path) -> None:
    """It would wait for room; a second signal ends that at once, whatever the disk does."""
    tiny(games=10**9).save(tmp_path / "endless.toml")
    code = (
        "import sys, resource\n"
        "from tilewright.training import session\n"
        "session.PATIENCE = 10_000.0\n"
        "from tilewright.cli.main import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, resource.RLIM_INFINITY))\n"
        "sys.exit(main(['train', 'endless.toml', '--out', 'run', '--threads', '1']))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if "cannot be written: File too large" in line and not any("cannot be" in before for before in said[:-1]):
            process.send_signal(number)  # the first file that is too large, whichever that is
        if "model.safetensors: cannot be written" in line:
            process.send_signal(number)
            break
    out, err = process.communicate(timeout=HANG_SECONDS)
    text = "".join(said) + err
    assert process.returncode == 1
    assert text.count("metrics.csv: cannot be written") <= 2  # said once, not with every row
    assert "Traceback" not in text
    assert "model run/model.safetensors" not in out
    assert "; not saved: model, checkpoint, " in text
    assert not (tmp_path / "run" / "model.safetensors").exists()
