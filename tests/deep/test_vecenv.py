"""The vector environment of Stable-Baselines3: the same games as those of Gymnasium's, with scaled rewards."""

import numpy as np
import pytest

from tilewright.deep.vecenv import BoardVecEnv
from tilewright.envs.options import EnvOptions
from tilewright.envs.vector import BoardVectorEnv
from tilewright.games.board import Board
from tilewright.games.rules import ACTIONS, State

COUNT, GAME = 5, "2048:rows=2,columns=2"


def test_it_plays_the_games_of_the_vector_environment() -> None:
    env = BoardVecEnv(EnvOptions(GAME, penalty=3), COUNT, reward_scale=10.0, seed=2)
    twin = BoardVectorEnv(COUNT, GAME, penalty=3, autoreset_mode="SAME_STEP")
    observations, info = twin.reset(seed=[2 * 1_000_003 + i for i in range(COUNT)])
    assert np.array_equal(env.reset(), observations)
    choices, finished = np.random.default_rng(0), []
    for _ in range(200):
        assert np.array_equal(env.action_masks, info["action_mask"])
        assert np.array_equal(env.current_grids(), observations)
        actions = choices.integers(4, size=COUNT)
        env.step_async(actions)
        found, rewards, dones, infos = env.step_wait()
        observations, expected, terminated, _, info = twin.step(actions)
        assert np.array_equal(found, observations)
        assert rewards == pytest.approx(expected / 10)
        assert rewards.dtype == np.float32
        assert np.array_equal(dones, terminated)
        for i in range(COUNT):
            assert ("terminal_observation" in infos[i]) == terminated[i]
            if terminated[i]:
                assert np.array_equal(infos[i]["terminal_observation"], info["final_obs"][i])
                final = info["final_info"]
                finished.append((int(final["score"][i]), int(final["largest"][i])))
    assert [(game.score, env.games.game.value(game.largest_code)) for game in env.finished] == finished
    assert len(finished) > COUNT


def test_different_seeds_play_different_games() -> None:
    first, second = (BoardVecEnv(EnvOptions(), 20, seed=seed).reset() for seed in (0, 1))
    assert not np.array_equal(first, second)


def test_seeds_are_those_of_the_vector_environment() -> None:
    env = BoardVecEnv(EnvOptions(), 4)
    env.reset()
    env.seed(7)
    assert np.array_equal(env.reset(), BoardVectorEnv(4).reset(seed=7)[0])
    assert not np.array_equal(env.reset(), BoardVectorEnv(4).reset(seed=7)[0])


def test_masks_are_found_by_their_usual_name() -> None:
    env = BoardVecEnv(EnvOptions(), 4, seed=3)
    env.reset()
    for _ in range(30):
        env.step(np.array([0, 1, 2, 3]))
    game = env.games.game
    boards = [Board(game, State(int(cells), int(extra))) for cells, extra in env.games.states().T]
    legal = [[action in game.legal(board) for action in ACTIONS] for board in boards]
    assert np.array_equal(np.stack(env.env_method("action_masks")), legal)
    assert np.array_equal(np.stack(env.get_attr("action_masks", [2])), legal[2:3])


def test_truncated_episodes_are_marked() -> None:
    env = BoardVecEnv(EnvOptions(max_episode_steps=3), 4)
    env.reset()
    ends = [env.step(np.arange(4)) for _ in range(3)]
    assert [dones.tolist() for _, _, dones, _ in ends] == [[False] * 4] * 2 + [[True] * 4]
    assert all(info["TimeLimit.truncated"] and "terminal_observation" in info for info in ends[2][3])


def test_attributes_of_the_games_can_be_read_but_not_set() -> None:
    env = BoardVecEnv(EnvOptions(GAME), 3)
    assert env.get_attr("num_games") == [3, 3, 3]
    assert env.get_attr("render_mode", [0]) == [None]
    assert not env.has_attr("wings")
    assert env.env_is_wrapped(object, [0, 1]) == [False, False]
    with pytest.raises(AttributeError, match="cannot be set"):
        env.set_attr("num_games", 4)
    with pytest.raises(AttributeError, match="has no method jump"):
        env.env_method("jump")
