"""Games that end at a goal tile: nothing after it is played, and the best probability of making it is learned."""

from typing import Any

import numpy as np
import pytest

from tilewright.errors import ConfigError
from tilewright.training.config import TrainingConfig
from tilewright.training.trainer import Trainer

BOARD: dict[str, Any] = {"game": "2048:rows=2,columns=2", "tuples": ("0145",), "step_size": "fixed", "games": 1}
WIN_16 = 0.96251125  # of best play on 2x2 (jdleesmiller/twenty48)


def learn(games: int, **options: Any) -> tuple[Any, Any]:
    """Scores and largest tiles of the last tenth of the games; exploration ends before."""
    trainer = Trainer(TrainingConfig(**{**BOARD, "alpha": 0.1, "epsilon": 0.1, **options}))
    trainer.learn(0, games)
    trainer.alpha[0] = 0.01
    greedy = Trainer(TrainingConfig(**{**BOARD, "alpha": 0.01, "epsilon": 1e-9, **options}))
    greedy.weights[:] = trainer.weights
    found = greedy.learn(games, games // 10)
    return found.scores, found.codes


@pytest.mark.parametrize(("update", "value_function"), [("online", "afterstate"), ("backward", "state")])
def test_the_goal_alone_as_reward_teaches_to_win_as_often_as_possible(update: str, value_function: str) -> None:
    options = {"goal_tile": 16, "goal_reward": 100, "goal_only": True}
    scores, codes = learn(100_000, update=update, value_function=value_function, **options)
    assert codes.max() == 4  # a 16; a game goes on to 32 without a goal
    assert np.array_equal(scores, 100 * (codes == 4))
    assert (codes == 4).mean() == pytest.approx(WIN_16, abs=4 * (WIN_16 * (1 - WIN_16) / 10_000) ** 0.5)


def test_points_count_besides_the_goal() -> None:
    scores, codes = learn(2_000, update="online", goal_tile=16, goal_reward=1_000)
    assert codes.max() == 4
    assert (scores[codes == 4] > 1_000).all()
    assert (scores[codes < 4] < 1_000).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"goal_reward": 5}, "goal_reward needs goal_tile"),
        ({"goal_tile": 16, "goal_only": True}, "goal_only needs goal_reward"),
        ({"goal_tile": 17}, "goal_tile = 17"),
        ({"goal_tile": 16, "stages": ("8",), "start_pool": 5}, "does not work with start_pool"),
    ],
)
def test_a_goal_that_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TrainingConfig(**{**BOARD, **options})
