"""One board as an environment: the game's own moves, observed and rewarded as its options say."""

import re
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_env_for_sb3

import tilewright.envs
from tests.envs import reference
from tilewright import UsageError, make_game
from tilewright.envs.single import BoardEnv
from tilewright.games.episode import Episode
from tilewright.games.rules import ACTIONS

GAMES = ["2048", "threes", "2048:rows=2,columns=3", "threes:columns=3"]


@pytest.mark.parametrize("observation", reference.OBSERVATIONS)
@pytest.mark.parametrize("name", tilewright.envs.IDS)
def test_the_checkers_of_gymnasium_and_stable_baselines_pass(
    name: str, observation: str, capsys: pytest.CaptureFixture[str]
) -> None:
    env = gymnasium.make(name, observation=observation)
    check_env(env.unwrapped)
    check_env_for_sb3(env, warn=False)  # it warns of observations that are not flat


@pytest.mark.parametrize("observation", reference.OBSERVATIONS)
@pytest.mark.parametrize("spec", GAMES)
def test_a_game_is_that_of_an_episode_with_the_same_seed(spec: str, observation: str) -> None:
    game = make_game(spec)
    env, episode = BoardEnv(game, observation=observation), Episode(game, 11)
    choices = np.random.default_rng(1)
    seen, info = env.reset(seed=11)
    terminated = False
    while not terminated:
        assert np.array_equal(seen, reference.OBSERVATIONS[observation](episode.board))
        assert seen in env.observation_space
        mask = reference.action_mask(episode.board)
        assert (list(info["action_mask"]), info["score"]) == (mask, episode.score)
        assert env.action_masks().tolist() == [bool(legal) for legal in mask]
        action, score = int(choices.choice(np.flatnonzero(info["action_mask"]))), episode.score
        episode.move(ACTIONS[action])
        seen, reward, terminated, truncated, info = env.step(np.int64(action))
        assert (reward, truncated) == (episode.score - score, False)
        assert env.board == episode.board
    assert episode.is_over
    assert info["largest"] == game.largest(episode.board)


def test_rendering_shows_the_board(capsys: pytest.CaptureFixture[str]) -> None:
    env = BoardEnv("threes", render_mode="ansi")
    env.reset(seed=1)
    assert env.render() == f"score {env.reset(seed=1)[1]['score']}\n{env.board}"
    env = BoardEnv("2048", render_mode="rgb_array")
    env.reset(seed=1)
    picture = env.render()
    assert isinstance(picture, np.ndarray)
    assert picture.shape == (434, 434, 3)
    assert picture.dtype == np.uint8
    colours = {tuple(colour) for colour in picture.reshape(-1, 3)}
    assert (0xEE, 0xE4, 0xDA) in colours  # the 2
    assert (0xF2, 0xB1, 0x79) not in colours  # no 8 yet
    capsys.readouterr()
    env = BoardEnv("2048", render_mode="human")
    env.reset(seed=1)
    assert capsys.readouterr().out == f"score 0\n{env.board}\n"


def test_without_a_seed_games_differ_and_with_one_they_do_not() -> None:
    def first_boards(env: BoardEnv, seed: int | None) -> list[list[int]]:
        boards = [env.reset(seed=seed)[0]] + [env.reset()[0] for _ in range(9)]
        return [board.reshape(-1).tolist() for board in boards]

    assert first_boards(BoardEnv(), 4) == first_boards(BoardEnv(), 4)
    assert first_boards(BoardEnv(), None) != first_boards(BoardEnv(), None)
    assert len({tuple(board) for board in first_boards(BoardEnv(), 4)}) > 1


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"observation": "onehott"}, "observation='onehott' (did you mean 'onehot'?); allowed: grid, onehot"),
        ({"reward": "points"}, "reward='points': must be score, log2 or a function"),
        ({"end_probability": 1.5}, "end_probability=1.5: must be from 0 to 1"),
        ({"render_mode": "3d"}, "render_mode='3d'; allowed: human, ansi, rgb_array"),
        ({"game": "2049"}, "there is no game '2049'"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=re.escape(complaint)):
        BoardEnv(**options)


@pytest.mark.parametrize("action", [4, -1, "left", None])
def test_an_impossible_action_is_refused(action: Any) -> None:
    env = BoardEnv()
    env.reset(seed=0)
    with pytest.raises(UsageError, match=re.escape(f"action={action}: must be a number from 0 to 3")):
        env.step(action)
