"""One board as an environment: the game's own moves, observed and rewarded as its options say."""

import copy
import pickle
import re
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_env_for_sb3

import tilewright.envs
from tests.envs import reference
from tilewright import IllegalMoveError, UsageError, make_game
from tilewright._core.text import excerpt
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
        assert info["largest"] == game.largest(episode.board)
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


@pytest.mark.parametrize("action", [4, -1, "left", None, 2.7, np.float64(2)])
def test_an_impossible_action_is_refused(action: Any) -> None:
    env = BoardEnv()
    env.reset(seed=0)
    with pytest.raises(UsageError, match=re.escape(f"action={excerpt(action)}: must be a whole number from 0 to 3")):
        env.step(action)


@pytest.mark.parametrize("action", [2, np.int64(2), np.uint8(2), np.array(2)])
def test_whole_numbers_of_all_types_are_actions(action: Any) -> None:
    env = BoardEnv()
    env.reset(seed=1)
    assert env.step(action)[4]["action_mask"].shape == (4,)


def test_a_deterministic_policy_cannot_play_for_ever() -> None:
    env = gymnasium.make("tilewright/2048-v1")
    env.reset(seed=0)
    for _ in range(2000):  # a game of one move alone has about ten valid ones
        *_, terminated, truncated, info = env.step(3)
        if terminated or truncated:
            break
    assert (terminated, truncated) == (False, True)
    assert info["largest"] >= 2


def test_the_largest_tile_is_known_when_a_time_limit_truncates() -> None:
    env = gymnasium.make("tilewright/2048-v1", max_episode_steps=30)
    env.reset(seed=0)
    choices = np.random.default_rng(0)
    for _ in range(30):
        *_, truncated, info = env.step(choices.integers(4))
    assert truncated
    board = env.unwrapped.board  # type: ignore[attr-defined]
    assert info["largest"] == max(tile for row in board.tiles for tile in row)


@pytest.mark.parametrize("name", tilewright.envs.IDS)
def test_a_terminal_board_has_a_mask_of_ones(name: str) -> None:
    env = gymnasium.make(name)
    _, info = env.reset(seed=0)
    choices, terminated = np.random.default_rng(0), False
    while not terminated:
        assert reference.action_mask(env.unwrapped.board) == list(info["action_mask"])  # type: ignore[attr-defined]
        _, _, terminated, _, info = env.step(choices.choice(np.flatnonzero(info["action_mask"])))
    assert not env.unwrapped.game.legal(env.unwrapped.board)  # type: ignore[attr-defined]
    assert info["action_mask"].tolist() == [1, 1, 1, 1]
    assert env.unwrapped.action_masks().all()  # type: ignore[attr-defined]


def test_a_step_before_the_start_or_after_the_end_is_refused() -> None:
    env = BoardEnv("2048:rows=2,columns=2", max_invalid_moves=2)
    with pytest.raises(UsageError, match="the episode has ended, or not begun: call reset"):
        env.step(np.int64(0))
    env.reset(options={"board": "2 4 / 0 0"})
    assert not env.step(np.int64(0))[3]
    assert env.step(np.int64(0))[3]
    board = env.board
    with pytest.raises(UsageError, match="the episode has ended, or not begun: call reset"):
        env.step(np.int64(2))
    assert env.board == board
    env.reset()
    env.step(np.int64(2))


@pytest.mark.parametrize("seed", [-1, 2.5, "one", True])
def test_an_impossible_seed_is_refused(seed: Any) -> None:
    with pytest.raises(UsageError, match=re.escape(f"seed={excerpt(seed)}: must be a whole number from 0 up")):
        BoardEnv().reset(seed=seed)


def test_numpy_integers_are_seeds() -> None:
    assert np.array_equal(BoardEnv().reset(seed=np.int64(3))[0], BoardEnv().reset(seed=3)[0])  # type: ignore[arg-type]


@pytest.mark.parametrize("copied", [lambda env: pickle.loads(pickle.dumps(env)), copy.deepcopy], ids=["pickle", "copy"])  # noqa: S301
@pytest.mark.parametrize("spec", ["2048", "threes"])
def test_copies_continue_the_same_game_by_themselves(spec: str, copied: Callable[[BoardEnv], BoardEnv]) -> None:
    env = BoardEnv(spec, observation="onehot", penalty=3)
    env.reset(seed=4)
    for first in (0, 1, 2, 3):
        env.step(np.int64(first))
    twin = copied(env)
    choices = np.random.default_rng(1)
    for _ in range(12):
        action = choices.integers(4)
        ours, theirs = env.step(action), twin.step(action)
        assert np.array_equal(ours[0], theirs[0])
        assert ours[1:4] == theirs[1:4]
    board = env.board
    twin.reset()
    assert env.board == board


def test_an_episode_starts_on_a_given_board() -> None:
    env = BoardEnv("threes")
    board = make_game("threes").start(seed=5)
    seen, info = env.reset(seed=1, options={"board": board, "score": 77})
    assert env.board == board
    assert np.array_equal(seen, reference.grid(board))
    assert (info["score"], info["largest"]) == (77, env.game.largest(board))
    assert list(info["action_mask"]) == reference.action_mask(board)
    assert env.reset(options={"board": str(env.game.text(board))})[1]["score"] == env.game.board_score(board)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"bord": "2 0 / 0 0"}, "reset has no option 'bord' (did you mean 'board'?); known: board, score"),
        ({"board": "2 4 / 8 16"}, "the game is over: no move is legal on '2 4 / 8 16'"),
        ({"board": "2 4 / 8 3"}, "3 is not a tile of 2048"),
        ({"board": "2 4 / 8 0", "score": -1}, "score=-1: must be a whole number from 0 up"),
    ],
)
def test_an_impossible_start_is_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=re.escape(complaint)):
        BoardEnv("2048:rows=2,columns=2").reset(options=options)


@pytest.mark.parametrize("spec", ["2048", "threes"])
def test_every_outcome_of_a_move_can_be_chosen(spec: str) -> None:
    game = make_game(spec)
    env = BoardEnv(game)
    env.reset(seed=2)
    action = int(np.flatnonzero(env.action_masks())[0])
    outcomes = env.outcomes(action)
    after, _ = game.slide(env.board, ACTIONS[action])
    assert outcomes == game.outcomes(after)
    before = env.reset(seed=2)[1]["score"]
    for board, _ in outcomes:
        one = copy.deepcopy(env)
        one.set_next_board(board)
        seen, reward, *_ = one.step(np.int64(action))
        assert one.board == board
        assert np.array_equal(seen, reference.grid(board))
        if spec == "threes":  # where the score is that of the tiles
            assert before + float(reward) == game.board_score(board)
    later = {one.step(np.int64(a))[0].tobytes() for a in range(4)}
    assert later  # the choice held for one step only


def test_a_board_that_is_no_outcome_is_refused() -> None:
    env = BoardEnv("2048:rows=2,columns=2")
    env.reset(options={"board": "2 2 / 4 8"})
    env.set_next_board("8 2 / 4 8")
    with pytest.raises(UsageError, match="'8 2 / 4 8' is not an outcome of left on '2 2 / 4 8'"):
        env.step(np.int64(3))
    assert env.board.tiles == ((2, 2), (4, 8))
    with pytest.raises(IllegalMoveError):
        env.outcomes(2)
