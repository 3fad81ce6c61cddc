"""Frozen stages: until they are trained, the first stage learns all boards."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.training.sessions import StopAfter, learned, rows_but_time, tiny, train
from tilewright.errors import ConfigError
from tilewright.ntuple.model import Model, load_model
from tilewright.ntuple.stages import UNWRITTEN
from tilewright.training.config import TrainingConfig
from tilewright.training.run_folder import RunFolder


def staged(**changes: Any) -> TrainingConfig:
    return tiny(games=200, curve_games=20, stages=("16", "32"), promote=True, **changes)


def model_of(path: Path) -> Model:
    return load_model(RunFolder(path).model_file)


def test_while_stages_are_frozen_learning_is_as_without_them(tmp_path: Path) -> None:
    train(staged(stages_from=1.0), tmp_path / "frozen")
    train(dataclasses.replace(staged(), stages=(), promote=False), tmp_path / "plain")
    frozen, plain = model_of(tmp_path / "frozen").weights, model_of(tmp_path / "plain").weights
    np.testing.assert_array_equal(frozen[: len(plain)], plain)
    assert (frozen[len(plain) :] <= np.float32(UNWRITTEN)).all()
    assert rows_but_time(tmp_path / "frozen") == rows_but_time(tmp_path / "plain") != []


def test_stages_learn_after_their_fraction_of_the_games(tmp_path: Path) -> None:
    train(staged(stages_from=0.5), tmp_path / "later")
    train(staged(stages_from=1.0), tmp_path / "never")
    later, never = rows_but_time(tmp_path / "later"), rows_but_time(tmp_path / "never")
    assert later[:5] == never[:5]
    assert later[5:] != never[5:]
    weights = model_of(tmp_path / "later").weights
    assert (weights[len(weights) // 3 :] > np.float32(UNWRITTEN)).any()


@pytest.mark.parametrize("games", [60, 100, 150])
def test_a_resumed_run_has_the_same_bits(tmp_path: Path, games: int) -> None:
    train(staged(stages_from=0.5), tmp_path / "whole")
    train(staged(stages_from=0.5), tmp_path / "stopped", callbacks=StopAfter(games))
    train(staged(stages_from=0.5), tmp_path / "stopped", resume=True)
    assert learned(tmp_path / "stopped") == learned(tmp_path / "whole")


def test_freezing_needs_promotion() -> None:
    with pytest.raises(ConfigError, match="stages_from needs promote"):
        tiny(stages=("16",), stages_from=0.5)
