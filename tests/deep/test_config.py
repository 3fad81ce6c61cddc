"""Configurations of deep networks: presets, and values that are refused."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.deep.small import small
from tilewright._core.config import describe_config
from tilewright.deep.config import DeepConfig
from tilewright.errors import ConfigError
from tilewright.training.config import list_presets, read_config
from tilewright.training.run_folder import RunFolder

PRESETS = [name for name in list_presets() if isinstance(read_config(name), DeepConfig)]


@pytest.mark.parametrize("name", PRESETS)
def test_presets_can_be_read_and_written(name: str, tmp_path: Path) -> None:
    config = read_config(name)
    config.save(tmp_path / "config.toml")
    assert RunFolder(tmp_path).read_config() == config


def test_every_key_has_a_meaning() -> None:
    for row in describe_config(DeepConfig):
        assert re.fullmatch(r"(dqn|supervised|policy-gradient|[A-Z]).*\.", row.meaning), row.key


def test_wrong_types_are_one_line() -> None:
    for changes, complaint in (({"double_q": 1}, "double_q = 1: must be true"), ({"gamma": "x"}, "must be a number")):
        with pytest.raises(ConfigError, match=complaint):
            small(**changes)


def test_defaults_are_the_settings_of_the_paper() -> None:
    """Bouhoula et al., section V.A."""
    config = DeepConfig(total_steps=1)
    assert (config.double_q, config.dueling, config.prioritized_replay) == (True, True, True)
    assert (config.prioritized_replay_alpha, config.prioritized_replay_beta) == (0.6, 0.4)
    assert (config.exploration_initial_eps, config.exploration_final_eps, config.exploration_fraction) == (
        0.6,
        0.01,
        0.1,
    )
    assert (config.buffer_size, config.batch_size, config.train_freq, config.gamma) == (10_000, 32, 4, 0.99)


@pytest.mark.parametrize("name", ["dqn-paper", "dqn-paper-mlp", "dqn-paper-table-1"])
def test_the_presets_of_the_paper_have_the_settings_of_its_program(name: str) -> None:
    """gym-text2048 and the hyperparameters of left-shift; Table I: 32 points and 5 %, as the text says."""
    config = read_config(name)
    assert isinstance(config, DeepConfig)
    assert config.make_game().spec == "2048"  # two start tiles
    assert (config.loss, config.n_step, config.n_envs, config.importance_weights) == ("huber", 1, 1, "buffer")
    assert (config.learning_rate, config.learning_starts, config.target_update_interval) == (1e-4, 10_000, 1_000)
    assert (config.mask, config.symmetry, config.encoding, config.reward_scale) == (False, False, "onehot", 1.0)
    ending = (config.penalty, config.end_probability, config.end_fraction, config.end_after)
    assert ending == ((32, 0.05, 0, 0) if name == "dqn-paper-table-1" else (512, 0, 0.1, 16))
    assert config.total_steps == (1_000_000 if name == "dqn-paper-table-1" else 10_000_000)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"total_steps": 0}, "total_steps = 0 and minutes = 0.0: one of them must limit the training"),
        (
            {"algorithm": "dqm"},
            "algorithm = 'dqm' (did you mean 'dqn'?); allowed: dqn, afterstate, supervised, policy-gradient",
        ),
        ({"architecture": "cnn"}, "architecture = 'cnn'"),
        ({"encoding": "one"}, "encoding = 'one' (did you mean 'onehot'?); allowed: onehot, grid"),
        ({"loss": "mae"}, "loss = 'mae' (did you mean 'mse'?); allowed: mse, huber"),
        ({"reward": "points"}, "reward = 'points'; allowed: score, log2"),
        ({"exploration_initial_eps": 1.5}, "exploration_initial_eps = 1.5: must be from 0 to 1"),
        ({"gamma": float("nan")}, "gamma = nan: must be from 0 to 1"),
        ({"penalty": -1.0}, "penalty = -1.0: must be from 0"),
        ({"penalty": float("inf")}, "penalty = inf: must be from 0 to 1,000,000,000"),
        ({"reward_scale": 0.0}, "reward_scale = 0.0: must be from 1e-06 to 1,000,000,000"),
        ({"learning_rate": float("inf")}, "learning_rate = inf: must be above 0 and at most 10"),
        ({"learning_rate": float("nan")}, "learning_rate = nan: must be above 0 and at most 10"),
        ({"learning_rate_end": float("inf")}, "learning_rate_end = inf: must be from 0 to 10"),
        ({"minutes": float("inf")}, "minutes = inf: must be from 0 to 10,000,000"),
        ({"n_step": 2**63 - 1}, "n_step = 9223372036854775807: must be from 1 to 1,000"),
        ({"buffer_size": 10**5000}, "buffer_size = a number of thousands of digits: must be from 1 to"),
        ({"batch_size": 10**18}, "batch_size = 1000000000000000000: must be from 1 to 1,000,000"),
        ({"seed": 2**63}, "seed = 9223372036854775808: must be from 0 to 9,223,372,036,854,775,807"),
        ({"n_step": 0}, "n_step = 0: must be from 1"),
        ({"buffer_size": 20}, "buffer_size = 20: must be at least n_envs · (n_step + 1) = 32"),
        ({"n_envs": 6}, "n_envs = 6, train_freq = 8: one must divide the other"),
        (
            {"algorithm": "afterstate", "n_step": 3},
            'n_step = 3: must be 1 with algorithm = "afterstate", which plays legal moves for their score',
        ),
        ({"lookahead": 3}, "lookahead = 3: must be from 0 to 2"),
        ({"end_after": 16}, "end_after = 16: needs end_fraction"),
        ({"importance_weights": "all"}, "importance_weights = 'all'; allowed: batch, buffer"),
        ({"game": "chess"}, "game = 'chess': there is no game 'chess'"),
    ],
)
def test_impossible_values_are_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(complaint)):
        small(**changes)
