"""What values are learned towards, against equations (3), (4) and (6) of Yeh et al. 2016 on whole games."""

import pytest

from tests.learning.plain import lambda_return, return_weights
from tests.learning.twins import assert_same_weights, twins
from tilewright.errors import ConfigError
from tilewright.training.config import TrainingConfig, read_config

RETURNS = {
    "TD(0)": (0.0, 0),
    "TD(0), said as one step": (0.0, 1),
    "TD(0.5)": (0.5, 0),
    "Monte Carlo": (1.0, 0),
    "Yeh's TD(0.5)": (0.5, 5),
    "three steps": (1.0, 3),
}


def test_the_formula_used_here_has_the_weights_of_equation_6() -> None:
    assert return_weights(0.5, 5) == [0.5, 0.25, 0.125, 0.0625, 0.0625]
    assert return_weights(1.0, 3) == [0, 0, 1]
    assert return_weights(0.0, 4) == [1, 0, 0, 0]


def test_the_formula_used_here_on_a_game_of_three_moves() -> None:
    rewards, values = [1.0, 2.0, 4.0], [0.0, 80.0, 160.0, 0.0]
    assert lambda_return(rewards, values, 0, 0.0, 0) == 1 + 80
    assert lambda_return(rewards, values, 0, 1.0, 0) == 7
    assert lambda_return(rewards, values, 0, 1.0, 2) == 1 + 2 + 160
    assert lambda_return(rewards, values, 0, 0.5, 0) == 0.5 * 81 + 0.25 * 163 + 0.25 * 7
    assert lambda_return(rewards, values, 0, 0.5, 2) == 0.5 * 81 + 0.5 * 163
    assert lambda_return(rewards, values, 2, 0.5, 2) == 4


@pytest.mark.parametrize("name", RETURNS)
@pytest.mark.parametrize("value_function", ["afterstate", "state", "action"])
def test_learning_backwards_moves_values_towards_their_returns(name: str, value_function: str) -> None:
    lambda_, n_step = RETURNS[name]
    trainer, plain = twins(seed=3, value_function=value_function, step_size="fixed", lambda_=lambda_, n_step=n_step)
    before = plain.weights.copy()
    games = 2 if value_function == "state" else 3
    trainer.learn(0, games)
    for number in range(games):
        plain.learn_backward(3, number, lambda_, n_step)
    assert_same_weights(trainer, plain, before)


@pytest.mark.parametrize("name", ["TD(0.5)", "Yeh's TD(0.5)"])
def test_the_new_tiles_of_threes_count_as_earned(name: str) -> None:
    lambda_, n_step = RETURNS[name]
    options = {"game": "threes", "tuples": ("0123", "4567", "89ab")}
    for value_function in ("afterstate", "action"):
        trainer, plain = twins(
            seed=4, value_function=value_function, step_size="fixed", lambda_=lambda_, n_step=n_step, **options
        )
        before = plain.weights.copy()
        trainer.learn(0, 2)
        for number in range(2):
            plain.learn_backward(4, number, lambda_, n_step)
        assert_same_weights(trainer, plain, before)


def test_no_limit_and_a_limit_beyond_the_game_are_the_same() -> None:
    unlimited, _ = twins(seed=5, step_size="fixed", lambda_=0.7, n_step=0)
    limited, _ = twins(seed=5, step_size="fixed", lambda_=0.7, n_step=100_000)
    scores = unlimited.learn(0, 5).scores
    assert (limited.learn(0, 5).scores == scores).all()
    assert unlimited.weights == pytest.approx(limited.weights, rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("value_last_board", [False, True])
@pytest.mark.parametrize("value_function", ["afterstate", "state"])
def test_the_next_move_is_chosen_again_with_the_weights_of_the_moment(
    value_function: str, value_last_board: bool
) -> None:
    rechoose = value_function == "afterstate"
    if not rechoose and not value_last_board:
        return
    options = {"rechoose_next_move": rechoose, "value_last_board": value_last_board}
    trainer, plain = twins(seed=6, value_function=value_function, step_size="fixed", **options)
    before = plain.weights.copy()
    trainer.learn(0, 3)
    for number in range(3):
        plain.learn_rechoosing(6, number, rechoose=rechoose, value_last_board=value_last_board)
    assert_same_weights(trainer, plain, before)


def test_choosing_again_is_something_else_than_the_move_that_was_played() -> None:
    again, _ = twins(seed=7, step_size="fixed", rechoose_next_move=True)
    played, _ = twins(seed=7, step_size="fixed")
    assert (again.learn(0, 1).scores == played.learn(0, 1).scores).all()  # the first game is the same
    assert (again.weights != played.weights).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rechoose_next_move": True, "update": "online"}, "backward"),
        ({"rechoose_next_move": True, "lambda_": 0.5}, "lambda = 0"),
        ({"rechoose_next_move": True, "value_function": "state"}, "afterstate"),
        ({"value_last_board": True}, "rechoose_next_move"),
    ],
)
def test_choosing_again_is_for_backward_td_0(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TrainingConfig(games=1, **options)  # type: ignore[arg-type]


def test_the_presets_of_chen_and_of_the_published_threes_program_choose_again() -> None:
    for name, last in (("chen-afterstate", True), ("yeh-threes-program", False), ("yeh-threes-program-stages", False)):
        config = read_config(name)
        assert isinstance(config, TrainingConfig)
        assert (config.rechoose_next_move, config.value_last_board) == (True, last)
    assert read_config("chen-state").to_dict()["value_last_board"] is True
