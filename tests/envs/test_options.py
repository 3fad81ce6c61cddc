"""Options of environments: what is allowed, and what kernels get."""

import re
from typing import Any

import pytest

from tilewright import UsageError, make_game
from tilewright.deep import config as deep_config
from tilewright.envs.options import REWARDS, EnvOptions


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"observation": "onehott"}, "observation='onehott' (did you mean 'onehot'?); allowed: grid, onehot, look"),
        ({"reward": "scores"}, "reward='scores' (did you mean 'score'?): must be score, log2 or a function"),
        ({"reward": 5}, "reward=5: must be score, log2 or a function"),
        ({"penalty": -1}, "penalty=-1: must be from 0"),
        ({"penalty": float("inf")}, "penalty=inf: must be from 0 to 1,000,000,000"),
        ({"penalty": float("nan")}, "penalty=nan: must be from 0"),
        ({"end_probability": 1.5}, "end_probability=1.5: must be from 0 to 1"),
        ({"end_fraction": -0.1}, "end_fraction=-0.1: must be from 0 to 1"),
        ({"max_invalid_moves": -1}, "max_invalid_moves=-1: must be a whole number from 0 to"),
        ({"max_invalid_moves": 2.5}, "max_invalid_moves=2.5: must be a whole number from 0 to"),
        ({"max_episode_steps": 0}, "max_episode_steps=0: must be a whole number from 1 to"),
        ({"end_fraction": 0.1, "end_after": -1}, "end_after=-1: must be a whole number from 0"),
        ({"end_after": 16}, "end_after=16: needs end_fraction"),
        ({"game": 2048}, "game=2048: must be a Game or a spec"),
    ],
)
def test_impossible_values_are_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=re.escape(complaint)):
        EnvOptions(**options)


def test_a_game_is_given_by_its_spec_or_itself() -> None:
    game = make_game("2048:rows=3")
    assert EnvOptions(game).make_game() is game
    assert EnvOptions("2048:rows=3").make_game() == game
    with pytest.raises(UsageError, match="there is no game '2049'"):
        EnvOptions("2049").make_game()


def test_kernels_get_the_probability_as_a_threshold_of_32_bits() -> None:
    found = EnvOptions(reward="log2", penalty=32, end_probability=0.25, end_fraction=0.1).kernel_options()
    assert (found.log2, found.penalty, int(found.end_threshold), found.end_fraction) == (True, 32.0, 2**30, 0.1)
    assert int(EnvOptions(end_probability=1).kernel_options().end_threshold) == 2**32


def test_configurations_of_deep_networks_allow_the_same_rewards() -> None:
    assert deep_config.REWARDS == REWARDS
