"""The text environment: the same games, in words, and every move graded."""

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import tilewright.envs
from tilewright import UsageError, make_agent, make_game
from tilewright.envs.text import TextEnv, read_move
from tilewright.games.episode import Episode

GAME = "2048:rows=2,columns=2"


@pytest.mark.parametrize("name", tilewright.envs.TEXT_IDS)
def test_the_checker_of_gymnasium_passes(name: str) -> None:
    env = gymnasium.make(name, teacher="greedy", game=GAME if "2048" in name else "threes")
    check_env(env.unwrapped)


@pytest.mark.parametrize("spec", ["2048:rows=3,columns=3", "threes"])
def test_a_game_is_that_of_an_episode_and_regret_that_of_the_teacher(spec: str) -> None:
    env, episode, teacher = TextEnv(spec, teacher="greedy"), Episode(spec, 7), make_agent("greedy")
    choices = np.random.default_rng(0)
    observation, info = env.reset(seed=7)
    terminated = False
    while not terminated:
        game, legal = episode.game, episode.legal
        assert observation in env.observation_space
        assert observation.splitlines()[-1] == f"legal moves: {', '.join(legal)}"
        shown = observation.splitlines()[: game.rows]
        assert game.parse([[0 if cell == "." else int(cell) for cell in row.split()] for row in shown]).tiles == (
            episode.board.tiles
        )
        assert info["legal"] == legal
        values = teacher.values(episode.board)
        move = str(choices.choice(legal))
        observation, reward, terminated, truncated, info = env.step(f"My answer: {move.upper()}!")
        episode.move(move)
        assert reward == values[move] - max(values.values())
        assert (info["move"], info["regret"], info["values"]) == (move, -float(reward), values)
        assert values[info["best"]] == max(values.values())
        assert (info["score"], truncated, terminated) == (episode.score, False, episode.is_over)
        assert env.board == episode.board


def test_the_hint_of_threes_is_in_the_text() -> None:
    observation, _ = TextEnv("threes", teacher="greedy").reset(seed=1)
    hint = make_game("threes").start(seed=1).notes["hint"]
    assert f"\nhint: {hint}\n" in observation


def test_rewards_can_be_points() -> None:
    env = TextEnv(GAME, teacher="greedy", reward="score", penalty=5)
    env.reset(options={"board": "2 2 / 4 0"})
    assert env.step("nothing")[1] == -5
    assert env.step("left")[1] == 4


@pytest.mark.parametrize(
    ("answer", "move"),
    [
        ("left", "left"),
        ("LEFT.", "left"),
        ("Not up; **Down**", "down"),
        ("upward leftover", None),
        ("", None),
        ("<move>right</move>", "right"),
        ("1. up\n2. right\nFinal answer: up", "up"),
    ],
)
def test_the_last_move_of_an_answer_counts(answer: str, move: str | None) -> None:
    assert read_move(answer) == move


@pytest.mark.parametrize("answer", ["I resign", "up"])  # up changes nothing
def test_an_invalid_answer_changes_nothing_and_costs_more_than_the_worst_move(answer: str) -> None:
    env = TextEnv(GAME, teacher="greedy", penalty=10, max_invalid_moves=2)
    first, _ = env.reset(options={"board": "4 4 / 0 0"})
    observation, reward, terminated, truncated, info = env.step(answer)
    assert (observation, terminated, truncated) == (first, False, False)
    assert reward == -(8 - 0) - 10
    assert (info["move"], info["values"]) == (None, {"right": 8.0, "down": 0.0, "left": 8.0})
    assert env.step(answer)[3]
    with pytest.raises(UsageError, match="the episode has ended, or not begun: call reset"):
        env.step("down")


def test_copies_continue_the_same_game() -> None:
    env = TextEnv(GAME, teacher="greedy")
    env.reset(seed=3)
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]  # noqa: S301
    move = env.game.legal(env.board)[0]
    expected = env.step(move)
    assert all(twin.step(move) == expected for twin in twins)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"reward": "regrets"}, r"reward='regrets' \(did you mean 'regret'\?\); allowed: regret, score"),
        ({"penalty": -1}, "penalty=-1: must be from 0"),
        ({"max_invalid_moves": 2.5}, "max_invalid_moves=2.5: must be a whole number"),
        ({"teacher": "gredy"}, "there is no agent 'gredy'"),
        ({"render_mode": "human"}, "render_mode='human'; allowed: ansi"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        TextEnv(GAME, **options)


def test_impossible_calls_are_refused() -> None:
    env = TextEnv(GAME, teacher="greedy", render_mode="ansi")
    with pytest.raises(UsageError, match="call reset"):
        env.step("up")
    with pytest.raises(UsageError, match="the game is over"):
        env.reset(options={"board": "2 4 / 8 16"})
    with pytest.raises(UsageError, match="seed=-1"):
        env.reset(seed=-1)
    observation, _ = env.reset(seed=0)
    assert env.render() == observation
    with pytest.raises(UsageError, match="action=3: must be a text that contains a move"):
        env.step(3)  # type: ignore[arg-type]
