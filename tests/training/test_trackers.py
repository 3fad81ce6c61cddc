"""Trackers get the learning curve; stand-ins take the place of the packages, and nothing goes over a network."""

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from tilewright import MissingExtraError, TrackioCallback, WandbCallback, train
from tilewright.training.trackers import TrackerCallback

SMALL: dict[str, Any] = {"game": "2048:rows=2,columns=2", "network": "", "tuples": ["0145"], "curve_games": 50}


class Tracked:
    """A run of a stand-in, with the methods of both trackers."""

    def __init__(self) -> None:
        self.rows: list[dict[str, float]] = []
        self.steps: list[tuple[str, str]] = []
        self.is_finished = False

    def log(self, metrics: dict[str, float], step: int | None = None) -> None:
        assert not self.is_finished
        self.rows.append(metrics)

    def define_metric(self, name: str, step_metric: str) -> None:
        self.steps.append((name, step_metric))

    def finish(self) -> None:
        self.is_finished = True


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str) -> tuple[Tracked, dict[str, Any]]:
    """Put a module in the place of a tracker; return its run, and what `init` is called with."""
    run, given = Tracked(), dict[str, Any]()

    def init(project: str, name: str | None = None, config: dict[str, Any] | None = None, **options: Any) -> Tracked:
        given.update(project=project, name=name, config=config, **options)
        return run

    module = types.ModuleType(name)
    vars(module)["init"] = init
    monkeypatch.setitem(sys.modules, name, module)
    return run, given


@pytest.mark.parametrize(("kind", "name"), [(WandbCallback, "wandb"), (TrackioCallback, "trackio")])
def test_a_tracker_gets_the_rows_of_the_run_folder(
    kind: type[TrackerCallback], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, given = stand_in(monkeypatch, name)
    callback = kind(project="mine", mode="offline")
    trained = train("minute", games=200, seed=1, threads=1, out=tmp_path / "small", callbacks=callback, **SMALL)
    assert (given["project"], given["name"], given["mode"]) == ("mine", "small", "offline")
    assert given["config"]["curve_games"] == 50
    curve = trained.curve_dict()
    assert [row["games"] for row in run.rows] == curve["games"]
    assert [row["train/score_mean"] for row in run.rows] == curve["score_mean"]
    assert run.is_finished
    assert run.steps == ([("*", "games")] if name == "wandb" else [])


def test_a_tracker_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'tilewright\[wandb\]'"):
        train("minute", games=50, threads=1, out=tmp_path / "small", callbacks=WandbCallback(), **SMALL)
