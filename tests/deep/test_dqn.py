"""DQN: each of its switches does what it says, and it solves a board whose best play is known."""

import numpy as np
import pytest
import torch

from tests.deep.small import expected_score, small
from tests.learning.exact import solve_2048
from tilewright.deep.config import DeepConfig
from tilewright.deep.dqn import DqnLearner
from tilewright.deep.learner import epsilon_at

CORNERED = np.array([[[1, 0], [0, 0]]], np.uint8)  # 2 in the upper left corner: only right and down are legal


def test_it_solves_the_2x2_board() -> None:
    solved = solve_2048(2, 2)
    config = small(total_steps=20_000, buffer_size=20_000, n_step=2)
    learner = DqnLearner(config)
    before = expected_score(learner, solved)
    while learner.steps < config.total_steps:
        learner.advance(learner.steps / config.total_steps)
    best = solved.mean(solved.best)
    assert before < 0.8 * best
    assert expected_score(learner, solved) > 0.97 * best


def set_values(learner: DqnLearner, online: list[float], target: list[float]) -> None:
    """Networks that think the same of every board."""
    for network, values in ((learner.dqn.q_net, online), (learner.dqn.q_net_target, target)):
        with torch.no_grad():
            for weight in network.parameters():
                weight.zero_()
            assert network.action is not None
            network.action[-1].load_state_dict({"bias": torch.tensor(values)}, strict=False)


@pytest.mark.parametrize(("double", "expected"), [(True, 1.0), (False, 9.0)])
def test_double_q_learning_chooses_by_one_network_and_values_by_the_other(double: bool, expected: float) -> None:
    learner = DqnLearner(small(double=double, dueling=False, mask=False))
    set_values(learner, online=[0, 5, 0, 0], target=[9, 1, 2, 3])
    assert learner.dqn.next_values(CORNERED).tolist() == [expected]


@pytest.mark.parametrize(("mask", "expected"), [(True, 3.0), (False, 9.0)])
def test_masks_keep_illegal_moves_out_of_the_targets(mask: bool, expected: float) -> None:
    learner = DqnLearner(small(double=False, dueling=False, mask=mask))
    set_values(learner, online=[0, 0, 0, 0], target=[9, 2, 3, 8])
    assert learner.dqn.next_values(CORNERED).tolist() == [expected]


@pytest.mark.parametrize("mask", [True, False])
def test_masks_keep_illegal_moves_from_being_tried(mask: bool) -> None:
    learner = DqnLearner(small(mask=mask, learning_starts=128))
    for _ in range(5):
        learner.advance(0.0)
    misses = learner.dqn.boards.boards.status.misses.sum()
    assert misses == 0 if mask else misses > 0


def test_every_environment_has_a_coin_of_its_own() -> None:
    learner = DqnLearner(small(n_envs=400, buffer_size=4000, train_freq=8, learning_starts=0, mask=False))
    learner.advance(0.0)
    learner.dqn.exploration_rate = 0.25
    greedy = learner.dqn.q_net.predict(learner.env.look()).argmax(axis=1)
    rates = [(learner.dqn._sample_action(0, None, 400)[0] != greedy).mean() for _ in range(20)]
    assert np.mean(rates) == pytest.approx(0.25 * 3 / 4, abs=0.02)
    assert np.std(rates) < 0.05  # one coin for all would give none or all


def test_epsilon_goes_down_as_in_the_paper() -> None:
    config = DeepConfig(total_steps=100)
    assert [epsilon_at(config, done) for done in (0, 0.05, 0.1, 0.5, 1)] == pytest.approx(
        [0.6, 0.305, 0.01, 0.01, 0.01]
    )
    for part, rate in ((0.5, 0.305), (0.0, 0.01)):
        learner = DqnLearner(small(exploration_fraction=part))
        learner.advance(0.25)
        assert learner.dqn.exploration_rate == pytest.approx(rate)


def test_priorities_are_the_errors_of_the_last_lesson() -> None:
    learner = DqnLearner(small(prioritised=True))
    for _ in range(8):
        learner.advance(0.0)
    memory = learner.dqn.replay_buffer
    filled = memory.tree.leaves[: memory.pos * memory.n_envs]
    assert len(set(filled.tolist())) > 100
    plain = DqnLearner(small(prioritised=False))
    for _ in range(8):
        plain.advance(0.0)
    assert plain.dqn.replay_buffer.tree.nodes[1] == 0


def test_symmetric_images_are_learned_alike() -> None:
    """One transition in memory: with images the network learns it from all eight sides, without from one."""
    errors = {}
    for symmetry in (True, False):
        learner = DqnLearner(small(symmetry=symmetry, gamma=0.0, prioritised=False, mask=False, buffer_size=64))
        dqn = learner.dqn
        seen = np.repeat(np.array([[[1, 2], [3, 4]]], np.uint8), 16, axis=0)
        for _ in range(4):
            dqn.replay_buffer.add(seen, seen, np.full(16, 3), np.full(16, 5.0), np.zeros(16), [{}] * 16)
        dqn.train(300, 32)
        which = np.arange(8)
        symmetries = dqn.symmetries.of_grids(np.repeat(seen[:1], 8, axis=0), which)
        actions = dqn.symmetries.of_actions(np.full(8, 3), which)
        values = dqn.q_net.predict(symmetries)[which, actions]
        assert values[0] == pytest.approx(5, abs=0.2)
        errors[symmetry] = np.abs(values - 5).max()
    assert errors[True] < 0.3 < 1 < errors[False]


def test_the_target_network_follows_now_and_then() -> None:
    learner = DqnLearner(small(target_update_interval=10_000))
    for _ in range(8):
        learner.advance(0.0)
    dqn = learner.dqn
    pairs = list(zip(dqn.q_net.parameters(), dqn.q_net_target.parameters(), strict=True))
    assert not any(torch.equal(*pair) for pair in pairs)
    dqn.target_update_interval = 16
    dqn.learning_starts = 10**9
    learner.advance(0.0)
    assert all(torch.equal(*pair) for pair in pairs)
