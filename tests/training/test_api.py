"""`tw.train` and `tw.Run`: training in one call, and everything that a run can tell."""

import dataclasses
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_hex

from tests.deep.small import small
from tests.training.sessions import StopAfter, learned, rows_but_time, tiny
from tests.training.sessions import train as train_session
from tilewright import evaluate, make_agent
from tilewright.deep.model import DeepModel
from tilewright.errors import ConfigError, FileError, MissingExtraError, UsageError
from tilewright.ntuple.model import Model
from tilewright.training.api import Run, train
from tilewright.training.run_folder import CurvePoint, DeepPoint


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    tiny().save(Path("tiny.toml"))
    return tmp_path


@pytest.fixture
def run() -> Run:
    """Training of 310 games: 15 full rows and one of ten games."""
    return train(tiny(games=310), out="run", threads=1)


@pytest.mark.parametrize("source", ["tiny.toml", Path("tiny.toml"), tiny()], ids=["text", "path", "config"])
def test_it_trains_like_a_session(source: Any, capsys: pytest.CaptureFixture[str]) -> None:
    run = train(source, out="run", threads=1)
    assert capsys.readouterr() == ("", "")
    train_session(tiny(), Path("straight"))
    assert learned(run.path) == learned(Path("straight"))
    assert rows_but_time(run.path) == rows_but_time(Path("straight"))
    assert (run.path, run.model_file, run.config) == (Path("run"), Path("run/model.safetensors"), tiny())


def test_keys_can_be_changed() -> None:
    run = train("tiny.toml", seed=9, games=40, minutes=5, threads=1, lambda_=0.25, step_size="fixed", alpha=0.1)
    assert run.config == tiny(seed=9, games=40, minutes=5, lambda_=0.25, step_size="fixed", alpha=0.1)


def test_without_a_folder_it_finds_a_free_one() -> None:
    folders = [train(source, games=5).path for source in ("tiny.toml", Path("tiny.toml"), tiny())]
    assert folders == [Path("runs/tiny"), Path("runs/tiny-2"), Path("runs/ntuple-tuples")]


def test_progress_is_shown_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    train(tiny(evaluate_minutes=1e-6, games=5), threads=1, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "evaluation after 1 games: mean " in err


def test_callbacks_are_called_with_and_without_progress() -> None:
    for progress in (False, True):
        run = train(tiny(), threads=1, callbacks=StopAfter(50), progress=progress)
        assert 50 <= run.curve_dict()["games"][-1] < 300


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"source": "minuet"}, ConfigError, r"there is no preset or file 'minuet' \(did you mean 'minute'"),
        ({"source": 3}, ConfigError, "3: must be the name of a preset, the path of a file, or a configuration"),
        ({"sede": 3}, ConfigError, r"unknown key 'sede' \(did you mean 'seed'"),
        ({"minutes": "long"}, ConfigError, "minutes = 'long': must be a number"),
        ({"threads": "two"}, UsageError, "threads='two': must be a whole number"),
        ({"threads": 0}, UsageError, "threads=0: at least one is needed"),
        ({"out": 3}, UsageError, "out=3: must be the path of a folder"),
        ({"callbacks": print}, UsageError, "callbacks: .* is not a tilewright Callback"),
        ({"resume": True}, UsageError, "resume=True needs out=…, the folder of the run to continue"),
        ({"resume": True, "out": "none"}, FileError, "none: no run to resume or read: there is no config.toml"),
    ],
)
def test_what_is_wrong_is_one_sentence(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        train(**{"source": tiny(), **arguments})
    assert [path.name for path in Path().iterdir()] == ["tiny.toml"]


def test_a_folder_with_a_run_is_refused_unless_resumed(run: Run) -> None:
    with pytest.raises(UsageError, match="run already holds a run: resume it, or choose another folder"):
        train(tiny(), out="run")
    assert train(tiny(games=400), out="run", resume=True, threads=1).curve_dict()["games"][-1] == 400
    with pytest.raises(UsageError, match="was started with seed = 5, not 6; a resumed run cannot change it"):
        train(tiny(games=400, seed=6), out="run", resume=True)
    with pytest.raises(UsageError, match="run holds a run of another kind: ntuple, not dqn"):
        train(small(), out="run", resume=True)


def test_a_run_goes_on_by_itself(run: Run) -> None:
    before = run.model.weights.copy()
    assert run.resume(games=400, threads=1) is run
    train_session(tiny(games=400), Path("straight"))
    assert learned(run.path) == learned(Path("straight"))
    assert rows_but_time(run.path) == rows_but_time(Path("straight"))
    assert run.config == tiny(games=400)
    assert not np.array_equal(run.model.weights, before)
    with pytest.raises(UsageError, match="a resumed run cannot change it"):
        run.resume(alpha=0.5)


def test_a_stopped_run_can_be_read_and_resumed() -> None:
    run = train(tiny(), out="run", threads=1, callbacks=StopAfter(50))
    assert int(run.model.origin["games"]) == run.curve_dict()["games"][-1] < 300
    assert Run("run").resume(threads=1).curve_dict()["games"][-1] == 300


def test_the_model_plays(run: Run) -> None:
    assert isinstance(run.model, Model)
    assert run.model is run.model
    assert run.agent == "ntuple:model=run/model.safetensors"
    game = tiny().make_game()
    assert evaluate(make_agent(run.agent), game, games=5).games == 5


def test_the_curve_has_the_rows_of_the_folder(run: Run) -> None:
    frame, columns = run.curve(), run.curve_dict()
    assert list(columns) == [field.name for field in dataclasses.fields(CurvePoint)]
    assert list(frame.columns) == list(columns)
    assert columns["games"] == [*range(20, 301, 20), 310]
    assert columns["window"] == [20] * 15 + [10]
    assert {name: frame[name].tolist() for name in columns} == columns
    assert (frame["games"].dtype, frame["score_mean"].dtype) == ("int64", "float64")


def test_evaluations_and_stages_are_tables() -> None:
    config = tiny(stages=("16",), start_pool=20, lambda_=0.0, evaluate_minutes=1e-9)
    run = train(config, out="run", threads=1)
    assert run.stages()[["stage", "games", "start_boards"]].values.tolist() == [[2, 150, 20]]
    evaluations = run.evaluations()
    assert len(evaluations)
    assert (evaluations["evaluate_games"] == 10).all()
    assert (evaluations["score_low"] <= evaluations["score_mean"]).all()
    everything = run.to_dict()
    assert everything["config"] == config.to_dict()
    assert everything["curve"] == run.curve_dict()
    assert everything["evaluations"] == evaluations.to_dict("list")
    assert everything["stages"] == run.stages().to_dict("list")


def test_without_pandas_dictionaries_are_left(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    for table in (run.curve, run.evaluations, run.stages):
        with pytest.raises(MissingExtraError, match="pip install pandas"):
            table()
    assert run.to_dict()["curve"]["games"][-1] == 310


def test_the_plot_shows_the_curve(run: Run) -> None:
    axes = run.plot()
    assert axes.figure is pyplot.gcf()
    _, ours = pyplot.subplots()
    assert run.plot(ours) is ours
    for one in (axes, ours):
        [line] = [line for line in one.get_lines() if line.get_label() == "training games"]
        columns = run.curve_dict()
        np.testing.assert_array_equal(line.get_xdata(), columns["games"][:-1])
        np.testing.assert_array_equal(line.get_ydata(), columns["score_mean"][:-1])
    pyplot.close("all")


def test_two_runs_in_one_plot_have_two_colours_and_two_names(run: Run) -> None:
    _, axes = pyplot.subplots()
    run.plot(axes)
    run.plot(axes)
    curves = [line for line in axes.get_lines() if str(line.get_label()).startswith("training games")]
    assert [line.get_label() for line in curves] == ["training games", f"training games, {run.path.name}"]
    assert len({to_hex(line.get_color()) for line in curves}) == 2
    pyplot.close("all")


def test_the_report_is_written_into_the_folder(run: Run) -> None:
    path = run.report()
    assert path == Path("run/report.html")
    assert "310 games and " in path.read_text()
    assert Path("run/curve.png").read_bytes().startswith(b"\x89PNG")


def test_a_short_text_and_a_view_for_notebooks(run: Run) -> None:
    assert repr(run) == "<Run 'run': ntuple (tuples) on 2048:rows=3,columns=3,win_tile=64, 310 games>"
    view = run._repr_html_()
    assert "&lt;Run &#x27;run&#x27;: ntuple" in view
    assert "310 games and " in view
    assert view.count("data:image/png;base64,") == 1


def test_a_run_that_has_just_started_has_no_model_and_no_games() -> None:
    tiny().save(Path("new/config.toml"))
    run = Run("new")
    assert repr(run).endswith("no games yet>")
    assert "png" not in run._repr_html_()
    assert run.curve_dict()["games"] == []
    assert list(run.curve().columns) == [field.name for field in dataclasses.fields(CurvePoint)]
    with pytest.raises(FileError, match="new: no model yet: the training has not ended"):
        _ = run.model


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [("nowhere", FileError, "nowhere: no run in this folder"), (3, UsageError, "path=3: must be the path of a run")],
)
def test_only_a_run_folder_is_a_run(path: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Run(path)


def test_deep_networks_train_the_same_way() -> None:
    run = train(small(total_steps=512), out="deep", seed=3)
    assert isinstance(run.model, DeepModel)
    assert run.agent == "dqn:model=deep/model.safetensors"
    assert list(run.curve().columns) == [field.name for field in dataclasses.fields(DeepPoint)]
    assert run.curve_dict()["games"][-1] == int(run.model.origin["games"])
    assert math.isfinite(run.curve_dict()["loss"][-1])
    assert run.config == small(total_steps=512, seed=3)
    with pytest.raises(ConfigError, match="unknown key 'games'"):
        train(small(), games=5)
