"""Late tuples: they join when the others have learned for a part of the training."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.training.sessions import StopAfter, learned, rows_but_time, tiny, train
from tilewright.errors import ConfigError
from tilewright.ntuple.model import Model, load_model
from tilewright.training.config import TrainingConfig
from tilewright.training.run_folder import RunFolder

EARLY_SIZE = 2 * 16**3


def late(**changes: Any) -> TrainingConfig:
    return tiny(**{"games": 200, "curve_games": 20, "late_tuples": ("0124",), **changes})


def model_of(path: Path) -> Model:
    return load_model(RunFolder(path).model_file)


def test_until_they_join_learning_is_as_without_them(tmp_path: Path) -> None:
    train(late(late_tuples_from=1.0), tmp_path / "late")
    train(dataclasses.replace(late(), late_tuples=()), tmp_path / "without")
    weights, plain = model_of(tmp_path / "late").weights, model_of(tmp_path / "without").weights
    np.testing.assert_array_equal(weights[:EARLY_SIZE], plain)
    assert not weights[EARLY_SIZE:].any()
    assert rows_but_time(tmp_path / "late") == rows_but_time(tmp_path / "without") != []


def test_without_a_fraction_they_are_tuples_like_the_others(tmp_path: Path) -> None:
    train(late(), tmp_path / "late")
    train(tiny(games=200, curve_games=20, tuples=("012", "456", "0124")), tmp_path / "tuples")
    np.testing.assert_array_equal(model_of(tmp_path / "late").weights, model_of(tmp_path / "tuples").weights)


def test_all_tuples_learn_after_the_fraction(tmp_path: Path) -> None:
    train(late(late_tuples_from=0.5), tmp_path / "half")
    train(late(late_tuples_from=1.0), tmp_path / "never")
    half, never = rows_but_time(tmp_path / "half"), rows_but_time(tmp_path / "never")
    assert half[:5] == never[:5]
    assert half[5:] != never[5:]
    weights, early = model_of(tmp_path / "half").weights, model_of(tmp_path / "never").weights
    assert weights[EARLY_SIZE:].any()
    assert (weights[:EARLY_SIZE] != early[:EARLY_SIZE]).any()


@pytest.mark.parametrize("games", [60, 100, 150])
def test_a_resumed_run_has_the_same_bits(tmp_path: Path, games: int) -> None:
    config = late(late_tuples_from=0.5, stages=("16", "32"), promote=True, averaging=0.3)
    train(config, tmp_path / "whole")
    train(config, tmp_path / "stopped", callbacks=StopAfter(games))
    train(config, tmp_path / "stopped", resume=True)
    assert learned(tmp_path / "stopped") == learned(tmp_path / "whole")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"late_tuples": (), "late_tuples_from": 0.5}, "late_tuples_from needs late_tuples"),
        ({"tuples": (), "network": "4x6", "game": "2048"}, "late_tuples needs tuples"),
        ({"optimistic_init": 100.0}, "late_tuples does not work with optimistic_init: they start"),
        ({"stages": ("16",), "start_pool": 10}, "late_tuples does not work with start_pool: every stage"),
        ({"late_tuples": ("0129x",)}, "tuples: tuple '0129x'"),
        ({"late_tuples": ("0123",)}, "tuples: tuple '0123': cell 3 is not on a 3x3 board"),
    ],
)
def test_late_tuples_that_cannot_be(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        late(**changes)
