"""Callbacks: when they are called, with what, and how they stop a training."""

from pathlib import Path

import pytest

from tests.training.sessions import tiny, train
from tilewright.errors import FileError, UsageError
from tilewright.training.callbacks import Callback, CallbackList, as_callback
from tilewright.training.run_folder import EvaluationPoint, StagePoint, TrainingPoint
from tilewright.training.session import TrainingSession, open_session

HOOKS = {name for name in vars(Callback) if name.startswith("on_")}


class Record(Callback):
    """Notes every call: its name, and what it got besides the session."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, object]] = []

    def names(self) -> list[str]:
        return [name for name, _ in self.calls]

    def on_training_start(self, session: TrainingSession) -> None:
        self.calls.append(("on_training_start", session.progress.games))

    def on_games_end(self, session: TrainingSession) -> None:
        self.calls.append(("on_games_end", session.progress.games))

    def on_log(self, session: TrainingSession, point: TrainingPoint) -> None:
        self.calls.append(("on_log", point))

    def on_evaluation(self, session: TrainingSession, point: EvaluationPoint) -> None:
        self.calls.append(("on_evaluation", point))

    def on_starts_collected(self, session: TrainingSession) -> None:
        self.calls.append(("on_starts_collected", session.progress.stage))

    def on_stage_start(self, session: TrainingSession, point: StagePoint) -> None:
        self.calls.append(("on_stage_start", point))

    def on_save_failed(self, session: TrainingSession, error: FileError) -> None:
        self.calls.append(("on_save_failed", error))

    def on_save_recovered(self, session: TrainingSession) -> None:
        self.calls.append(("on_save_recovered", None))

    def on_stop_requested(self, session: TrainingSession) -> None:
        self.calls.append(("on_stop_requested", None))

    def on_training_end(self, session: TrainingSession) -> None:
        self.calls.append(("on_training_end", session.folder.model_file.exists()))


def test_a_session_calls_its_callback(tmp_path: Path) -> None:
    record = Record()
    config = tiny(stages=("16",), start_pool=20, lambda_=0.0, evaluate_minutes=1e-6)
    folder = train(config, tmp_path, callbacks=record).folder
    names = record.names()
    assert (names[0], names[-1]) == ("on_training_start", "on_training_end")
    assert {*names} == HOOKS - {"on_save_failed", "on_save_recovered", "on_stop_requested"}
    games = [value for name, value in record.calls if name == "on_games_end"]
    assert games == sorted({*games})  # type: ignore[type-var]
    assert games[-1] == 300
    assert [value for name, value in record.calls if name == "on_log"] == [
        point for point in folder.curve_points() if point.window == 20
    ]
    assert [value for name, value in record.calls if name == "on_evaluation"] == folder.evaluation_points()
    assert [value for name, value in record.calls if name == "on_stage_start"] == folder.stage_points()
    assert names.index("on_starts_collected") < names.index("on_stage_start")
    assert record.calls[-1] == ("on_training_end", True)


class StopWhen(Callback):
    def __init__(self, name: str) -> None:
        self._name = name

    def on_games_end(self, session: TrainingSession) -> bool:
        return self._name != "on_games_end"

    def on_starts_collected(self, session: TrainingSession) -> bool:
        return self._name != "on_starts_collected"


@pytest.mark.parametrize("name", ["on_games_end", "on_starts_collected"])
def test_false_stops_the_training_and_saves(name: str, tmp_path: Path) -> None:
    config = tiny(stages=("16",), start_pool=20, lambda_=0.0)
    session = train(config, tmp_path, callbacks=[Callback(), StopWhen(name), Record()])
    assert session.is_stopped
    assert 0 < session.progress.games < 300
    assert session.folder.model_file.exists()
    assert session.folder.checkpoint_file.exists()


def test_all_callbacks_of_a_list_are_called_in_their_order(tmp_path: Path) -> None:
    calls: list[str] = []

    class Named(Callback):
        def __init__(self, name: str) -> None:
            self.name = name

        def on_games_end(self, session: TrainingSession) -> bool | None:
            calls.append(self.name)
            return {"a": False, "b": True, "c": None}[self.name]

    train(tiny(), tmp_path, callbacks=(Named(name) for name in "abc"))
    assert calls == ["a", "b", "c"]


def test_a_list_passes_on_every_call(tmp_path: Path) -> None:
    record = Record()
    session, several = open_session(tiny(), tmp_path), CallbackList([record, Callback()])
    for name in sorted(HOOKS):
        point = () if name in ("on_log", "on_evaluation", "on_stage_start", "on_save_failed") else None
        getattr(several, name)(session, *([] if point is None else [point]))
    assert record.names() == sorted(HOOKS)


@pytest.mark.parametrize("wrong", [3, "abc", [Callback(), None], Callback, [print]])
def test_what_is_no_callback_is_one_line(wrong: object) -> None:
    with pytest.raises(UsageError, match=r"callbacks: .* is not a tilewright Callback"):
        as_callback(wrong)  # type: ignore[arg-type]


def test_no_callbacks_are_fine() -> None:
    assert isinstance(as_callback(None), Callback)
    assert isinstance(as_callback([]), Callback)
