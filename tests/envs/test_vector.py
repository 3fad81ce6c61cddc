"""Many boards at once: the same as as many single environments, step by step."""

import re
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from tilewright import UsageError
from tilewright.envs.single import BoardEnv
from tilewright.envs.vector import BoardVectorEnv

COUNT, STEPS = 7, 400
OPTIONS: dict[str, Any] = {"penalty": 8, "end_probability": 0.02, "end_fraction": 0.6}


def assert_same_info(ours: Any, theirs: Any) -> None:
    """Equal, also within dictionaries; where Gymnasium masks a value, its content does not matter."""
    assert set(ours) == set(theirs)
    for key in ours:
        if isinstance(ours[key], dict):
            assert_same_info(ours[key], theirs[key])
        elif key.startswith("_"):
            assert np.array_equal(ours[key], theirs[key]), key
        else:
            valid = theirs[f"_{key}"]
            assert np.array_equal(ours[key][valid], np.stack(list(theirs[key][valid]))), key


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
@pytest.mark.parametrize("observation", ["grid", "onehot", "lookahead1", "lookahead2"])
@pytest.mark.parametrize("game", ["2048", "threes", "2048:rows=2,columns=2"])
def test_it_is_as_many_single_environments(game: str, observation: str, mode: AutoresetMode) -> None:
    ours = BoardVectorEnv(COUNT, game, observation=observation, autoreset_mode=mode, **OPTIONS)
    theirs = SyncVectorEnv([lambda: BoardEnv(game, observation=observation, **OPTIONS)] * COUNT, autoreset_mode=mode)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    (seen, info), (expected, expected_info) = ours.reset(seed=5), theirs.reset(seed=5)
    assert np.array_equal(seen, expected)
    assert_same_info(info, expected_info)
    choices, ends = np.random.default_rng(2), 0
    for _ in range(STEPS):
        actions = choices.integers(4, size=COUNT)
        found: tuple[Any, ...] = ours.step(actions)
        wanted: tuple[Any, ...] = theirs.step(actions)
        for one, other in zip(found[:4], wanted[:4], strict=True):
            assert one.dtype == other.dtype
            assert np.array_equal(one, other)
        assert_same_info(found[4], wanted[4])
        ends += found[2].sum()
    assert ends > COUNT


def test_returned_arrays_do_not_change_later() -> None:
    envs = BoardVectorEnv(4)
    seen, info = envs.reset(seed=1)
    kept = seen.copy(), info["action_mask"].copy(), info["score"].copy()
    for _ in range(20):
        envs.step(np.array([0, 1, 2, 3]))
    assert all(np.array_equal(*pair) for pair in zip(kept, (seen, info["action_mask"], info["score"]), strict=True))


def test_a_reward_function_is_called_once_for_all_boards() -> None:
    counts = []

    def constant(points: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        assert before.shape == after.shape == (len(points), 2, 2)
        counts.append(len(points))
        return np.full(len(points), 5.0)

    plain = BoardVectorEnv(50, "2048:rows=2,columns=2")
    custom = BoardVectorEnv(50, "2048:rows=2,columns=2", reward=constant, penalty=3)
    _, info = plain.reset(seed=0)
    custom.reset(seed=0)
    choices, over = np.random.default_rng(0), np.zeros(50, bool)
    for _ in range(30):
        actions = choices.integers(4, size=50)
        valid = info["action_mask"][np.arange(50), actions].astype(bool)
        _, _, terminated, _, info = plain.step(actions)
        rewards = custom.step(actions)[1]
        assert np.array_equal(rewards, np.where(over, 0.0, np.where(valid, 5.0, -3.0)))
        assert counts[-1] == (valid & ~over).sum()
        over = terminated


def test_seeds_may_be_one_number_or_one_for_each_board() -> None:
    envs = BoardVectorEnv(3)
    boards = envs.reset(seed=7)[0]
    assert np.array_equal(envs.reset(seed=[7, 8, 9])[0], boards)
    assert np.array_equal(envs.reset(seed=np.int64(7))[0], boards)  # type: ignore[arg-type]
    mixed, single = envs.reset(seed=[7, None, 9])[0], BoardEnv()
    single.reset(seed=8)
    assert np.array_equal(mixed, [boards[0], single.reset()[0], boards[2]])


def test_rendering_shows_every_board() -> None:
    envs = BoardVectorEnv(3, render_mode="ansi")
    envs.reset(seed=1)
    assert envs.render() == tuple(str(envs.board(i)) for i in range(3))
    assert BoardVectorEnv(3).render() is None


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"autoreset_mode": "DISABLED"}, "autoreset_mode=DISABLED: must be NEXT_STEP or SAME_STEP"),
        ({"num_envs": 0}, "num_envs=0: must be a whole number from 1 to 1,000,000"),
        ({"num_envs": 2**63}, "num_envs=9223372036854775808: must be a whole number from 1 to 1,000,000"),
        ({"num_envs": 2.5}, "num_envs=2.5: must be a whole number from 1 to 1,000,000"),
        ({"render_mode": "human"}, "render_mode='human'; allowed: ansi, rgb_array"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=re.escape(complaint)):
        BoardVectorEnv(**{"num_envs": 2, **options})


def test_impossible_seeds_are_refused() -> None:
    envs = BoardVectorEnv(2)
    with pytest.raises(UsageError, match="3 seeds for 2 environments"):
        envs.reset(seed=[1, 2, 3])
    with pytest.raises(UsageError, match="seed=-1: must be from 0"):
        envs.reset(seed=-1)


@pytest.mark.parametrize("actions", [[0], [0, 4], [-1, 0], ["up", "left"], [float("inf"), 0], [10**30, 0]])
def test_impossible_actions_are_refused(actions: list[Any]) -> None:
    envs = BoardVectorEnv(2)
    envs.reset(seed=0)
    with pytest.raises(UsageError, match="actions must be 2 numbers from 0 to 3"):
        envs.step(np.array(actions))
