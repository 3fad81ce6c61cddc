"""One board as an environment: the game's own moves, seen and rewarded as its options say."""

import re
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_env_for_sb3

import tilewright.envs
from tests.envs import twins
from tilewright import Board, UsageError, make_game
from tilewright.envs.single import BoardEnv
from tilewright.games.episode import Episode
from tilewright.games.rules import ACTIONS, State

VIEWS: dict[str, Callable[[Board], twins.Array]] = {
    "grid": twins.grid,
    "onehot": twins.one_hot,
    "lookahead1": lambda board: twins.ahead(board, 1),
    "lookahead2": lambda board: twins.ahead(board, 2),
}
GAMES = ["2048", "threes", "2048:rows=2,columns=3", "threes:columns=3"]


@pytest.mark.parametrize("observation", VIEWS)
@pytest.mark.parametrize("name", tilewright.envs.IDS)
def test_the_checkers_of_gymnasium_and_stable_baselines_pass(
    name: str, observation: str, capsys: pytest.CaptureFixture[str]
) -> None:
    env = gymnasium.make(name, observation=observation)
    check_env(env.unwrapped)
    check_env_for_sb3(env, warn=False)  # it would rather have flat observations


@pytest.mark.parametrize("observation", VIEWS)
@pytest.mark.parametrize("spec", GAMES)
def test_a_game_is_that_of_an_episode_with_the_same_seed(spec: str, observation: str) -> None:
    game = make_game(spec)
    env, episode = BoardEnv(game, observation=observation), Episode(game, 11)
    choices = np.random.default_rng(1)
    seen, info = env.reset(seed=11)
    terminated = False
    while not terminated:
        assert np.array_equal(seen, VIEWS[observation](episode.board))
        assert seen in env.observation_space
        assert (list(info["action_mask"]), info["score"]) == (twins.mask(episode.board), episode.score)
        action, score = int(choices.choice(np.flatnonzero(info["action_mask"]))), episode.score
        episode.move(ACTIONS[action])
        seen, reward, terminated, truncated, info = env.step(np.int64(action))
        assert (reward, truncated) == (episode.score - score, False)
        assert env.board == episode.board
    assert episode.is_over
    assert info["largest"] == game.largest(episode.board)


def test_an_invalid_move_changes_nothing_and_costs_the_penalty() -> None:
    env = env_on("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 0", penalty=32)
    before = env.board
    for action, valid in enumerate([False, True, True, False]):
        if not valid:
            _, reward, terminated, _, info = env.step(np.int64(action))
            assert (reward, terminated, info["score"]) == (-32, False, 0)
            assert list(info["action_mask"]) == [0, 1, 1, 0]
            assert env.board == before


def test_invalid_moves_end_the_episode_with_their_probability() -> None:
    ended = 0
    env = env_on("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 0", end_probability=0.05)
    for _ in range(4000):
        ended += env.step(np.int64(0))[2]
        env._boards.status.over[0] = False
    assert abs(ended / 4000 - 0.05) < 4 * (0.05 * 0.95 / 4000) ** 0.5


def test_too_large_a_share_of_invalid_moves_ends_the_episode() -> None:
    env = env_on("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 0", end_fraction=0.1)
    env._boards.status.moves[0] = 19
    assert [env.step(np.int64(0))[2] for _ in range(3)] == [False, False, True]  # 1 of 20, 2 of 21, 3 of 22


def test_one_miss_in_the_first_moves_is_no_share_yet() -> None:
    env = env_on("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 0", end_fraction=0.1)
    assert [env.step(np.int64(0))[2] for _ in range(10)] == [False] * 9 + [True]


def test_rewards_can_be_logarithms() -> None:
    for action, reward in ((2, 0.0), (1, np.log2(4 + 8))):
        env = env_on("2 2 4 4 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", reward="log2")
        assert env.step(np.int64(action))[1] == pytest.approx(reward)


def test_a_custom_reward_is_asked_about_valid_moves_alone() -> None:
    def freed(points: np.ndarray, before: np.ndarray, after: np.ndarray) -> Any:
        return points + 100 * ((after == 0).sum(axis=(1, 2)) - (before == 0).sum(axis=(1, 2)))

    env = env_on("2 2 4 4 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", reward=freed, penalty=7)
    assert env.step(np.int64(0))[1] == -7
    assert env.step(np.int64(1))[1] == 12 + 100  # two cells freed, one taken by the new tile


def test_a_tile_beyond_32768_is_seen() -> None:
    text = "32768 32768 2 0 / 65536 0 0 0 / 0 0 0 0 / 0 0 0 0"
    assert env_on(text).step(np.int64(3))[0][:2, 0].tolist() == [16, 16]
    env = env_on(text, observation="onehot")
    seen = env.step(np.int64(3))[0]
    assert (seen.sum(axis=0) == 1).all()
    assert seen[15, :2, 0].tolist() == [1, 1]  # the downgraded board, as networks see it elsewhere


def test_rendering(capsys: pytest.CaptureFixture[str]) -> None:
    env = BoardEnv("threes", render_mode="ansi")
    env.reset(seed=1)
    assert str(env.board) in env.render()
    env = BoardEnv("2048", render_mode="rgb_array")
    env.reset(seed=1)
    picture = env.render()
    assert (picture.shape, picture.dtype) == ((434, 434, 3), np.uint8)
    colours = {tuple(colour) for colour in picture.reshape(-1, 3)}
    assert (0xEE, 0xE4, 0xDA) in colours  # the 2
    assert (0xF2, 0xB1, 0x79) not in colours  # no 8 yet
    capsys.readouterr()
    env = BoardEnv("2048", render_mode="human")
    env.reset(seed=1)
    assert capsys.readouterr().out == f"score 0\n{env.board}\n"


def test_without_a_seed_games_differ_and_with_one_they_do_not() -> None:
    first, second = (BoardEnv().reset()[0] for _ in range(2))
    third = BoardEnv()
    boards = [third.reset(seed=4)[0], third.reset()[0], third.reset(seed=4)[0]]
    assert np.array_equal(boards[0], boards[2])
    assert not np.array_equal(boards[0], boards[1]) or not np.array_equal(first, second)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"observation": "onehott"}, "observation='onehott': no such observation (did you mean 'onehot'?)"),
        ({"reward": "points"}, "reward='points': no such reward"),
        ({"penalty": -1}, "penalty=-1: must be a number from 0 up"),
        ({"end_probability": 1.5}, "end_probability=1.5: must be from 0 to 1"),
        ({"render_mode": "3d"}, "render_mode='3d': allowed are human, ansi, rgb_array, or none"),
        ({"game": "2049"}, "there is no game '2049'"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=re.escape(complaint)):
        BoardEnv(**options)


def test_a_bad_action_is_refused() -> None:
    env = BoardEnv()
    env.reset(seed=0)
    with pytest.raises(UsageError, match="action 4: must be from 0 to 3"):
        env.step(np.int64(4))


def env_on(text: str, **options: Any) -> BoardEnv:
    """An environment with this board of 2048."""
    env = BoardEnv("2048", **options)
    env.reset(seed=0)
    state = State(*make_game("2048").parse(text).state)
    env._boards.status.cells[0], env._boards.status.extra[0] = state.cells, state.extra
    return env
