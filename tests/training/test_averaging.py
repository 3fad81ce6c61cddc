"""Averaging in training sessions: when snapshots are taken, what the model is, and that a run can be interrupted."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.training.sessions import StopAfter, learned, time_by_games, tiny, train
from tilewright._core import memory
from tilewright._core.files import Array
from tilewright.errors import DivergedError, FileError, UsageError
from tilewright.learning.averaging import WeightAverage
from tilewright.learning.start_states import make_start_pool
from tilewright.ntuple.model import load_model
from tilewright.ntuple.stages import UNWRITTEN
from tilewright.training import schedule
from tilewright.training.config import TrainingConfig
from tilewright.training.run_folder import RunFolder
from tilewright.training.schedule import Progress, Schedule
from tilewright.training.session import open_session
from tilewright.training.trainer import Trainer

MARK = np.float32(UNWRITTEN)
ONE_STAGE = tiny(averaging=0.5)
PROMOTING = tiny(averaging=0.5, stages=("16", "32"), promote=True, stages_from=0.6)
IN_TURN = tiny(averaging=0.5, stages=("16", "16+8"), start_pool=40, teacher_fraction=0.25, lambda_=0.0)


@pytest.fixture
def snapshots(monkeypatch: pytest.MonkeyPatch) -> list[NDArray[np.float64]]:
    """All weights that were taken into a mean since the last `clear`, and five of them a stage."""
    taken: list[NDArray[np.float64]] = []
    add, clear = WeightAverage.add, WeightAverage.clear

    def note(average: WeightAverage, weights: NDArray[np.float32], threads: int = 1) -> None:
        taken.append(weights.astype(np.float64))
        add(average, weights, threads)

    def forget(average: WeightAverage) -> None:
        taken.clear()
        clear(average)

    monkeypatch.setattr(schedule, "SNAPSHOTS", 5)
    monkeypatch.setattr(WeightAverage, "add", note)
    monkeypatch.setattr(WeightAverage, "clear", forget)
    return taken


@pytest.mark.parametrize("changes", [{}, {"step_size": "fixed", "alpha": 0.1}])
def test_the_model_is_the_mean_and_learning_goes_on_without_it(
    changes: dict[str, Any], snapshots: list[NDArray[np.float64]], tmp_path: Path
) -> None:
    session = train(ONE_STAGE.replace(**changes), tmp_path / "averaged")
    assert len(snapshots) == 5
    assert not np.array_equal(snapshots[0], snapshots[4])
    weights = load_model(session.folder.model_file).weights
    assert weights == pytest.approx(np.mean(snapshots, axis=0), rel=1e-5, abs=1e-4)
    assert np.array_equal(session.trainer.weights, snapshots[4].astype(np.float32))
    without = train(ONE_STAGE.replace(averaging=0.0, **changes), tmp_path / "last").trainer
    assert np.array_equal(session.trainer.weights, without.weights)
    assert np.array_equal(session.trainer.sums, without.sums)


def test_snapshots_are_at_equal_distances_and_the_last_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "SNAPSHOTS", 4)
    by_games = Schedule(tiny(games=300, averaging=0.4))
    due = [by_games.snapshots_due(Progress(games=games)) for games in (0, 180, 209, 210, 240, 269, 270, 299, 300)]
    assert due == [0, 0, 0, 1, 2, 2, 3, 3, 4]
    both = Schedule(tiny(games=300, minutes=1, averaging=0.4))
    assert [both.next_snapshot(Progress(games=200, seconds=second)) for second in (0, 47.9)] == [(210, 42), (240, 48)]
    later = Progress(games=150, stage=1, stage_start_games=120)
    assert Schedule(IN_TURN.replace(averaging=1.0)).next_snapshot(later).games == 165
    off = Schedule(tiny())
    assert (off.snapshots_due(Progress()), off.next_snapshot(Progress()).games) == (0, 300)


def test_a_budget_of_time_has_its_snapshots_as_well(
    snapshots: list[NDArray[np.float64]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_session(ONE_STAGE.replace(games=0, minutes=5), tmp_path / "time", threads=1)
    time_by_games(session, monkeypatch)
    session.run()
    assert session.progress.seconds == 300
    train(ONE_STAGE, tmp_path / "games")  # a second is a game
    assert learned(tmp_path / "time") == learned(tmp_path / "games")


def test_every_stage_in_turn_keeps_its_own_mean(snapshots: list[NDArray[np.float64]], tmp_path: Path) -> None:
    means: list[NDArray[np.float64]] = []
    start_next_stage = Trainer.start_next_stage

    def note(trainer: Trainer, stage: int) -> None:
        assert len(snapshots) == 5
        means.append(np.mean(snapshots, axis=0))
        start_next_stage(trainer, stage)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "start_next_stage", note)
        session = train(IN_TURN, tmp_path)
    wanted = np.concatenate([*means, np.mean(snapshots, axis=0)])
    assert load_model(session.folder.model_file).weights == pytest.approx(wanted, rel=1e-5, abs=1e-4)


def test_start_boards_are_collected_by_the_mean() -> None:
    trainer = Trainer(IN_TURN)
    trainer.learn(0, 50)
    trainer.take_snapshot()
    reached = trainer.collect_starts(0, 20)
    trainer.weights[:] = 0
    assert all(np.array_equal(a, b) for a, b in zip(reached, trainer.collect_starts(0, 20), strict=True))
    trainer.average.clear()
    assert not np.array_equal(reached.cells, trainer.collect_starts(0, 20).cells)


def test_stages_that_promote_keep_the_marks_of_weights_never_written(
    snapshots: list[NDArray[np.float64]], tmp_path: Path
) -> None:
    session = train(PROMOTING, tmp_path)
    assert [bool((weights > MARK).all()) for weights in snapshots] == [False] * 5
    weights = load_model(session.folder.model_file).weights
    assert np.array_equal(weights <= MARK, snapshots[4] <= MARK)
    assert (snapshots[0] <= MARK).sum() > (snapshots[4] <= MARK).sum()


@pytest.mark.parametrize("config", [ONE_STAGE, PROMOTING, IN_TURN], ids=["one-stage", "promoting", "in-turn"])
def test_a_run_that_is_interrupted_has_the_same_mean(config: TrainingConfig, tmp_path: Path) -> None:
    train(config, tmp_path / "undisturbed")
    for games in (60, 90, 170, 220, 290):
        train(config, tmp_path / "stopped", resume=games > 60, callbacks=StopAfter(games))
    train(config, tmp_path / "stopped", resume=True)
    assert learned(tmp_path / "stopped") == learned(tmp_path / "undisturbed")
    models = [load_model(RunFolder(tmp_path / name).model_file) for name in ("stopped", "undisturbed")]
    assert np.array_equal(models[0].weights, models[1].weights)


def test_a_larger_budget_begins_the_mean_anew_where_its_last_part_begins_later(tmp_path: Path) -> None:
    longer = ONE_STAGE.replace(games=700)
    train(ONE_STAGE, tmp_path / "longer")
    train(longer, tmp_path / "longer", resume=True)
    train(longer, tmp_path / "at-once")
    assert learned(tmp_path / "longer") == learned(tmp_path / "at-once")


def test_a_model_saved_before_the_first_snapshot_has_the_last_weights(tmp_path: Path) -> None:
    session = train(ONE_STAGE, tmp_path, callbacks=StopAfter(100))
    assert np.array_equal(load_model(session.folder.model_file).weights, session.trainer.weights)


def test_evaluations_play_the_mean(tmp_path: Path) -> None:
    session = train(ONE_STAGE, tmp_path)
    score, _ = session._evaluate()
    session.trainer.weights[:] = 0
    assert session._evaluate()[0] == score


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mean": np.zeros(5, np.float32)}, "a mean of 5 weights and 1 snapshots"),
        ({"snapshots": np.zeros(1, np.int64)}, "a mean of 8,192 weights and 0 snapshots"),
        ({"snapshots": np.full(1, -1)}, "a mean of 8,192 weights and -1 snapshots"),
        ({"mean": np.full(8192, np.nan, np.float32)}, "of the mean, weight 0 is nan"),
        ({"mean": np.full(8192, UNWRITTEN, np.float32)}, "of the mean, weight 0 is marked as unwritten"),
        ({"mean": np.zeros(8192, np.float64)}, "mean is missing or has another size"),
    ],
)
def test_an_impossible_mean_in_a_checkpoint_is_refused(changes: dict[str, Array], message: str) -> None:
    trainer = Trainer(ONE_STAGE)
    trainer.take_snapshot()
    tensors = {name: np.array(array) for name, array in trainer.tensors().items()}
    trainer.restore(tensors)
    with pytest.raises(FileError, match=message):
        trainer.restore(tensors | changes)


def test_checkpoints_without_averaging_have_no_mean() -> None:
    assert set(Trainer(tiny()).tensors()) == {"weights", "sums", "alpha"}


@pytest.mark.parametrize(
    ("config", "arrays"),
    [(tiny(), 3), (ONE_STAGE, 4), (PROMOTING, 4 * 3), (IN_TURN.replace(averaging=0.0), 3 * 3), (IN_TURN, 3 * 4 + 1)],
)
def test_the_memory_of_the_mean_is_asked_for(
    config: TrainingConfig, arrays: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In multiples of the 8,192 weights of a stage; a model of stages in turn is a copy."""
    monkeypatch.setattr(memory, "available_memory", lambda: 4 * 8192 * arrays - 1)
    with pytest.raises(UsageError, match="training a network of"):
        Trainer(config)
    monkeypatch.setattr(memory, "available_memory", lambda: 4 * 8192 * arrays)
    assert len(Trainer(config).average.mean) == 0


def test_weights_that_diverge_are_found_in_spite_of_snapshots(tmp_path: Path) -> None:
    session = open_session(ONE_STAGE, tmp_path, threads=1)
    session.trainer.weights[7] = np.inf
    with pytest.raises(DivergedError):
        session.run()


def test_a_stage_without_snapshots_ends_with_its_own_weights() -> None:
    trainer = Trainer(IN_TURN.replace(averaging=0.0))
    trainer.learn(0, 20)
    before = trainer.weights.copy()
    trainer.found = make_start_pool(3)
    trainer.start_next_stage(0)
    assert np.array_equal(trainer.weights, before)
