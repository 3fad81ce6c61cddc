"""Policy gradient: the probabilities it plays by, its gradient, and the best play of a tiny board."""

import dataclasses

import numpy as np
import pytest
import torch

from tests.deep.small import SMALL, expected_score
from tests.learning.exact import solve_2048
from tilewright.deep.policy_gradient import PolicyGradientLearner
from tilewright.errors import ConfigError, FileError

GRADIENT = dataclasses.replace(
    SMALL,
    algorithm="policy-gradient",
    mask=False,
    n_step=8,
    n_envs=128,
    learning_rate=1e-2,
    exploration_initial_eps=0.25,
    exploration_final_eps=0.0,
    ent_coef=0.01,
    symmetry=True,
)


def test_it_learns_to_play_the_2x2_board() -> None:
    solved = solve_2048(2, 2)
    learner = PolicyGradientLearner(GRADIENT)
    before = expected_score(learner, solved)
    while learner.steps < 80_000:
        learner.learn(learner.steps / 80_000)
    assert expected_score(learner, solved) > 0.8 * solved.mean(solved.best) > before


def test_moves_are_drawn_from_the_policy_and_from_legal_moves() -> None:
    learner = PolicyGradientLearner(dataclasses.replace(GRADIENT, exploration_fraction=1.0))
    grids = np.repeat(np.array([[[1, 1], [2, 3]], [[1, 2], [1, 3]]], np.uint8), 4000, axis=0)
    masks = np.repeat(np.array([[False, True, False, True], [True, False, True, False]]), 4000, axis=0)
    drawn = learner._draw(grids, masks).reshape(2, 4000)
    logits = learner.network.predict(grids[[0, 4000]])
    for row, legal in ((0, [1, 3]), (1, [0, 2])):
        assert set(drawn[row]) <= set(legal)
        weights = np.exp(logits[row, legal])
        expected = 0.75 * weights[0] / weights.sum() + 0.25 / 2
        assert (drawn[row] == legal[0]).mean() == pytest.approx(expected, abs=0.04)


def test_the_gradient_raises_the_probability_of_moves_that_did_better_than_the_baseline() -> None:
    learner = PolicyGradientLearner(dataclasses.replace(GRADIENT, symmetry=False, ent_coef=0.0))
    grids = np.array([[[1, 1], [2, 3]]] * 2, np.uint8)
    masks = np.array([[False, True, False, True]] * 2)
    inputs, legal = torch.from_numpy(grids), torch.from_numpy(masks)
    before = learner.behaviour(inputs, legal)[0, 3].item()
    for _ in range(5):
        learner._train(grids, masks, np.array([3, 1]), np.array([2.0, 1.0], np.float32))
    assert learner.behaviour(inputs, legal)[0, 3].item() > before


def test_bad_checkpoints_and_keys_are_refused() -> None:
    learner = PolicyGradientLearner(GRADIENT)
    learner.learn(0.0)
    tensors = {name: np.array(array) for name, array in learner.tensors().items()}
    counters = dict(learner.counters())
    learner.restore(tensors, counters)
    with pytest.raises(FileError, match="contradict"):
        learner.restore(tensors, {**counters, "steps": 7})
    with pytest.raises(FileError, match="does not match"):
        learner.restore({name: array for name, array in tensors.items() if "values.adam" not in name}, counters)
    with pytest.raises(ConfigError, match=r'penalty = 1\.0: must be 0\.0 with algorithm = "policy-gradient"'):
        dataclasses.replace(GRADIENT, penalty=1.0)
    with pytest.raises(ConfigError, match=r"ent_coef = 0\.1: must be"):
        dataclasses.replace(SMALL, ent_coef=0.1)
