"""Afterstate values: targets as defined, and best play of a tiny board found."""

import dataclasses

import numpy as np
import pytest

from tests.deep.small import AFTERSTATE, expected_score
from tests.envs import twins
from tests.learning.exact import solve_2048
from tilewright import Board, make_game
from tilewright.deep.afterstate import AfterstateLearner
from tilewright.games.rules import State


def test_it_solves_the_2x2_board() -> None:
    solved = solve_2048(2, 2)
    config = dataclasses.replace(AFTERSTATE, total_steps=20_000, buffer_size=20_000)
    learner = AfterstateLearner(config)
    while learner.steps < config.total_steps:
        learner.advance(learner.steps / config.total_steps)
    assert expected_score(learner, solved) > 0.97 * solved.mean(solved.best)


@pytest.mark.parametrize("spec", ["2048:rows=2,columns=2", "threes:rows=3,columns=3,start_tiles=3"])
def test_targets_are_the_gain_and_the_best_move_after_it(spec: str) -> None:
    config = dataclasses.replace(AFTERSTATE, game=spec, gamma=0.9)
    learner, game = AfterstateLearner(config), make_game(spec)
    for _ in range(4):
        learner.advance(0.0)
    places = np.arange(learner.steps)
    targets, overs = learner.targets(places), 0
    for place in places[:300]:
        board = Board(game, State(*(int(word) for word in learner.next[place])))
        q_values = []
        for action in game.legal(board):
            after, reward = game.slide(board, action)
            q_values.append(reward / config.reward_scale + float(learner.target.predict(twins.grid(after)[None])[0, 0]))
        best = max(q_values, default=0.0)
        overs += not q_values
        assert targets[place] == pytest.approx(learner.gains[place] / config.reward_scale + 0.9 * best, abs=1e-4)
    assert overs


def test_only_legal_moves_are_made_and_scores_are_those_of_the_games() -> None:
    learner = AfterstateLearner(AFTERSTATE)
    finished = [game for _ in range(20) for game in learner.advance(0.5)]
    assert len(finished) > 20
    for game in finished:
        assert game.score >= 2**game.code  # a tile is made of merges that earned at least its own value
