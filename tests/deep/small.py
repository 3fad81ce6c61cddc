"""Small deep learning for the tests: tiny boards, a network of two thin layers."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from tests.games.naive import State
from tests.learning.exact import Solved
from tilewright import make_game
from tilewright.deep.config import DeepConfig
from tilewright.deep.learner import Learner
from tilewright.deep.network import BoardNetwork, NetworkConfig, make_network
from tilewright.deep.policy import NetworkPolicy
from tilewright.deep.session import DeepSession
from tilewright.games.rules import ACTIONS
from tilewright.training.session import open_session

__all__ = ["AFTERSTATE", "PAPER", "SMALL", "SUPERVISED", "expected_score", "make_small_network", "small", "train"]

PAPER = ["mlp", "cnn_5l", "cnn_5l_4", "cnn_5l_4_v2", "cnn_5l_4_fc", "cnn_alt", "cnn_alt_fc"]
SMALL = DeepConfig(
    game="2048:rows=2,columns=2",
    architecture="small",
    mask=True,
    gamma=1.0,
    reward_scale=10.0,
    exploration_fraction=0.5,
    buffer_size=5000,
    learning_starts=200,
    train_freq=8,
    batch_size=64,
    learning_rate=2e-3,
    target_update_interval=300,
    total_steps=1024,
    curve_games=5,
    evaluate_games=10,
    evaluate_minutes=0,
)
AFTERSTATE = dataclasses.replace(
    SMALL,
    algorithm="afterstate",
    exploration_initial_eps=0.0,
    exploration_final_eps=0.0,
    learning_rate=1e-3,
    train_freq=16,
    mask=False,
)
SUPERVISED = dataclasses.replace(
    SMALL, algorithm="supervised", teacher="greedy", teacher_fraction=0.5, reward_scale=1.0, n_envs=8
)


def small(**changes: Any) -> DeepConfig:
    return dataclasses.replace(SMALL, **changes)


def train(config: DeepConfig, path: Path, **options: Any) -> DeepSession:
    session = open_session(config, path, **options)
    assert isinstance(session, DeepSession)
    session.run()
    return session


def make_small_network(architecture: str = "small", game: str = "2048", **changes: Any) -> BoardNetwork:
    options: dict[str, Any] = {"algorithm": "dqn", "encoding": "onehot", "dueling": True, **changes}
    return make_network(NetworkConfig(make_game(game), architecture=architecture, **options), seed=1)


def expected_score(learner: Learner, solved: Solved) -> float:
    """The exact mean score of the learner's greedy policy: its move in every state, by dynamic programming."""
    game = make_game(learner.config.game)
    policy = NetworkPolicy(learner.network, learner.config.reward_scale)
    states = [state for state, moves in solved.moves.items() if moves]
    boards = [game.parse({"board": [list(row) for row in state.board]}) for state in states]
    cells, extra = (np.array([board.state[k] for board in boards], np.uint64) for k in (0, 1))
    best = policy.q_values(game, cells, extra).argmax(axis=1)
    chosen: dict[State, str] = {state: ACTIONS[action] for state, action in zip(states, best, strict=True)}
    return solved.mean(solved.values_under(chosen))
