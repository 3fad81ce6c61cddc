"""Afterstate learning: targets as defined, and the best play of a tiny board."""

import dataclasses

import numpy as np
import pytest
import torch

from tests.deep.small import AFTERSTATE, expected_score
from tests.envs import reference
from tests.learning.exact import solve_2048
from tilewright import Board, make_game
from tilewright.deep.afterstate import AfterstateLearner
from tilewright.errors import FileError
from tilewright.games.rules import State


def test_it_solves_the_2x2_board() -> None:
    solved = solve_2048(2, 2)
    config = dataclasses.replace(AFTERSTATE, total_steps=20_000, buffer_size=20_000)
    learner = AfterstateLearner(config)
    while learner.steps < config.total_steps:
        learner.learn(learner.steps / config.total_steps)
    assert expected_score(learner, solved) > 0.97 * solved.mean(solved.best)


@pytest.mark.parametrize("spec", ["2048:rows=2,columns=2", "threes:rows=3,columns=3,start_tiles=3"])
def test_targets_are_the_spawn_reward_and_the_best_move_after_it(spec: str) -> None:
    config = dataclasses.replace(AFTERSTATE, game=spec, gamma=0.9)
    learner, game = AfterstateLearner(config), make_game(spec)
    for _ in range(4):
        learner.learn(0.0)
    targets, ends = learner.targets(np.arange(learner.steps)), 0
    for i in range(300):
        board = Board(game, State(*(int(word) for word in learner.buffer.next_states[i])))
        q_values = []
        for action in game.legal(board):
            after, reward = game.slide(board, action)
            value = float(learner.target.predict(reference.grid(after)[None])[0, 0])
            q_values.append(reward / config.reward_scale + value)
        best = max(q_values, default=0.0)
        ends += not q_values
        spawn_reward = learner.buffer.spawn_rewards[i] / config.reward_scale
        assert targets[i] == pytest.approx(spawn_reward + 0.9 * best, abs=1e-4)
    assert ends


def test_only_legal_moves_are_made_and_scores_are_those_of_the_games() -> None:
    learner = AfterstateLearner(AFTERSTATE)
    finished = [game for _ in range(20) for game in learner.learn(0.5)]
    assert len(finished) > 20
    for game in finished:
        assert game.score >= 2**game.largest_code  # a tile is made of merges that scored at least its own value


def test_the_target_network_is_updated_at_its_interval() -> None:
    learner = AfterstateLearner(dataclasses.replace(AFTERSTATE, learning_starts=0, target_update_interval=1024))
    pairs = list(zip(learner.network.parameters(), learner.target.parameters(), strict=True))
    while learner.steps < 1024 - 256:
        learner.learn(0.0)
    assert not any(torch.equal(*pair) for pair in pairs)
    learner.config = dataclasses.replace(learner.config, learning_starts=10**9)
    learner.learn(0.0)
    assert all(torch.equal(*pair) for pair in pairs)


def test_exploration_makes_random_legal_moves() -> None:
    """With ε = 1 the moves do not depend on the network."""
    config = dataclasses.replace(
        AFTERSTATE, exploration_initial_eps=1.0, exploration_final_eps=1.0, learning_starts=10**9
    )
    one, other = AfterstateLearner(config), AfterstateLearner(config)
    with torch.no_grad():
        for weight in other.network.parameters():
            weight.neg_()
    one.learn(0.0)
    other.learn(0.0)
    assert np.array_equal(one.buffer.next_states, other.buffer.next_states)
    greedy = AfterstateLearner(dataclasses.replace(AFTERSTATE, learning_starts=10**9))
    greedy.learn(0.0)
    assert not np.array_equal(one.buffer.next_states, greedy.buffer.next_states)


def test_a_checkpoint_that_does_not_match_is_refused() -> None:
    learner = AfterstateLearner(AFTERSTATE)
    tensors, counters = learner.tensors(), learner.counters()
    learner.restore(tensors, counters)
    for wrong, complaint in (
        (
            {**tensors, "buffer.spawn_rewards": np.zeros(3, np.float32)},
            "buffer.spawn_rewards is missing or has another",
        ),
        ({name: one for name, one in tensors.items() if name != "games.cells"}, "games.cells is missing"),
    ):
        with pytest.raises(FileError, match=complaint):
            learner.restore(wrong, counters)
    with pytest.raises(FileError, match="its counter steps is not a whole number"):
        learner.restore(tensors, {**counters, "steps": "many"})
