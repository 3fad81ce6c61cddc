"""Sessions: all seven networks of the paper train and are saved, a run goes on bit by bit, and divergence stops it."""

import csv
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.deep.small import AFTERSTATE, SMALL, small, train
from tests.training.sessions import events_of
from tilewright._core.files import read_tensors
from tilewright.deep.config import DeepConfig, deep_preset_names, read_deep_config
from tilewright.deep.model import load_deep_model
from tilewright.deep.session import LEARNERS, open_deep_session
from tilewright.errors import ConfigError, DivergedError, FileError, UsageError
from tilewright.training.run_folder import find_run
from tilewright.training.session import Callback

PAPER = ["mlp", "cnn_5l", "cnn_5l_4", "cnn_5l_4_v2", "cnn_5l_4_fc", "cnn_alt", "cnn_alt_fc"]


class StopAfter(Callback):
    def __init__(self, moves: int) -> None:
        self._moves = moves

    def on_games(self, session: Any) -> None:
        if session.progress.moves >= self._moves:
            session.stop()


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
    assert session.learner.dqn._n_updates > 0  # type: ignore[attr-defined]
    model = load_deep_model(session.folder.model_file)
    seen = np.random.default_rng(0).integers(12, size=(5, 4, 4), dtype=np.uint8)
    assert np.array_equal(model.network.predict(seen), session.learner.network.predict(seen))
    assert (model.plan.architecture, model.reward_scale, model.origin["moves"]) == (architecture, 1.0, "256")


@pytest.mark.parametrize("config", [SMALL, small(n_step=3, symmetry=True, game="2048:rows=3,columns=3"), AFTERSTATE])
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(config: DeepConfig, tmp_path: Path) -> None:
    whole = train(config, tmp_path / "whole")
    train(config, tmp_path / "parts", callback=StopAfter(500))
    resumed = train(config, tmp_path / "parts", resume=True)
    assert resumed.progress.moves == whole.progress.moves >= config.total_steps
    found, expected = (read_tensors(session.folder.checkpoint_file)[0] for session in (resumed, whole))
    assert set(found) == set(expected)
    assert [name for name in found if not np.array_equal(found[name], expected[name])] == []
    rows = [[(p.games, p.moves, p.score_mean, p.loss) for p in s.folder.curve_points()] for s in (resumed, whole)]
    assert rows[0] == rows[1] != []


@pytest.mark.parametrize("learner", ["dqn", "afterstate"])
@pytest.mark.parametrize(("done", "rate"), [(0.0, 1e-2), (0.9, 1e-3), (1.0, 1e-7)])
def test_steps_shrink_towards_the_end(learner: str, done: float, rate: float) -> None:
    """Adam's first step moves a weight by the learning rate, whatever its gradient."""
    config = dataclasses.replace(
        SMALL if learner == "dqn" else AFTERSTATE, learning_rate=1e-2, learning_rate_end=1e-7, train_freq=64
    )
    learning = LEARNERS[learner](config)
    before = [weight.detach().clone() for weight in learning.network.parameters()]
    lessons = 0
    while not lessons:
        learning.advance(done)
        lessons = len(learning.take_losses())
    pairs = zip(before, learning.network.parameters(), strict=True)
    furthest = max(float((old - new.detach()).abs().max()) for old, new in pairs)
    assert 0.5 * rate < furthest <= 1.05 * rate * lessons


def test_a_folder_has_what_every_run_has(tmp_path: Path) -> None:
    session = train(small(evaluate_minutes=0.001), tmp_path / "run")
    folder = session.folder
    assert folder.config() == session.config
    rows = list(csv.DictReader(folder.metrics_file.read_text().splitlines()))
    assert list(rows[0]) == [
        *(
            "games",
            "seconds",
            "moves",
            "score_mean",
            "score_max",
            "win_rate",
            "largest",
            "epsilon",
            "loss",
        )
    ]
    assert [int(row["games"]) for row in rows] == list(range(5, 5 * len(rows) + 1, 5))
    assert folder.evaluation_points()
    tags = set(events_of(folder.path))
    assert {"train/score_mean", "train/epsilon", "train/loss", "train/largest", "test/score_mean"} <= tags
    assert "steps/s" in session.figures()
    assert "ε" in session.figures()


def test_a_loss_that_is_no_number_stops_the_run_and_keeps_the_checkpoint(tmp_path: Path) -> None:
    train(small(total_steps=512), tmp_path / "run")
    kept = (tmp_path / "run" / "checkpoint.safetensors").read_bytes()
    session = open_deep_session(small(total_steps=2048), tmp_path / "run", resume=True)
    session.learner.dqn.replay_buffer.rewards[:] = np.nan  # type: ignore[attr-defined]
    with pytest.raises(DivergedError, match=r"no number any more after 5.. steps; try a learning_rate below"):
        session.run()
    assert (tmp_path / "run" / "checkpoint.safetensors").read_bytes() == kept


def test_learning_cannot_change_on_the_way(tmp_path: Path) -> None:
    train(small(total_steps=256), tmp_path / "run")
    with pytest.raises(UsageError, match="was begun with double = True, not False; it cannot be resumed so"):
        open_deep_session(small(total_steps=256, double=False), tmp_path / "run", resume=True)
    with pytest.raises(UsageError, match="holds a run already"):
        open_deep_session(small(total_steps=256), tmp_path / "run")
    with pytest.raises(FileError, match="no run to resume"):
        open_deep_session(small(), tmp_path / "none", resume=True)


def test_a_checkpoint_of_another_network_is_refused(tmp_path: Path) -> None:
    train(small(total_steps=256), tmp_path / "run")
    small(total_steps=256, architecture="lines").save(tmp_path / "run" / "config.toml")
    with pytest.raises(FileError, match="the weights are not those of lines"):
        open_deep_session(small(total_steps=256, architecture="lines"), tmp_path / "run", resume=True)


@pytest.mark.parametrize("name", deep_preset_names())
def test_presets_can_be_read_and_written(name: str, tmp_path: Path) -> None:
    config = read_deep_config(name)
    config.save(tmp_path / "config.toml")
    assert find_run(tmp_path).config() == config


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"total_steps": 0}, "total_steps or minutes must say how long to train"),
        ({"algorithm": "dqm"}, r"algorithm = 'dqm' \(did you mean 'dqn'"),
        ({"architecture": "cnn"}, "architecture: there is no architecture 'cnn'.*there are: mlp, cnn_5l"),
        ({"exploration_initial_eps": 1.5}, "exploration_initial_eps = 1.5: must be from 0 to 1"),
        ({"buffer_size": 20}, "buffer_size = 20: must hold at least n_step"),
        ({"n_envs": 6}, "one must divide the other"),
        ({"algorithm": "afterstate", "n_step": 3}, "n_step goes with algorithm"),
        ({"game": "chess"}, "game: there is no game 'chess'"),
    ],
)
def test_impossible_recipes_are_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        small(**changes)
