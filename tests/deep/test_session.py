"""Sessions: all networks of the paper train and are saved, a run is resumed bit by bit, and divergence stops it."""

import csv
import dataclasses
from pathlib import Path

import numpy as np
import pytest

from tests.deep.small import AFTERSTATE, PAPER, SMALL, SUPERVISED, small, train
from tests.training.sessions import events_of
from tilewright._core.files import read_tensors
from tilewright.deep.config import DeepConfig
from tilewright.deep.dqn import DqnLearner
from tilewright.deep.model import load_deep_model
from tilewright.deep.session import DeepSession
from tilewright.errors import DivergedError, FileError, UsageError
from tilewright.training.callbacks import Callback
from tilewright.training.session import TrainingSession, open_session


class StopAfter(Callback):
    def __init__(self, moves: int) -> None:
        self._moves = moves

    def on_games_end(self, session: TrainingSession) -> bool:
        return session.progress.moves < self._moves


@pytest.mark.parametrize("architecture", PAPER)
def test_every_network_of_the_paper_learns_and_is_saved(architecture: str, tmp_path: Path) -> None:
    config = DeepConfig(
        architecture=architecture,
        total_steps=256,
        learning_starts=64,
        buffer_size=256,
        train_freq=32,
        batch_size=8,
        penalty=32,
    )
    session = train(config, tmp_path / "run")
    assert isinstance(session.learner, DqnLearner)
    assert session.learner.dqn._n_updates > 0
    model = load_deep_model(session.folder.model_file)
    grids = np.random.default_rng(0).integers(12, size=(5, 4, 4), dtype=np.uint8)
    assert np.array_equal(model.network.predict(grids), session.learner.network.predict(grids))
    assert (model.config.architecture, model.reward_scale, model.origin["moves"]) == (architecture, 1.0, "256")


@pytest.mark.parametrize(
    "config", [SMALL, small(n_step=3, symmetry=True, game="2048:rows=3,columns=3"), AFTERSTATE, SUPERVISED]
)
def test_a_run_that_was_stopped_is_resumed_as_if_it_had_not_been(config: DeepConfig, tmp_path: Path) -> None:
    whole = train(config, tmp_path / "whole")
    train(config, tmp_path / "parts", callbacks=StopAfter(500))
    resumed = train(config, tmp_path / "parts", resume=True)
    assert resumed.progress.moves == whole.progress.moves >= config.total_steps
    found, expected = (read_tensors(session.folder.checkpoint_file)[0] for session in (resumed, whole))
    assert set(found) == set(expected)
    assert [name for name in found if not np.array_equal(found[name], expected[name])] == []
    rows = [[dataclasses.replace(p, seconds=0.0) for p in s.folder.curve_points()] for s in (resumed, whole)]
    assert rows[0] == rows[1] != []
    episodes = [session.folder.episode_points() for session in (resumed, whole)]
    assert episodes[0] == episodes[1]
    assert [point.games for point in episodes[0]] == list(range(1, whole.progress.games + 1))
    first = episodes[0][: config.curve_games]
    assert sum(point.score for point in first) / len(first) == rows[0][0].score_mean


@pytest.mark.parametrize("config", [small(total_steps=256), dataclasses.replace(AFTERSTATE, total_steps=256)])
def test_a_finished_run_that_is_resumed_keeps_its_curve(config: DeepConfig, tmp_path: Path) -> None:
    """Its last row is not full, and is written again; the games have explored, and the new session has not."""
    config = dataclasses.replace(config, exploration_initial_eps=0.5, exploration_final_eps=0.25, curve_games=7)
    curve = train(config, tmp_path).folder.curve_points()
    assert curve[-1].window < config.curve_games
    assert train(config, tmp_path, resume=True).folder.curve_points() == curve


def test_a_folder_has_the_files_of_every_run(tmp_path: Path) -> None:
    session = train(small(evaluate_minutes=1e-9), tmp_path / "run")  # an evaluation after every chunk of steps
    folder = session.folder
    assert folder.read_config() == session.config
    rows = list(csv.DictReader(folder.metrics_file.read_text().splitlines()))
    assert list(rows[0]) == (
        ["games", "seconds", "moves", "window", "score_mean", "score_max", "win_rate"]
        + ["largest", "epsilon", "loss", "accuracy"]
    )
    full = [row for row in rows if row["window"] == "5"]
    assert [int(row["games"]) for row in full] == list(range(5, 5 * len(full) + 1, 5))
    assert rows[: len(full)] == full
    assert int(rows[-1]["games"]) == session.progress.games
    assert folder.evaluation_points()
    tags = set(events_of(folder.path))
    assert {"train/score_mean", "train/epsilon", "train/loss", "train/largest", "evaluation/score_mean"} <= tags
    assert "steps/s" in session.status()
    assert "ε" in session.status()


def test_a_loss_that_is_not_finite_stops_the_run_and_keeps_the_checkpoint(tmp_path: Path) -> None:
    train(small(total_steps=512), tmp_path / "run")
    kept = (tmp_path / "run" / "checkpoint.safetensors").read_bytes()
    session = open_session(small(total_steps=2048), tmp_path / "run", resume=True)
    assert isinstance(session, DeepSession)
    assert isinstance(session.learner, DqnLearner)
    session.learner.dqn.replay_buffer.rewards[:] = np.nan
    with pytest.raises(DivergedError, match=r"not a finite number after 5.. steps; try a learning_rate below"):
        session.run()
    assert (tmp_path / "run" / "checkpoint.safetensors").read_bytes() == kept


def test_learning_cannot_change_when_a_run_is_resumed(tmp_path: Path) -> None:
    train(small(total_steps=256), tmp_path / "run")
    with pytest.raises(UsageError, match="double_q = True, not False"):
        open_session(small(total_steps=256, double_q=False), tmp_path / "run", resume=True)
    with pytest.raises(UsageError, match="already holds a run"):
        open_session(small(total_steps=256), tmp_path / "run")
    with pytest.raises(FileError, match="no run to resume"):
        open_session(small(), tmp_path / "none", resume=True)


def test_a_checkpoint_of_another_network_is_refused(tmp_path: Path) -> None:
    train(small(total_steps=256), tmp_path / "run")
    small(total_steps=256, architecture="lines").save(tmp_path / "run" / "config.toml")
    with pytest.raises(FileError, match="the weights do not fit lines"):
        open_session(small(total_steps=256, architecture="lines"), tmp_path / "run", resume=True)
