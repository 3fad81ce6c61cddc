"""Games side by side: each is the game of an episode with the same seed, and ends as its options say."""

from typing import Any

import numpy as np
import pytest

from tilewright import UsageError, make_game
from tilewright.envs.batch import BatchedGames
from tilewright.envs.options import EnvOptions
from tilewright.games.episode import Episode
from tilewright.games.rules import ACTIONS

STUCK_LEFT = "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 0"  # only right and down change something
UP, RIGHT = np.array([0]), np.array([1])


def games_on(text: str, **options: Any) -> BatchedGames:
    """One game of 2048 whose board is given."""
    games = BatchedGames(EnvOptions("2048", **options), 1)
    games.seed(0, 0)
    games.reset()
    games.state.cells[0], games.state.extra[0] = make_game("2048").parse(text).state
    return games


@pytest.mark.parametrize("autoreset", [False, True])
@pytest.mark.parametrize("spec", ["2048:rows=2,columns=2", "threes:rows=3,columns=2,start_tiles=3"])
def test_games_are_those_of_episodes_one_after_the_other(spec: str, autoreset: bool) -> None:
    game, choices = make_game(spec), np.random.default_rng(1)
    games = BatchedGames(EnvOptions(spec), 3, autoreset=autoreset)
    for i in range(3):
        games.seed(i, 20 + i)
    games.reset()
    episodes = [Episode(game, 20 + i) for i in range(3)]
    ends = 0
    for _ in range(200):
        legal = [game.legal(episode.board) or ["up"] for episode in episodes]
        actions = [str(choices.choice(moves)) for moves in legal]
        result, any_ended = games.step(np.array([ACTIONS.index(action) for action in actions]))
        assert any_ended == result.terminated.any()
        for i, episode in enumerate(episodes):
            if episode.is_over:  # without autoreset, this step has started the next episode
                episodes[i] = episode = _next_episode(episode)
                assert result.rewards[i] == 0
            else:
                score = episode.score
                episode.move(actions[i])
                assert result.rewards[i] == episode.score - score
                assert result.terminated[i] == episode.is_over
                assert result.next_states[:, i].tolist() == list(episode.board.state)
            if episode.is_over:
                ends += 1
                assert game.value(int(result.largest_codes[i])) == game.largest(episode.board)
                if autoreset:
                    assert result.final_scores[i] == episode.score
                    episodes[i] = episode = _next_episode(episode)
            assert result.scores[i] == episode.score
            assert games.states()[:, i].tolist() == list(episode.board.state)
    assert ends > 6


def _next_episode(episode: Episode) -> Episode:
    """An episode that continues the random stream of another one."""
    following = Episode(episode.game, 0)
    following.stream[:] = episode.stream
    board, score = episode.game.start_from(following.stream)
    following.board, following.score = board, score
    return following


def test_an_invalid_move_changes_nothing_and_costs_the_penalty() -> None:
    games = games_on(STUCK_LEFT, penalty=32)
    before = games.states()
    result, any_ended = games.step(UP)
    assert (result.rewards.item(), any_ended, result.scores.item()) == (-32, False, 0)
    assert result.action_masks[0].tolist() == [0, 1, 1, 0]
    assert np.array_equal(games.states(), before)
    assert (games.state.moves.item(), games.state.invalid_moves.item()) == (1, 1)


def test_invalid_moves_end_the_episode_with_their_probability() -> None:
    games, ended = games_on(STUCK_LEFT, end_probability=0.05, max_invalid_moves=0), 0
    for _ in range(4000):
        ended += games.step(UP)[1]
        games.state.done[0] = False
    assert abs(ended / 4000 - 0.05) < 4 * (0.05 * 0.95 / 4000) ** 0.5


def test_too_large_a_fraction_of_invalid_moves_ends_the_episode() -> None:
    games = games_on(STUCK_LEFT, end_fraction=0.1)
    games.state.moves[0] = 19
    assert [games.step(UP)[1] for _ in range(3)] == [False, False, True]  # 1 of 20, 2 of 21, 3 of 22


def test_a_single_invalid_move_does_not_end_a_young_episode() -> None:
    games = games_on(STUCK_LEFT, end_fraction=0.1)
    assert [games.step(UP)[1] for _ in range(10)] == [False] * 9 + [True]


def test_the_program_of_bouhoula_ends_an_episode_after_more_than_16_invalid_moves_and_a_tenth() -> None:
    games = games_on(STUCK_LEFT, end_fraction=0.1, end_after=16)
    assert [games.step(UP)[1] for _ in range(17)] == [False] * 16 + [True]
    games = games_on(STUCK_LEFT, end_fraction=0.1, end_after=16)
    games.state.moves[0], games.state.invalid_moves[0], games.state.last_valid[0] = 181, 16, 181
    assert [games.step(UP)[1] for _ in range(3)] == [False, False, True]  # 17 of 182, 18 of 183, 19 of 184


def test_an_episode_is_truncated_after_too_many_invalid_moves_in_a_row() -> None:
    games = games_on("2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", max_invalid_moves=3)
    left, ends = np.array([3]), []
    for actions in (left, left, RIGHT, UP, UP, UP):
        result, any_ended = games.step(actions)
        games.state.cells[0] = 0x1000 << 48 if actions is left else 0x0001 << 48  # no new tile
        ends.append((any_ended, result.terminated.item(), result.truncated.item()))
    assert ends == [(False, False, False)] * 5 + [(True, False, True)]


def test_rewards_can_be_logarithms() -> None:
    for action, reward in ((2, 0.0), (1, np.log2(4 + 8))):
        games = games_on("2 2 4 4 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", reward="log2")
        assert games.step(np.array([action]))[0].rewards.item() == pytest.approx(reward)


def test_a_reward_function_gets_valid_moves_only() -> None:
    def freed(points: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        rewards: np.ndarray = points + 100 * ((after == 0).sum(axis=(1, 2)) - (before == 0).sum(axis=(1, 2)))
        return rewards

    games = games_on("2 2 4 4 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", reward=freed, penalty=7)
    assert games.step(UP)[0].rewards.item() == -7
    assert games.step(RIGHT)[0].rewards.item() == 12 + 100  # two cells freed, one taken by the new tile


@pytest.mark.parametrize("wrong", ["high", [1.0, 2.0]])
def test_a_reward_function_that_returns_something_else_is_refused(wrong: object) -> None:
    games = games_on("2 2 4 4 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", reward=lambda points, before, after: wrong)
    with pytest.raises(UsageError, match="the reward function must return 1 numbers, one for each move"):
        games.step(RIGHT)


def test_at_least_one_game_is_needed() -> None:
    with pytest.raises(UsageError, match="num_envs=0: must be"):
        BatchedGames(EnvOptions(), 0)
