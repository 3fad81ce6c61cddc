"""Many boards at once: the same as as many single environments, step by step."""

import functools
import pickle
import re
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit

from tilewright import UsageError
from tilewright.envs.single import BoardEnv
from tilewright.envs.vector import BoardVectorEnv

COUNT, STEPS = 7, 400
OPTIONS: dict[str, Any] = {"penalty": 8, "end_probability": 0.02, "end_fraction": 0.6}


def assert_same_info(ours: Any, theirs: Any) -> None:
    """Equal, also within dictionaries; where Gymnasium masks a value, its content does not matter.

    A single environment gives its largest tile in every step, a vector environment only where an episode ends.
    """
    assert set(theirs) - set(ours) <= {"largest", "_largest"}
    for key in ours:
        if isinstance(ours[key], dict):
            assert_same_info(ours[key], theirs[key])
        elif key == "_largest":
            assert (ours[key] <= theirs[key]).all()
        elif key.startswith("_"):
            assert np.array_equal(ours[key], theirs[key]), key
        else:
            valid = ours[f"_{key}"]
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
        ({"autoreset_mode": "NEVER"}, "autoreset_mode=NEVER: must be NEXT_STEP, SAME_STEP or DISABLED"),
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
    for seed in (-1, 2.5, [3, -1]):
        with pytest.raises(UsageError, match=r"seed=(-1|2\.5): must be a whole number from 0 up"):
            envs.reset(seed=seed)  # type: ignore[arg-type]


IMPOSSIBLE = [[0], [0, 4], [-1, 0], ["up", "left"], [10**30, 0], [0, 2.7], [0.0, 1.0], [None, 1], [[0], [1]], [0, [1]]]


@pytest.mark.parametrize("actions", IMPOSSIBLE)
def test_impossible_actions_are_refused(actions: list[Any]) -> None:
    envs = BoardVectorEnv(2)
    envs.reset(seed=0)
    with pytest.raises(UsageError, match="actions must be 2 whole numbers from 0 to 3"):
        envs.step(actions)  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_the_mode_is_an_attribute_and_in_the_metadata(mode: AutoresetMode) -> None:
    for given in (mode, mode.name, mode.value):
        envs = BoardVectorEnv(2, autoreset_mode=given)
        assert envs.autoreset_mode == envs.metadata["autoreset_mode"] == mode


@pytest.mark.parametrize("game", ["2048:rows=2,columns=2", "threes:rows=3,columns=2,start_tiles=3"])
def test_boards_are_reset_by_a_mask_as_gymnasium_does(game: str) -> None:
    disabled = AutoresetMode.DISABLED
    ours = BoardVectorEnv(COUNT, game, autoreset_mode="DISABLED", **OPTIONS)
    theirs = SyncVectorEnv([lambda: BoardEnv(game, **OPTIONS)] * COUNT, autoreset_mode=disabled)
    assert np.array_equal(ours.reset(seed=5)[0], theirs.reset(seed=5)[0])
    choices, ends = np.random.default_rng(2), 0
    for step in range(STEPS):
        actions = choices.integers(4, size=COUNT)
        found: tuple[Any, ...] = ours.step(actions)
        wanted: tuple[Any, ...] = theirs.step(actions)
        assert all(np.array_equal(one, other) for one, other in zip(found[:4], wanted[:4], strict=True))
        assert_same_info(found[4], wanted[4])
        ended = found[2] | found[3]
        if ended.any():
            with pytest.raises(UsageError, match="has ended, or not begun: call reset"):
                ours.step(actions)
            seeds = [100 * step + i if i % 2 else None for i in range(COUNT)]
            resets = [envs.reset(seed=seeds, options={"reset_mask": ended}) for envs in (ours, theirs)]
            assert np.array_equal(resets[0][0], resets[1][0])
            assert_same_info(resets[0][1], resets[1][1])
            ends += 1
    assert ends > 20


@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP"])
def test_other_boards_play_on_when_one_is_reset(mode: str) -> None:
    envs, twins = (BoardVectorEnv(3, autoreset_mode=mode) for _ in range(2))
    for one in (envs, twins):
        one.reset(seed=1)
        one.step(np.array([1, 2, 3]))
    seen, info = envs.reset(seed=8, options={"reset_mask": np.array([False, True, False])})
    assert info["_action_mask"].tolist() == info["_score"].tolist() == [False, True, False]
    single = BoardEnv()
    assert np.array_equal(seen[1], single.reset(seed=9)[0])
    assert (envs.board(0), envs.board(2)) == (twins.board(0), twins.board(2))
    for _ in range(10):
        found, expected = envs.step(np.array([0, 1, 2])), twins.step(np.array([0, 1, 2]))
        assert np.array_equal(found[0][[0, 2]], expected[0][[0, 2]])
        assert np.array_equal(found[0][1], single.step(np.int64(1))[0])


@pytest.mark.parametrize(
    ("mask", "complaint"),
    [
        ([True, False], "reset_mask must be a NumPy array of bool and of shape (2,)"),
        (np.array([1, 0]), "reset_mask must be a NumPy array of bool and of shape (2,)"),
        (np.array([True]), "reset_mask must be a NumPy array of bool and of shape (2,)"),
        (np.array([False, False]), "reset_mask must be True for at least one board"),
    ],
)
def test_an_impossible_reset_mask_is_refused(mask: Any, complaint: str) -> None:
    envs = BoardVectorEnv(2)
    with pytest.raises(UsageError, match="the first reset must reset all boards"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    envs.reset(seed=0)
    with pytest.raises(UsageError, match=re.escape(complaint)):
        envs.reset(options={"reset_mask": mask})
    with pytest.raises(UsageError, match="reset has no option 'mask'"):
        envs.reset(options={"mask": mask})


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_a_limit_of_steps_is_that_of_gymnasium(mode: AutoresetMode) -> None:
    game = "2048:rows=2,columns=2"
    ours = gymnasium.make_vec("tilewright/2048-v1", 3, game=game, max_episode_steps=7, autoreset_mode=mode)
    assert isinstance(ours, BoardVectorEnv)
    theirs = SyncVectorEnv([lambda: TimeLimit(BoardEnv(game), 7)] * 3, autoreset_mode=mode)
    ours.reset(seed=3)
    theirs.reset(seed=3)
    choices, truncated = np.random.default_rng(0), 0
    for _ in range(100):
        actions = choices.integers(4, size=3)
        found: tuple[Any, ...] = ours.step(actions)
        wanted: tuple[Any, ...] = theirs.step(actions)
        assert all(np.array_equal(one, other) for one, other in zip(found[:4], wanted[:4], strict=True))
        assert_same_info(found[4], wanted[4])
        truncated += found[3].sum()
    assert truncated > 3


@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP", "DISABLED"])
def test_masks_never_forbid_every_action(mode: str) -> None:
    envs = BoardVectorEnv(20, "2048:rows=2,columns=2", autoreset_mode=mode)
    _, info = envs.reset(seed=0)
    choices, ended = np.random.default_rng(0), 0
    for _ in range(100):
        assert info["action_mask"].any(axis=1).all()
        actions = np.array([choices.choice(np.flatnonzero(mask)) for mask in info["action_mask"]])
        _, _, terminated, _, info = envs.step(actions)
        ended += terminated.sum()
        if terminated.any():
            last = info["final_info"] if mode == "SAME_STEP" else info
            assert last["action_mask"][terminated].all()
            if mode == "DISABLED":
                assert envs.reset(options={"reset_mask": terminated})[1]["action_mask"].any(axis=1).all()
                _, info = envs.reset()
    assert ended > 20


def test_a_copy_by_pickle_continues_the_same_games() -> None:
    envs = BoardVectorEnv(5, "2048:rows=3,columns=2", observation="onehot", autoreset_mode="SAME_STEP")
    envs.reset(seed=1)
    envs.step(np.array([0, 1, 2, 3, 0]))
    twins: BoardVectorEnv = pickle.loads(pickle.dumps(envs))  # noqa: S301
    assert len(pickle.dumps(envs)) < 20_000  # the tables of the rules are not in it
    choices = np.random.default_rng(3)
    for _ in range(50):
        actions = choices.integers(4, size=5)
        pairs = zip(envs.step(actions)[:4], twins.step(actions)[:4], strict=True)
        assert all(np.array_equal(np.asarray(one), np.asarray(other)) for one, other in pairs)


def test_gymnasium_steps_environments_in_other_processes() -> None:
    envs = AsyncVectorEnv([functools.partial(BoardEnv, "2048:rows=2,columns=2")] * 2, context="spawn")
    try:
        seen, _ = envs.reset(seed=3)
        assert np.array_equal(seen, BoardVectorEnv(2, "2048:rows=2,columns=2").reset(seed=3)[0])
        assert envs.step(np.array([0, 1]))[0].shape == (2, 2, 2)
    finally:
        envs.close()
