"""Games that are played again from their middle."""

from typing import Any

import numpy as np
import pytest

from tilewright.errors import ConfigError
from tilewright.training.config import TrainingConfig
from tilewright.training.trainer import Trainer


def trained(games: int, **changes: Any) -> tuple[Trainer, Any]:
    trainer = Trainer(
        TrainingConfig(game="2048:rows=3,columns=3", network="", tuples=("0124", "456"), games=9, **changes)
    )
    return trainer, trainer.learn(0, games)


@pytest.mark.parametrize("value_function", ["afterstate", "state"])
def test_a_game_counts_as_it_was_played_the_first_time(value_function: str) -> None:
    """Nothing is known before the first game, so it is the same with and without."""
    once, plain = trained(1, value_function=value_function)
    again, restarted = trained(1, value_function=value_function, restart=10)
    assert restarted.scores[0] == plain.scores[0]
    assert restarted.codes[0] == plain.codes[0]
    assert restarted.moves[0] > plain.moves[0] >= 10
    assert np.count_nonzero(again.weights) >= np.count_nonzero(once.weights)
    assert not np.array_equal(again.weights, once.weights)


def test_games_that_are_too_short_are_not_played_again() -> None:
    once, plain = trained(5)
    again, restarted = trained(5, restart=1_000_000)
    np.testing.assert_array_equal(restarted.moves, plain.moves)
    np.testing.assert_array_equal(again.weights, once.weights)


def test_a_game_is_played_again_while_it_is_long_enough() -> None:
    """From the middle of n moves on, a game lasts about n / 2: with restarts from 10 on, there are several."""
    _, plain = trained(200)
    _, few = trained(200, restart=25)
    _, many = trained(200, restart=10)
    assert plain.moves.sum() < few.moves.sum() < many.moves.sum()


def test_online_learning_keeps_no_record_to_go_back_to() -> None:
    with pytest.raises(
        ConfigError, match='update = "online" does not keep the moves of a game; restart needs "backward"'
    ):
        TrainingConfig(update="online", restart=100, games=1)
