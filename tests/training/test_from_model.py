"""Sessions that start from the weights of a model."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.training.sessions import StopAfter, learned, rows_but_time, tiny, train
from tilewright.errors import FileError, UsageError
from tilewright.ntuple.model import load_model
from tilewright.ntuple.stages import UNWRITTEN
from tilewright.training.run_folder import CurvePoint, RunFolder
from tilewright.training.session import open_session
from tilewright.training.trainer import Trainer

IN_TURN: dict[str, Any] = {"stages": ("16", "16+8"), "start_pool": 40, "lambda_": 0.0}


def stages_of_rows(path: Path) -> set[int]:
    return {point.stage for point in RunFolder(path).curve_points() if isinstance(point, CurvePoint)}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A network of one stage, after 300 games."""
    session = train(tiny(lambda_=0.0), tmp_path_factory.mktemp("first"))
    return str(session.folder.model_file)


def test_the_first_games_are_learned_from_on_its_weights(model: str, tmp_path: Path) -> None:
    session = train(tiny(model=model, games=7), tmp_path)
    trainer = Trainer(tiny(games=7))
    trainer.weights[:] = load_model(model).weights
    trainer.learn(0, 7)
    np.testing.assert_array_equal(session.trainer.weights, trainer.weights)


def test_stages_in_turn_go_on_with_the_first_that_it_does_not_have(model: str, tmp_path: Path) -> None:
    """Its own weights stay as they are; boards for the second stage are those that it reaches."""
    config = tiny(model=model, **IN_TURN)
    session = train(config, tmp_path)
    known = load_model(model).weights
    stages = session.trainer.weights.reshape(3, -1)
    np.testing.assert_array_equal(stages[0], known)
    assert np.count_nonzero(stages, axis=1).all()
    assert [(point.stage, point.games) for point in session.folder.stage_points()] == [(2, 0), (3, 150)]
    assert stages_of_rows(tmp_path) == {2, 3}
    trainer = Trainer(config)
    trainer.weights[: len(known)] = known
    finals = trainer.collect_starts(0, 100).finals
    assert session.folder.stage_points()[0].baseline_score == pytest.approx(finals[finals > 0].mean(), rel=0.2)


def test_two_known_stages_are_passed_through(model: str, tmp_path: Path) -> None:
    two = train(tiny(model=model, **{**IN_TURN, "stages": ("16",)}), tmp_path / "two")
    three = train(tiny(model=str(two.folder.model_file), **IN_TURN), tmp_path / "three")
    known = load_model(two.folder.model_file).weights
    np.testing.assert_array_equal(three.trainer.weights[: len(known)], known)
    assert [(point.stage, point.games) for point in three.folder.stage_points()] == [(2, 0), (3, 0)]
    assert stages_of_rows(tmp_path / "three") == {3}


@pytest.mark.parametrize("games", [40, 220])
def test_going_on_later_needs_the_model_no_more(model: str, tmp_path: Path, games: int) -> None:
    copy = tmp_path / "model.safetensors"
    copy.write_bytes(Path(model).read_bytes())
    config = tiny(model=str(copy), **IN_TURN)
    train(config, tmp_path / "undisturbed")
    train(config, tmp_path / "stopped", callbacks=StopAfter(games))
    copy.unlink()
    train(config, tmp_path / "stopped", resume=True)
    assert learned(tmp_path / "stopped") == learned(tmp_path / "undisturbed")
    assert rows_but_time(tmp_path / "stopped") == rows_but_time(tmp_path / "undisturbed")


def test_a_packed_model_serves_as_well(model: str, tmp_path: Path) -> None:
    packed = tmp_path / "packed.safetensors"
    load_model(model).save(packed, compact=True, quantum=1.0)
    trainer = open_session(tiny(model=str(packed)), tmp_path / "run").trainer
    np.testing.assert_allclose(trainer.weights, load_model(model).weights, atol=0.501)


def test_unwritten_weights_of_a_packed_model_stay_unwritten(tmp_path: Path) -> None:
    together = tiny(stages=("16", "64"), promote=True)
    first = train(together, tmp_path / "first")
    packed = tmp_path / "packed.safetensors"
    load_model(first.folder.model_file).save(packed, compact=True, quantum=1.0)
    trainer = open_session(dataclasses.replace(together, model=str(packed)), tmp_path / "run").trainer
    unwritten = first.trainer.weights == np.float32(UNWRITTEN)
    assert 0 < unwritten.sum() < unwritten.size
    np.testing.assert_array_equal(trainer.weights == np.float32(UNWRITTEN), unwritten)
    np.testing.assert_allclose(trainer.weights, first.trainer.weights, atol=0.501)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"game": "2048:rows=3,columns=3,win_tile=128"}, "a model for 2048:.*; the config trains 2048:"),
        ({"value_function": "state"}, "a model of afterstate values; the config trains state values"),
        ({"tuples": ("012", "045")}, "a model of another network than the config's"),
        ({"model": "nowhere.safetensors"}, "nowhere.safetensors"),
    ],
)
def test_what_does_not_fit_is_refused_and_no_folder_is_made(
    model: str, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises((UsageError, FileError), match=message):
        open_session(tiny(**{"model": model, **changes}), tmp_path / "run")
    assert not RunFolder(tmp_path / "run").config_file.exists()


def test_other_stages_and_those_it_has_already_are_refused(model: str, tmp_path: Path) -> None:
    two = train(tiny(model=model, **{**IN_TURN, "stages": ("16",)}), tmp_path / "two").folder.model_file
    with pytest.raises(UsageError, match="a model with stages at 16; the stages of the config start differently"):
        open_session(tiny(model=str(two), **{**IN_TURN, "stages": ("32", "64")}), tmp_path / "other")
    with pytest.raises(UsageError, match="has all stages already"):
        open_session(tiny(model=str(two), **{**IN_TURN, "stages": ("16",)}), tmp_path / "same")
