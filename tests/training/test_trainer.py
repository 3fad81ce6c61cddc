"""What a trainer takes over from files: only what its kernels can work with, however right the checksum is."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.training.sessions import tiny
from tilewright._core import memory
from tilewright._core.files import Array
from tilewright.errors import DivergedError, FileError, UsageError
from tilewright.learning.start_states import StartPool
from tilewright.ntuple.stages import UNWRITTEN
from tilewright.training.ntuple_session import load_checkpoint, save_checkpoint
from tilewright.training.run_folder import RunFolder
from tilewright.training.schedule import Progress
from tilewright.training.trainer import Trainer

IN_TURN: dict[str, Any] = {"stages": ("16", "16+8"), "start_pool": 3, "lambda_": 0.0}
BOARDS = np.array([0x1200_0000_0000_0000, 0x1230_0000_0000_0000, 0x1200_1000_0000_0000], np.uint64)


def in_turn() -> Trainer:
    """A trainer whose second stage starts from three boards."""
    trainer = Trainer(tiny(**IN_TURN))
    scores = np.full(3, 4, np.int64)
    trainer.starts = StartPool(BOARDS.copy(), np.zeros(3, np.uint64), scores, scores + 96)
    return trainer


def tensors_of(trainer: Trainer, **changes: Any) -> dict[str, Array]:
    return {name: np.array(array) for name, array in trainer.tensors().items()} | {
        name.replace("__", "."): value for name, value in changes.items()
    }


def test_a_checkpoint_of_stages_in_turn_is_restored() -> None:
    trainer, other = in_turn(), Trainer(tiny(**IN_TURN))
    other.restore(tensors_of(trainer))
    assert all(np.array_equal(a, b) for a, b in zip(trainer.starts, other.starts, strict=True))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": np.nan}, "weight 9 is nan"),
        ({"weights": np.inf}, "weight 9 is inf"),
        ({"weights": UNWRITTEN}, "weight 9 is marked as unwritten"),
        ({"sums": np.nan}, "a coherence sum is infinite, no number, or negative"),
        ({"sums": -1.0}, "a coherence sum is infinite, no number, or negative"),  # entry 9 is an A
        ({"alpha": np.nan}, "alpha is nan"),
        ({"alpha": -0.5}, "alpha is -0.5"),
        ({"alpha": 1.5}, "alpha is 1.5"),
    ],
)
def test_impossible_numbers_are_refused_and_nothing_is_changed(changes: dict[str, float], message: str) -> None:
    trainer = in_turn()
    before = tensors_of(trainer)
    tensors = tensors_of(trainer)
    for name, value in changes.items():
        tensors[name][min(9, len(tensors[name]) - 1)] = value
    with pytest.raises(FileError, match=message):
        trainer.restore(tensors)
    assert all(np.array_equal(before[name], array) for name, array in trainer.tensors().items())


def test_a_mark_in_the_first_stage_is_refused_and_in_a_later_one_is_not() -> None:
    trainer = Trainer(tiny(stages=("16",), promote=True))
    tensors = tensors_of(trainer)
    trainer.restore(tensors)
    tensors["weights"][trainer.architecture.stage_size - 1] = UNWRITTEN
    with pytest.raises(FileError, match="weight 8,191 is marked as unwritten"):
        trainer.restore(tensors)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"starts__cells": BOARDS[:2]}, "the columns of starts have impossible lengths"),
        ({"found__finals": np.zeros(1, np.int64)}, "the columns of found have impossible lengths"),
        ({"starts__cells": BOARDS.reshape(3, 1)}, "starts.cells is missing or has another size"),
        ({"starts__cells": BOARDS.astype(np.int64)}, "starts.cells is missing or has another size"),
        ({"starts__cells": BOARDS | np.uint64(1)}, "starts has boards that are not afterstates of 2048"),
        ({"starts__extra": np.full(3, 0x4000, np.uint64)}, "starts has boards that are not afterstates of 2048"),
        ({"starts__scores": np.full(3, -1)}, "starts has impossible scores"),
        ({"starts__scores": np.full(3, 101)}, "starts has impossible scores"),
        ({"starts__finals": np.full(3, 2**62)}, "starts has impossible scores"),
    ],
)
def test_impossible_start_boards_are_refused(changes: dict[str, Any], message: str) -> None:
    trainer = in_turn()
    with pytest.raises(FileError, match=message):
        trainer.restore(tensors_of(trainer, **changes))


def test_more_start_boards_than_the_config_asks_for_are_refused() -> None:
    trainer = in_turn()
    longer = {f"starts.{name}": np.repeat(column, 2) for name, column in trainer.starts._asdict().items()}
    with pytest.raises(FileError, match="the columns of starts have impossible lengths"):
        trainer.restore(tensors_of(trainer) | longer)


@pytest.mark.parametrize(
    ("progress", "message"),
    [
        (Progress(stage=1), "only later stages have boards to start from, and each has some"),
        (Progress(stage=3), "there is no such stage"),
        (Progress(given_stages=3), "there is no such stage"),
        (Progress(stage=2**70), "stage is 1180591620717411303424"),
        (Progress(games=-1), "games is -1"),
        (Progress(seconds=float("nan")), "seconds is nan"),
        (Progress(seconds=float("inf")), "seconds is inf"),
        (Progress(games=2.0), "games is 2.0"),  # type: ignore[arg-type]
        (Progress(moves=True), "moves is True"),
        (Progress(moves="7"), "moves is '7'"),  # type: ignore[arg-type]
        (Progress(stage_start_games=1), "a stage starts in the future"),
        (Progress(decay_checked_at=1), "decay was considered in the future"),
    ],
)
def test_an_impossible_progress_is_refused(tmp_path: Path, progress: Progress, message: str) -> None:
    folder, trainer = RunFolder(tmp_path), Trainer(tiny(**IN_TURN))
    save_checkpoint(folder, trainer, progress)
    with pytest.raises(FileError, match=rf"checkpoint.safetensors: its progress is damaged: {message}"):
        load_checkpoint(folder, trainer)


def test_pending_games_that_cannot_be_are_refused(tmp_path: Path) -> None:
    folder, trainer = RunFolder(tmp_path), Trainer(tiny())
    for games, entries in ((50, (20, 9, 9, 0)), (5, (6, 9, 9, 0)), (50, (6, 9, 9, 7)), (50, (6, 8, 9, 1))):
        progress = Progress(games=games)
        progress.pending.games, progress.pending.score_sum, progress.pending.score_max, progress.pending.wins = entries
        save_checkpoint(folder, trainer, progress)
        with pytest.raises(FileError, match="its progress is damaged"):
            load_checkpoint(folder, trainer)


def test_weights_that_grew_beyond_all_values_have_diverged() -> None:
    trainer = Trainer(tiny())
    trainer.check_finite()
    for bad in (np.nan, np.inf, 2e30, UNWRITTEN):
        trainer.weights[5] = bad
        with pytest.raises(DivergedError, match=r"learning diverged: weight 5 is .*; try an alpha below 1"):
            trainer.check_finite()


def test_a_network_that_does_not_fit_into_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 10**9)
    config = tiny(game="2048", tuples=("0123456", "456789a"))
    with pytest.raises(UsageError, match=r"training a network of 536,870,912 weights takes 6.4 GB of memory; 1.0 GB"):
        Trainer(config)
