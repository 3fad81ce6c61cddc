"""DQN: each of its switches does what it says, and it solves a board whose best play is known."""

import numpy as np
import pytest
import torch

from tests.deep.small import expected_score, small
from tests.learning.exact import solve_2048
from tilewright.deep.dqn import DqnLearner
from tilewright.errors import FileError

CORNERED = np.array([[[1, 0], [0, 0]]], np.uint8)  # 2 in the upper left corner: only right and down are legal


def test_it_solves_the_2x2_board() -> None:
    solved = solve_2048(2, 2)
    config = small(total_steps=20_000, buffer_size=20_000, n_step=2)
    learner = DqnLearner(config)
    before = expected_score(learner, solved)
    while learner.steps < config.total_steps:
        learner.learn(learner.steps / config.total_steps)
    best = solved.mean(solved.best)
    assert before < 0.8 * best
    assert expected_score(learner, solved) > 0.97 * best


def set_values(learner: DqnLearner, online: list[float], target: list[float]) -> None:
    """Give the networks the same action values on every board."""
    for network, values in ((learner.dqn.q_net, online), (learner.dqn.q_net_target, target)):
        with torch.no_grad():
            for weight in network.parameters():
                weight.zero_()
            assert network.action_head is not None
            network.action_head[-1].load_state_dict({"bias": torch.tensor(values)}, strict=False)


@pytest.mark.parametrize(("double_q", "expected"), [(True, 1.0), (False, 9.0)])
def test_double_q_learning_chooses_by_one_network_and_values_by_the_other(double_q: bool, expected: float) -> None:
    learner = DqnLearner(small(double_q=double_q, dueling=False, mask=False))
    set_values(learner, online=[0, 5, 0, 0], target=[9, 1, 2, 3])
    assert learner.dqn.next_values(CORNERED).tolist() == [expected]


@pytest.mark.parametrize(("mask", "expected"), [(True, 3.0), (False, 9.0)])
def test_masks_keep_illegal_moves_out_of_the_targets(mask: bool, expected: float) -> None:
    learner = DqnLearner(small(double_q=False, dueling=False, mask=mask))
    set_values(learner, online=[0, 0, 0, 0], target=[9, 2, 3, 8])
    assert learner.dqn.next_values(CORNERED).tolist() == [expected]


@pytest.mark.parametrize("mask", [True, False])
def test_masks_keep_illegal_moves_from_being_explored(mask: bool) -> None:
    learner = DqnLearner(small(mask=mask, learning_starts=128))
    for _ in range(5):
        learner.learn(0.0)
    invalid_moves = learner.env.games.state.invalid_moves.sum()
    assert invalid_moves == 0 if mask else invalid_moves > 0


def test_every_environment_explores_independently() -> None:
    learner = DqnLearner(small(n_envs=400, buffer_size=4000, train_freq=8, learning_starts=0, mask=False))
    learner.learn(0.0)
    learner.dqn.exploration_rate = 0.25
    greedy = learner.dqn.q_net.predict(learner.env.current_grids()).argmax(axis=1)
    rates = [(learner.dqn._sample_action(0, None, 400)[0] != greedy).mean() for _ in range(20)]
    assert np.mean(rates) == pytest.approx(0.25 * 3 / 4, abs=0.02)
    assert np.std(rates) < 0.05  # one decision for all environments would give rates of 0 or 1


def test_the_exploration_rate_follows_the_progress() -> None:
    for fraction, rate in ((0.5, 0.305), (0.0, 0.01)):
        learner = DqnLearner(small(exploration_fraction=fraction))
        learner.learn(0.25)
        assert learner.dqn.exploration_rate == learner.exploration_rate == pytest.approx(rate)


def test_priorities_are_the_last_td_errors() -> None:
    learner = DqnLearner(small(prioritized_replay=True))
    for _ in range(8):
        learner.learn(0.0)
    buffer = learner.dqn.replay_buffer
    stored = buffer.tree.leaves[: buffer.pos * buffer.n_envs]
    assert len(set(stored.tolist())) > 100
    uniform = DqnLearner(small(prioritized_replay=False))
    for _ in range(8):
        uniform.learn(0.0)
    assert uniform.dqn.replay_buffer.tree.total == 0


def test_symmetric_boards_are_learned_alike() -> None:
    """One transition in the buffer: with symmetries the network learns it in all eight forms, without in one."""
    errors = {}
    for symmetry in (True, False):
        learner = DqnLearner(small(symmetry=symmetry, gamma=0.0, prioritized_replay=False, mask=False, buffer_size=64))
        dqn = learner.dqn
        grids = np.repeat(np.array([[[1, 2], [3, 4]]], np.uint8), 16, axis=0)
        for _ in range(4):
            dqn.replay_buffer.add(grids, grids, np.full(16, 3), np.full(16, 5.0), np.zeros(16), [{}] * 16)
        dqn.train(300, 32)
        every = np.arange(8)
        symmetric = learner.symmetries.transform_grids(np.repeat(grids[:1], 8, axis=0), every)
        actions = learner.symmetries.transform_actions(np.full(8, 3), every)
        values = dqn.q_net.predict(symmetric)[every, actions]
        assert values[0] == pytest.approx(5, abs=0.2)
        errors[symmetry] = np.abs(values - 5).max()
    assert errors[True] < 0.3 < 1 < errors[False]


def test_the_target_network_is_updated_at_its_interval() -> None:
    learner = DqnLearner(small(target_update_interval=10_000))
    for _ in range(8):
        learner.learn(0.0)
    dqn = learner.dqn
    pairs = list(zip(dqn.q_net.parameters(), dqn.q_net_target.parameters(), strict=True))
    assert not any(torch.equal(*pair) for pair in pairs)
    dqn.target_update_interval = 16
    dqn.learning_starts = 10**9
    learner.learn(0.0)
    assert all(torch.equal(*pair) for pair in pairs)


def test_a_checkpoint_that_does_not_match_is_refused() -> None:
    learner = DqnLearner(small())
    learner.learn(0.0)
    tensors, counters = learner.tensors(), learner.counters()
    for name in ("games.action_masks", "games.done", "buffer.priorities", "target.state_head.0.bias"):
        with pytest.raises(FileError, match=f"{name} is missing"):
            learner.restore({key: one for key, one in tensors.items() if key != name}, counters)
    with pytest.raises(FileError, match="its counter rounds is not a whole number"):
        learner.restore(tensors, {**counters, "rounds": None})
