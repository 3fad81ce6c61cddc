"""Stages trained one after the other: when a stage starts, and that a session can be interrupted anywhere."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from tests.training.sessions import StopAfter, learned, rows_but_time, time_by_games, tiny, train
from tilewright.errors import UnreachedError
from tilewright.games.policy import GameResults
from tilewright.ntuple.model import load_model
from tilewright.training.callbacks import Callback
from tilewright.training.ntuple_session import NTupleSession
from tilewright.training.run_folder import CurvePoint, RunFolder, StagePoint
from tilewright.training.schedule import Phase
from tilewright.training.session import TrainingSession, open_session
from tilewright.training.trainer import FIRST_PHASE, Trainer

IN_TURN = tiny(stages=("16", "16+8"), start_pool=40, lambda_=0.0)


class StopWhileCollecting(Callback):
    """Stops a session after a number of games that collect start boards in a stage."""

    def __init__(self, stage: int, games: int) -> None:
        self._stage, self._games = stage, games

    def on_starts_collected(self, session: TrainingSession) -> bool:
        assert isinstance(session, NTupleSession)
        return session.progress.stage != self._stage or session.progress.collect_games < self._games


def stages_of_rows(path: Path) -> list[int]:
    """The stage of every row of the learning curve."""
    return [point.stage for point in RunFolder(path).curve_points() if isinstance(point, CurvePoint)]


def stage_rows(path: Path) -> list[StagePoint]:
    return [dataclasses.replace(point, seconds=0.0) for point in RunFolder(path).stage_points()]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("in-turn")
    train(IN_TURN, path)
    return path


def assert_same_run(path: Path, other: Path) -> None:
    assert learned(path) == learned(other)
    assert rows_but_time(path) == rows_but_time(other)
    assert stage_rows(path) == stage_rows(other)


def test_stages_share_the_games_equally(undisturbed: Path) -> None:
    stages = stage_rows(undisturbed)
    assert [(point.stage, point.games, point.start_boards) for point in stages] == [(2, 100, 40), (3, 200, 40)]
    assert all(point.collect_games >= point.start_boards for point in stages)
    assert stages_of_rows(undisturbed) == [1] * 5 + [2] * 5 + [3] * 5
    shape = load_model(RunFolder(undisturbed).model_file).architecture
    assert shape.stages == IN_TURN.stages


def test_maxima_of_a_stage_are_taken_from_the_share_of_games_that_reach_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Yeh et al. 2016, Fig. 8: if 30 % of the games reach a stage, the first 30 % of its games count."""
    scores, count = dict[int, list[int]](), NTupleSession._count

    def note(session: NTupleSession, results: GameResults) -> None:
        scores.setdefault(session.progress.stage + 1, []).extend(results.scores.tolist())
        count(session, results)

    monkeypatch.setattr(NTupleSession, "_count", note)
    config = tiny(stages=("64", "64+32"), start_pool=40, lambda_=0.0)
    session = train(config, tmp_path)
    rows = [point for point in session.folder.curve_points() if isinstance(point, CurvePoint)]
    share, n = session.progress.stage_share, config.curve_games
    assert 0 < share < 0.9
    for stage, counted in ((1, n), (3, round(share * n))):
        found = [row.share_max for row in rows if row.stage == stage]
        assert found == [max(scores[stage][i : i + counted]) for i in range(0, len(scores[stage]), n)]
    assert any(row.share_max < row.score_max for row in rows if row.stage == 3)


def test_a_stage_begins_better_than_a_new_game(undisturbed: Path) -> None:
    """Its scores count what came before: none can be below the 16 that begins the stage, made of fours at best."""
    rows = zip(stages_of_rows(undisturbed), rows_but_time(undisturbed), strict=True)
    assert min(point.score_mean for stage, point in rows if stage > 1) > 32


@pytest.mark.parametrize("games", [30, 150, 199, 201, 260])
def test_going_on_in_any_stage_is_as_if_nothing_had_happened(undisturbed: Path, tmp_path: Path, games: int) -> None:
    session = train(IN_TURN, tmp_path, callbacks=StopAfter(games))
    stage = session.progress.stage
    assert len(load_model(session.folder.model_file).architecture.stages) == stage
    assert session.progress.games < IN_TURN.games
    session = train(IN_TURN, tmp_path, resume=True)
    assert_same_run(tmp_path, undisturbed)


@pytest.mark.parametrize("stage", [0, 1])
def test_going_on_while_boards_are_collected_is_as_well(undisturbed: Path, tmp_path: Path, stage: int) -> None:
    session = train(IN_TURN, tmp_path, callbacks=StopWhileCollecting(stage, 5))
    assert session.progress.stage == stage
    assert session.progress.collect_games > 0
    assert len(session.trainer.found.cells) < IN_TURN.start_pool
    train(IN_TURN, tmp_path, resume=True)
    assert_same_run(tmp_path, undisturbed)


def test_a_row_of_a_stage_that_was_not_saved_is_written_once(undisturbed: Path, tmp_path: Path) -> None:
    """A crash between the row and the checkpoint: the stage begins again."""
    session = train(IN_TURN, tmp_path, callbacks=StopAfter(60))
    session.folder.append(StagePoint(2, session.progress.games, 1.0, 3, 3, 3.0))
    train(IN_TURN, tmp_path, resume=True)
    assert_same_run(tmp_path, undisturbed)


def test_more_games_than_at_first_lengthen_the_stage_under_way(tmp_path: Path) -> None:
    """Boards that were found are forgotten where the stage learns on."""
    train(IN_TURN, tmp_path, callbacks=StopWhileCollecting(0, 5))
    longer = dataclasses.replace(IN_TURN, games=600)
    session = train(longer, tmp_path, resume=True)
    assert [point.games for point in session.folder.stage_points()] == [200, 400]
    train(longer, tmp_path / "at-once")
    assert_same_run(tmp_path, tmp_path / "at-once")


def test_later_stages_are_taught_for_a_part_of_their_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learn, last = Trainer.learn, dict[tuple[int, bool], int]()

    def spy(trainer: Trainer, first: int, count: int, phase: Phase = FIRST_PHASE) -> GameResults:
        if count:
            last[phase.stage, phase.taught] = first + count
        return learn(trainer, first, count, phase)

    config = dataclasses.replace(IN_TURN, teacher_fraction=0.25)
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "learn", spy)
        train(config, tmp_path / "undisturbed")
    assert last == {(0, False): 100, (1, True): 125, (1, False): 200, (2, True): 225, (2, False): 300}
    for games in (110, 150):
        train(config, tmp_path / f"{games}", callbacks=StopAfter(games))
        train(config, tmp_path / f"{games}", resume=True)
        assert_same_run(tmp_path / f"{games}", tmp_path / "undisturbed")


def test_a_stage_that_is_never_reached_is_an_error_and_loses_nothing(tmp_path: Path) -> None:
    config = dataclasses.replace(IN_TURN, stages=("512",), start_pool=2)
    with pytest.raises(UnreachedError, match="none of 100 games reached 512: stage 2 has no boards to start from"):
        train(config, tmp_path)
    assert load_model(RunFolder(tmp_path).model_file).weights.any()
    assert [row.games for row in rows_but_time(tmp_path)] == [20, 40, 60, 80, 100, 120, 140, 150]


def test_by_time_every_stage_gets_its_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = open_session(IN_TURN.replace(games=0, minutes=5), tmp_path, threads=1)
    time_by_games(session, monkeypatch)
    session.run()
    assert [point.seconds for point in session.folder.stage_points()] == [100, pytest.approx(200, abs=1)]
    assert (session.progress.stage, session.progress.seconds) == (2, 300)
    weights = session.trainer.weights.reshape(3, -1)
    assert np.count_nonzero(weights, axis=1).all()
