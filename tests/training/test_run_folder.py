"""Run folders: rows, checkpoints and events, complete or as a crash left them."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from tests.training.sessions import events_of, purges_of, tiny
from tilewright._core.config import config_from_toml
from tilewright._core.files import read_tensors, write_tensors
from tilewright.errors import FileError
from tilewright.training.config import TrainingConfig
from tilewright.training.event_log import EventLog
from tilewright.training.ntuple_session import load_checkpoint, save_checkpoint
from tilewright.training.run_folder import (
    CurvePoint,
    DeepPoint,
    EvaluationPoint,
    RunFolder,
    StagePoint,
    TrainingPoint,
)
from tilewright.training.schedule import Pending, Progress
from tilewright.training.trainer import Trainer

POINTS: list[TrainingPoint | EvaluationPoint] = [
    CurvePoint(20 * i, 0.1 * i, 1234 * i, 20, 100 / 3 * i, 10**i, 1 / 7 * i, float(np.float32(0.1)))
    for i in range(1, 8)
]
EVALUATIONS: list[TrainingPoint | EvaluationPoint] = [
    EvaluationPoint(15 * i, i / 3, 10, 200 / 3, 2 / 3, 1e5 / 3, 1 / 3) for i in range(1, 5)
]
STAGES = [StagePoint(2, 40, 0.2, 10, 30, 1000 / 3), StagePoint(3, 80, 0.4, 10, 300, 2000 / 3)]


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """With a learning curve, evaluations and stages."""
    folder = RunFolder(tmp_path)
    for point in (*POINTS, *EVALUATIONS):
        folder.append(point)
    for stage in STAGES:
        folder.append(stage)
    return folder


def test_rows_come_back_as_they_were(folder: RunFolder) -> None:
    assert folder.curve_points() == POINTS
    assert folder.evaluation_points() == EVALUATIONS
    assert folder.stage_points() == STAGES
    headers = [file.read_text().splitlines()[0] for file in (folder.metrics_file, folder.evaluations_file)]
    assert headers == [
        "games,seconds,moves,window,score_mean,score_max,win_rate,alpha,stage,share_max",
        "games,seconds,evaluate_games,score_mean,score_low,score_high,win_rate",
    ]
    assert folder.stages_file.read_text().splitlines()[0] == (
        "stage,games,seconds,start_boards,collect_games,baseline_score"
    )


@pytest.mark.parametrize("kind", [CurvePoint, DeepPoint, EvaluationPoint, StagePoint])
def test_every_column_is_documented(kind: type[CurvePoint | DeepPoint | EvaluationPoint | StagePoint]) -> None:
    text = "".join(base.__doc__ or "" for base in kind.__mro__)
    for column in dataclasses.fields(kind):
        assert f"| {column.name} " in text


def test_rows_of_a_deep_network_are_recognised_by_their_columns(tmp_path: Path) -> None:
    points = [DeepPoint(5 * i, 0.5 * i, 99 * i, 5, 10.5, 32, 0.25, 16, 0.125, 1 / 3) for i in range(1, 4)]
    folder = RunFolder(tmp_path)
    for point in points:
        folder.append(point)
    assert folder.curve_points() == points


def test_a_folder_without_rows_has_none(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "nowhere")
    assert (folder.curve_points(), folder.evaluation_points()) == ([], [])
    folder.drop_rows_after(Progress())
    assert not folder.path.exists()


def test_a_row_that_was_cut_short_anywhere_is_left_out(folder: RunFolder) -> None:
    content = folder.metrics_file.read_bytes()
    for end in range(len(content)):
        folder.metrics_file.write_bytes(content[:end])
        complete = max(0, content[:end].count(b"\n") - 1)
        assert folder.curve_points() == POINTS[:complete]


def test_rows_of_noise_are_left_out(folder: RunFolder) -> None:
    lines = folder.metrics_file.read_bytes().splitlines(keepends=True)
    noise = [b"\0" * 50 + b"\n", b"\xff\xfe\xfd\n", b"\n", b"a,b,c,d,e,f,g\n", b'"20,0.1\n']
    folder.metrics_file.write_bytes(b"".join([*lines[:3], *noise[:4], *lines[3:], noise[4]]))
    assert folder.curve_points() == POINTS


@pytest.mark.parametrize(
    ("progress", "curve", "evaluations", "stages"),
    [
        (Progress(), 0, 0, 0),
        (Progress(games=39, pending=Pending(19)), 1, 2, 0),
        (Progress(games=40), 2, 2, 0),
        (Progress(games=40, stage=1), 2, 2, 1),
        (Progress(games=60, stage=1), 3, 4, 1),
        (Progress(games=60, stage=1, pending=Pending(5)), 2, 4, 1),
        (Progress(games=1000, stage=2), 7, 4, 2),
    ],
)
def test_rows_that_a_resumed_session_writes_again_are_dropped(
    folder: RunFolder, progress: Progress, curve: int, evaluations: int, stages: int
) -> None:
    """Pending games have no full row yet: a row of exactly these games was written when the session ended."""
    folder.metrics_file.write_bytes(folder.metrics_file.read_bytes() + b"160,0.8,12")
    folder.drop_rows_after(progress)
    assert folder.curve_points() == POINTS[:curve]
    assert folder.evaluation_points() == EVALUATIONS[:evaluations]
    assert folder.stage_points() == STAGES[:stages]
    again = CurvePoint(1020, 1.0, 1, 20, 1.0, 1, 0.0, 0.5)
    folder.append(again)
    assert folder.curve_points() == [*POINTS[:curve], again]


def test_a_row_that_cannot_be_written_is_a_file_error(tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").mkdir()
    with pytest.raises(FileError, match=r"metrics.csv: cannot be written: Is a directory"):
        RunFolder(tmp_path).append(POINTS[0])


def test_a_checkpoint_brings_a_trainer_to_where_it_was(tmp_path: Path) -> None:
    folder, trainer = RunFolder(tmp_path), Trainer(tiny())
    trainer.learn(0, 50)
    trainer.alpha *= 0.5
    progress = Progress(50, 2345, 1.25, 1, 40, pending=Pending(10, 2**40, 7, 3))
    save_checkpoint(folder, trainer, progress)
    other = Trainer(tiny())
    assert load_checkpoint(folder, other) == progress
    for name, tensor in trainer.tensors().items():
        assert other.tensors()[name].tobytes() == tensor.tobytes()
        assert tensor.any()
    assert config_from_toml(TrainingConfig, read_tensors(folder.checkpoint_file)[1]["config"]) == tiny()


def test_a_checkpoint_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    folder, trainer = RunFolder(tmp_path), Trainer(tiny())
    save_checkpoint(folder, trainer, Progress())
    for changes in ({"tuples": ("012", "45")}, {"step_size": "fixed"}, {"value_function": "action"}):
        with pytest.raises(FileError, match="the checkpoint does not match the config"):
            load_checkpoint(folder, Trainer(tiny(**changes)))


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    folder, trainer = RunFolder(tmp_path), Trainer(tiny())
    trainer.model({}).save(folder.checkpoint_file)
    with pytest.raises(FileError, match="not a checkpoint of this version"):
        load_checkpoint(folder, trainer)
    folder.checkpoint_file.write_bytes(b"something else")
    with pytest.raises(FileError, match="not a safetensors file"):
        load_checkpoint(folder, trainer)
    folder.checkpoint_file.unlink()
    with pytest.raises(FileError, match="No such file"):
        load_checkpoint(folder, trainer)


@pytest.mark.parametrize("progress", [None, "", "[]", "{", '{"games": 1, "luck": 2}', '{"pending": 3}'])
def test_a_damaged_progress_is_refused(tmp_path: Path, progress: str | None) -> None:
    folder, trainer = RunFolder(tmp_path), Trainer(tiny())
    save_checkpoint(folder, trainer, Progress())
    metadata = read_tensors(folder.checkpoint_file)[1]
    assert json.loads(metadata.pop("progress")) == dataclasses.asdict(Progress())
    write_tensors(
        folder.checkpoint_file, trainer.tensors(), metadata if progress is None else metadata | {"progress": progress}
    )
    with pytest.raises(FileError, match="its progress is damaged"):
        load_checkpoint(folder, trainer)


def test_a_folder_without_a_config_holds_no_run(tmp_path: Path) -> None:
    assert not RunFolder(tmp_path).exists()
    with pytest.raises(FileError, match=r"no run to resume or read: there is no config.toml"):
        RunFolder(tmp_path).read_config()
    tiny().save(tmp_path / "config.toml")
    assert RunFolder(tmp_path).exists()
    assert RunFolder(tmp_path).read_config() == tiny()


def test_only_unfinished_files_of_a_run_are_removed(folder: RunFolder) -> None:
    unfinished = [
        folder.path / f".{name}.0123.part" for name in ("checkpoint.safetensors", "metrics.csv", "report.html")
    ]
    others = [folder.path / name for name in ("checkpoint.part", ".mine.part", "notes.txt")]
    for path in (*unfinished, *others):
        path.write_text("half")
    folder.remove_unfinished()
    assert not any(path.exists() for path in unfinished)
    assert all(path.exists() for path in (*others, folder.metrics_file, folder.evaluations_file))


def test_events_have_the_numbers_of_the_rows(tmp_path: Path) -> None:
    log = EventLog(tmp_path, 0)
    for point in (*POINTS, *EVALUATIONS):
        log.add(point)
    events = events_of(tmp_path)
    assert events.keys() == {
        *("train/score_mean", "train/score_max", "train/win_rate", "train/alpha", "train/stage", "train/share_max"),
        *(f"evaluation/{column}" for column in ("score_mean", "score_low", "score_high", "win_rate")),
    }
    for name, found in events.items():
        group, _, column = name.partition("/")
        rows = POINTS if group == "train" else EVALUATIONS
        assert found == [(row.games, float(np.float32(getattr(row, column)))) for row in rows]


def test_a_resumed_run_hides_the_events_that_it_plays_again(tmp_path: Path) -> None:
    """TensorBoard drops events at or after the step of a session's start; both logs begin within the same second."""
    for games in (0, 40):
        EventLog(tmp_path, games).add(POINTS[0])
    assert purges_of(tmp_path) == [1, 41]
    assert len(events_of(tmp_path)["train/alpha"]) == 2
