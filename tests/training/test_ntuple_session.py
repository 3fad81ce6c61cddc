"""Sessions of n-tuple networks: what they write is true, and a resumed run is the same run."""

import dataclasses
import itertools
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.training.sessions import ONLINE, StopAfter, events_of, learned, rows_but_time, time_by_games, tiny, train
from tilewright import evaluate
from tilewright._core.files import read_tensors
from tilewright.agents.ntuple import NTupleAgent
from tilewright.errors import ConfigError, DivergedError, FileError, UsageError
from tilewright.ntuple.model import load_model
from tilewright.training.callbacks import Callback
from tilewright.training.config import TrainingConfig, read_config
from tilewright.training.ntuple_session import IMPROVEMENT, NTupleSession, load_checkpoint
from tilewright.training.run_folder import CurvePoint, EvaluationPoint, RunFolder
from tilewright.training.schedule import Progress
from tilewright.training.session import EVALUATION_SEED, TrainingSession, open_session
from tilewright.training.trainer import Trainer

OFTEN = 1e-6  # minutes: after every piece of work


class CrashAfter(Callback):
    """Ends a session without saving, as a crash would."""

    def __init__(self, games: int) -> None:
        self._games = games

    def on_games_end(self, session: TrainingSession) -> None:
        if session.progress.games >= self._games:
            raise ZeroDivisionError("a crash")


def crash(config: TrainingConfig, path: Path, games: int, *, resume: bool = False) -> None:
    with pytest.raises(ZeroDivisionError, match="a crash"):
        train(config, path, resume=resume, callbacks=CrashAfter(games))


def without_time(progress: Progress) -> Progress:
    return dataclasses.replace(progress, seconds=0.0)


def test_a_session_leaves_its_files(tmp_path: Path) -> None:
    session = train(tiny(), tmp_path / "deep" / "run")
    names = sorted(file.name for file in session.folder.path.iterdir())
    assert names[:2] == ["checkpoint.safetensors", "config.toml"]
    assert names[2].startswith("events.out.tfevents.")
    assert names[3:] == ["metrics.csv", "model.safetensors", "session.lock"]
    assert read_config(session.folder.config_file) == tiny()
    assert load_model(session.folder.model_file).weights.tobytes() == learned(session.folder.path)["weights"]


@pytest.mark.parametrize("changes", [{}, ONLINE, {"games": 310, "curve_games": 7}], ids=["backward", "online", "odd"])
def test_the_curve_is_that_of_the_games(tmp_path: Path, changes: dict[str, Any]) -> None:
    config = tiny(**changes)
    session = train(config, tmp_path)
    trainer = Trainer(config)
    scores, moves, codes = trainer.learn(0, config.games)
    n = config.curve_games
    expected = [
        CurvePoint(
            games=end,
            seconds=0.0,
            moves=int(moves[:end].sum()),
            window=end - start,
            score_mean=scores[start:end].mean(),
            score_max=scores[start:end].max(),
            win_rate=(codes[start:end] >= 6).mean(),  # 64 wins
            alpha=trainer.alpha[0],
            share_max=scores[start:end].max(),
        )
        for start, end in itertools.pairwise([*range(0, config.games, n), config.games])
    ]
    assert rows_but_time(tmp_path) == expected
    assert trainer.weights.tobytes() == learned(tmp_path)["weights"]
    assert 0 < sum(row.win_rate for row in expected) < len(expected)
    assert (session.progress.games, session.progress.moves) == (config.games, moves.sum())
    seconds = [row.seconds for row in RunFolder(tmp_path).curve_points()]
    assert 0 <= seconds[0] <= seconds[-1] <= session.progress.seconds + 0.001
    assert seconds == sorted(seconds)


def test_the_network_learns(tmp_path: Path) -> None:
    train(tiny(games=2000, curve_games=500), tmp_path)
    means = [row.score_mean for row in rows_but_time(tmp_path)]
    assert means[-1] > 1.5 * means[0]


def test_events_are_those_of_the_curve(tmp_path: Path) -> None:
    train(tiny(), tmp_path)
    rows, events = RunFolder(tmp_path).curve_points(), events_of(tmp_path)
    assert len(rows) == 15
    for column in ("score_mean", "score_max", "win_rate", "alpha"):
        assert events[f"train/{column}"] == [(row.games, float(np.float32(getattr(row, column)))) for row in rows]


def test_an_evaluation_is_that_of_the_network_at_that_time(tmp_path: Path) -> None:
    class Check(Callback):
        def __init__(self) -> None:
            self.points: list[EvaluationPoint] = []

        def on_evaluation(self, session: TrainingSession, point: EvaluationPoint) -> None:
            assert isinstance(session, NTupleSession)
            agent, game = NTupleAgent(session.trainer.model({})), session.trainer.game
            found = evaluate(agent, game, games=point.evaluate_games, seed=EVALUATION_SEED)
            assert found.win_rate is not None
            results = (found.games, found.score.value, found.score.low, found.score.high, found.win_rate.value)
            assert dataclasses.astuple(point)[2:] == results
            assert point.games == session.progress.games
            self.points.append(point)

    check = Check()
    session = train(tiny(evaluate_minutes=OFTEN), tmp_path, callbacks=check)
    assert session.folder.evaluation_points() == check.points
    assert len({point.games for point in check.points}) == len(check.points) > 1
    events = events_of(tmp_path)["evaluation/score_mean"]
    assert events == [(point.games, float(np.float32(point.score_mean))) for point in check.points]


WAYS = {
    "online": ONLINE,
    "backward": {},
    "decaying": {"patience": 60, "decay": 0.5, "alpha": 1e-5},
    "exploring": {**ONLINE, "epsilon": 0.1, "curve_games": 7},
}


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_was_stopped_and_resumed_is_the_same_run(tmp_path: Path, way: str) -> None:
    config = tiny(**WAYS[way])
    straight = train(config, tmp_path / "straight")
    now = 0
    for further in (1, 5, 30, 1):
        session = train(config, tmp_path / "halting", resume=now > 0, callbacks=StopAfter(now + further))
        assert session.progress.games >= now + further
        now = session.progress.games
    assert now < config.games
    session = train(config, tmp_path / "halting", resume=True)
    assert learned(tmp_path / "halting") == learned(tmp_path / "straight")
    assert rows_but_time(tmp_path / "halting") == rows_but_time(tmp_path / "straight")
    assert without_time(session.progress) == without_time(straight.progress)
    assert session.progress.decays == straight.progress.decays
    assert (straight.progress.decays > 0) == (way == "decaying")


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_crashed_and_was_resumed_is_the_same_run(tmp_path: Path, way: str) -> None:
    config = tiny(**WAYS[way])
    train(config, tmp_path / "straight")
    folder = RunFolder(tmp_path / "crashing")
    train(config, folder.path, callbacks=StopAfter(50))
    saved = folder.checkpoint_file.read_bytes()
    crash(config, folder.path, 150, resume=True)
    assert folder.checkpoint_file.read_bytes() == saved
    assert folder.curve_points()[-1].games >= 140
    with folder.metrics_file.open("a") as file:
        file.write("300,1.5,12")
    train(config, folder.path, resume=True)
    assert learned(folder.path) == learned(tmp_path / "straight")
    assert rows_but_time(folder.path) == rows_but_time(tmp_path / "straight")


def test_rows_beyond_the_checkpoint_are_dropped_when_a_run_is_opened_again(tmp_path: Path) -> None:
    saved = train(tiny(), tmp_path, callbacks=StopAfter(50)).progress.games
    crash(tiny(), tmp_path, 150, resume=True)
    session = open_session(tiny(), tmp_path, resume=True, threads=1)
    assert session.progress.games == saved
    games = [row.games for row in session.folder.curve_points()]
    assert games == list(range(20, saved + 1, 20))
    assert [point.games for point in session.points] == games


def test_a_run_that_crashed_before_its_first_checkpoint_begins_anew(tmp_path: Path) -> None:
    train(tiny(), tmp_path / "straight")
    crash(tiny(), tmp_path / "crashed", 100)
    assert not RunFolder(tmp_path / "crashed").checkpoint_file.exists()
    train(tiny(), tmp_path / "crashed", resume=True)
    assert learned(tmp_path / "crashed") == learned(tmp_path / "straight")
    assert rows_but_time(tmp_path / "crashed") == rows_but_time(tmp_path / "straight")


def test_checkpoints_are_saved_on_the_way(tmp_path: Path) -> None:
    crash(tiny(checkpoint_minutes=OFTEN), tmp_path, 150)
    assert 0 < load_checkpoint(RunFolder(tmp_path), Trainer(tiny())).games < 150


def test_a_checkpoint_that_cannot_be_written_does_not_end_the_learning(tmp_path: Path) -> None:
    class InTheWay(Callback):
        """A folder stands where the checkpoint belongs."""

        def __init__(self) -> None:
            self.problems: list[str] = []

        def on_games_end(self, session: TrainingSession) -> None:
            session.folder.checkpoint_file.mkdir(exist_ok=True)

        def on_save_failed(self, session: TrainingSession, error: FileError) -> None:
            self.problems.append(str(error))

    callback = InTheWay()
    with pytest.raises(FileError, match=r"checkpoint\.safetensors"):  # the last one is an error
        train(tiny(checkpoint_minutes=OFTEN), tmp_path / "hindered", callbacks=callback)
    assert callback.problems
    train(tiny(), tmp_path / "straight")
    assert rows_but_time(tmp_path / "hindered") == rows_but_time(tmp_path / "straight")
    models = [load_model(tmp_path / name / "model.safetensors") for name in ("hindered", "straight")]
    assert models[0].weights.tobytes() == models[1].weights.tobytes()


def test_what_a_killed_process_left_half_written_is_removed(tmp_path: Path) -> None:
    train(tiny(), tmp_path, callbacks=StopAfter(50))
    rest = tmp_path / ".checkpoint.safetensors.0123abcd.part"
    rest.write_bytes(b"half a checkpoint")
    open_session(tiny(), tmp_path, resume=True)
    assert not rest.exists()


def test_a_larger_budget_goes_on_as_if_it_had_been_so_from_the_beginning(tmp_path: Path) -> None:
    train(tiny(games=300), tmp_path / "straight")
    train(tiny(games=130), tmp_path / "longer")
    session = train(tiny(games=300, evaluate_games=5, checkpoint_minutes=1), tmp_path / "longer", resume=True)
    assert session.folder.read_config() == session.config
    assert learned(tmp_path / "longer") == learned(tmp_path / "straight")
    assert rows_but_time(tmp_path / "longer") == rows_but_time(tmp_path / "straight")


@pytest.mark.parametrize("games", [300, 310])
def test_a_finished_run_resumed_stays_as_it_is(tmp_path: Path, games: int) -> None:
    first = train(tiny(games=games), tmp_path)
    before, rows = learned(tmp_path), first.folder.curve_points()
    again = train(tiny(games=games), tmp_path, resume=True)
    assert (learned(tmp_path), again.folder.curve_points(), again.progress) == (before, rows, first.progress)


@pytest.mark.parametrize(
    "changes",
    [
        {"game": "2048:rows=3,columns=3"},
        {"tuples": ("012", "045")},
        {"symmetric": False},
        {"alphabet": 15},
        {"features": ("empty_cells",)},
        {"stages": ("64",)},
        {"restart": 30},
        {"value_function": "state"},
        {"update": "online", "lambda_": 0.0},
        {"lambda_": 0.6},
        {"n_step": 3},
        {"step_size": "fixed"},
        {"alpha": 0.5},
        {"decay": 0.5},
        {"patience": 40},
        {"model": "other.safetensors"},
        {"optimistic_init": 10.0},
        {"epsilon": 0.1},
        {"goal_tile": 64},
        {"averaging": 0.5},
        {"seed": 6},
        {"curve_games": 10},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_another_way_of_learning_is_not_the_same_run(tmp_path: Path, changes: dict[str, Any]) -> None:
    tiny().save(tmp_path / "config.toml")
    key = next(iter(changes)).rstrip("_")
    with pytest.raises(UsageError, match=rf"was started with {key} = .*, not .*; a resumed run cannot change it"):
        open_session(tiny(**changes), tmp_path, resume=True)
    assert RunFolder(tmp_path).read_config() == tiny()


def test_every_key_is_either_learning_or_may_change() -> None:
    """A new key must be put into one of the two groups."""
    free = {"games", "minutes", "evaluate_games", "evaluate_minutes", "checkpoint_minutes"}
    tested = test_another_way_of_learning_is_not_the_same_run.pytestmark[0].args[1]
    learning = {next(iter(changes)) for changes in tested} | {
        "network",
        "by_hint",
        "promote",
        "stages_from",
        "start_pool",
        "teacher_fraction",
        "downgrade_above",
        "hint_tuples",
        "late_tuples",
        "late_tuples_from",
        "rechoose_next_move",
        "value_last_board",
        "goal_reward",
        "goal_only",
    }  # these change others, or are changed by them
    assert learning | free == {field.name for field in dataclasses.fields(TrainingConfig)}
    assert not learning & free


def test_a_folder_with_a_run_is_refused_and_left_alone(tmp_path: Path) -> None:
    train(tiny(), tmp_path, callbacks=StopAfter(50))
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(UsageError, match="already holds a run: resume it, or choose another folder"):
        open_session(tiny(), tmp_path)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_where_nothing_is_nothing_can_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no run to resume"):
        open_session(tiny(), tmp_path / "none", resume=True)
    assert not (tmp_path / "none").exists()


def test_a_damaged_run_is_refused_and_left_alone(tmp_path: Path) -> None:
    folder = train(tiny(), tmp_path, callbacks=StopAfter(50)).folder
    content = folder.checkpoint_file.read_bytes()
    content = content[:-1] + bytes([content[-1] ^ 1])
    folder.checkpoint_file.write_bytes(content)
    rows = folder.curve_points()
    with pytest.raises(FileError, match=r"checkpoint.safetensors: damaged"):
        open_session(tiny(), tmp_path, resume=True)
    assert (folder.checkpoint_file.read_bytes(), folder.curve_points()) == (content, rows)
    folder.config_file.write_text("games = many")
    with pytest.raises(ConfigError, match=r"config.toml: not valid TOML"):
        open_session(tiny(), tmp_path, resume=True)


def test_no_folder_is_made_for_what_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="threads=0: at least one is needed"):
        open_session(tiny(), tmp_path / "run", threads=0)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("a file")
    with pytest.raises(FileError, match="cannot be written"):
        open_session(tiny(), tmp_path / "file")


def test_weights_that_went_to_infinity_are_not_saved(tmp_path: Path) -> None:
    class Poison(Callback):
        def on_games_end(self, session: TrainingSession) -> None:
            assert isinstance(session, NTupleSession)
            if session.progress.games >= 100:
                session.trainer.weights[:] = np.nan

    with pytest.raises(DivergedError, match="learning diverged: weight 0 is nan; try an alpha below 1"):
        train(tiny(checkpoint_minutes=OFTEN), tmp_path, callbacks=Poison())
    folder = RunFolder(tmp_path)
    assert not folder.model_file.exists()
    tensors, _ = read_tensors(folder.checkpoint_file)
    assert np.isfinite(tensors["weights"]).all()
    assert tensors["weights"].any()
    train(tiny(), tmp_path, resume=True)
    assert folder.model_file.exists()


def test_a_step_that_is_too_large_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(DivergedError, match="try an alpha below 2"):
        train(tiny(**ONLINE | {"alpha": 2.0, "optimistic_init": 1e9, "games": 3000}), tmp_path)


def test_the_step_becomes_smaller_when_learning_is_saturated(tmp_path: Path) -> None:
    """With such a small alpha nothing is learned: the last games are better by chance, and both cases occur."""
    config = tiny(
        games=900, patience=60, decay=0.5, alpha=1e-6, **{k: ONLINE[k] for k in ("update", "step_size", "lambda_")}
    )
    session = train(config, tmp_path)
    rows = session.folder.curve_points()
    alpha, decays = np.float32(1e-6), []
    for end in range(60, config.games + 1, 60):
        last = [row for row in rows if end - 60 < row.games <= end]
        assert {row.alpha for row in last if isinstance(row, CurvePoint)} == {float(alpha)}
        earlier = [row.score_mean for row in rows if end - 120 < row.games <= end - 60]
        saturated = bool(earlier) and sum(row.score_mean for row in last) < IMPROVEMENT * sum(earlier)
        alpha *= np.float32(0.5) if saturated else np.float32(1)
        decays.append(saturated)
    assert session.trainer.alpha[0] == alpha
    assert session.progress.decays == sum(decays)
    assert not decays[0]
    assert {*decays[1:]} == {True, False}


def test_the_step_stays_while_learning_goes_on(tmp_path: Path) -> None:
    session = train(tiny(games=600, curve_games=300, patience=300, decay=0.5), tmp_path)
    assert (session.progress.decays, session.trainer.alpha[0]) == (0, 1)


def test_a_session_stopped_before_it_began_saves_what_there_is(tmp_path: Path) -> None:
    session = open_session(tiny(), tmp_path, threads=1)
    session.stop()
    assert session.run() == Progress()
    assert not load_model(session.folder.model_file).weights.any()


def test_time_is_a_budget_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = open_session(tiny(games=0, minutes=1), tmp_path, threads=1)
    time_by_games(session, monkeypatch)
    session.run()
    assert session.done == 1
    assert (session.progress.games, session.progress.seconds) == (60, 60)


def test_evaluations_and_checkpoints_are_made_when_they_are_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Saved(Callback):
        def __init__(self) -> None:
            self.games: set[int] = set()

        def on_games_end(self, session: TrainingSession) -> None:
            if session.folder.checkpoint_file.exists():
                self.games.add(load_checkpoint(session.folder, Trainer(tiny())).games)

    saved = Saved()
    config = tiny(games=300, evaluate_minutes=1, checkpoint_minutes=2)
    session = open_session(config, tmp_path, threads=1, callbacks=saved)
    time_by_games(session, monkeypatch)
    session.run()
    assert [point.games for point in session.folder.evaluation_points()] == [60, 120, 180, 240, 300]
    assert saved.games == {120, 240}


def test_several_threads_play_every_game_once(tmp_path: Path) -> None:
    open_session(tiny(games=1000), tmp_path, threads=3, callbacks=StopAfter(300)).run()
    progress = open_session(tiny(games=1000), tmp_path, resume=True, threads=2).run()
    rows = RunFolder(tmp_path).curve_points()
    assert [row.games for row in rows] == list(range(20, 1001, 20))
    assert (progress.games, progress.moves) == (1000, rows[-1].moves)


def test_a_session_may_run_in_another_thread(tmp_path: Path) -> None:
    """Where signals cannot be handled."""
    session = open_session(tiny(), tmp_path, threads=1)
    thread = threading.Thread(target=session.run)
    thread.start()
    thread.join()
    assert session.done == 1
    assert session.folder.model_file.exists()


@pytest.mark.parametrize("games", [300, 310, 7])
def test_model_curve_and_progress_state_the_same_totals(tmp_path: Path, games: int) -> None:
    session = train(tiny(games=games), tmp_path)
    last, origin = session.folder.curve_points()[-1], load_model(session.folder.model_file).origin
    assert last.games == int(origin["games"]) == session.progress.games == games
    assert last.moves == int(origin["moves"]) == session.progress.moves
    assert f"{last.seconds:.1f}" == origin["seconds"]
    assert last.window == (games % 20 or 20)
