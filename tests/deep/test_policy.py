"""The greedy policy of a network: action values as defined, and games with the score of their moves."""

import numpy as np
import pytest

from tests.deep.small import make_small_network
from tests.envs import reference
from tilewright import Board, make_game
from tilewright._core.jit import Int, kernel
from tilewright.deep.policy import NetworkPolicy, play_batch, play_batch_with_replacements
from tilewright.games.episode import Episode
from tilewright.games.policy import make_results
from tilewright.games.rules import ACTIONS
from tilewright.rng import Stream, below, next_word, stream_for

GAMES = ["2048", "threes:rows=3,columns=3,start_tiles=3"]


@kernel
def draw_below_four(stream: Stream) -> Int:
    return np.int64(below(next_word(stream), np.uint64(4)))


def q_values(policy: NetworkPolicy, boards: list[Board]) -> np.ndarray:
    cells, extra = (np.array([board.state[k] for board in boards], np.uint64) for k in (0, 1))
    return policy.q_values(boards[0].game, cells, extra)


@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize("algorithm", ["dqn", "afterstate"])
def test_action_values_are_in_points_and_illegal_moves_have_none(algorithm: str, spec: str) -> None:
    game, network = make_game(spec), make_small_network(game=spec, algorithm=algorithm)
    boards = [game.start(seed) for seed in range(20)]
    found = q_values(NetworkPolicy(network, 100.0), boards)
    assert found.dtype == np.float32
    for board, values in zip(boards, found, strict=True):
        assert [ACTIONS[i] for i in range(4) if np.isfinite(values[i])] == game.legal(board)
        for action in game.legal(board):
            if algorithm == "dqn":
                expected = 100 * network.predict(reference.grid(board)[None])[0, ACTIONS.index(action)]
            else:
                after, reward = game.slide(board, action)
                expected = reward + 100 * network.predict(reference.grid(after)[None])[0, 0]
            assert values[ACTIONS.index(action)] == pytest.approx(expected, rel=1e-4, abs=1e-3)


def test_a_board_without_legal_moves_has_no_action_values() -> None:
    board = make_game("2048").parse("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2")
    for algorithm in ("dqn", "afterstate"):
        policy = NetworkPolicy(make_small_network(algorithm=algorithm), 1.0)
        assert np.isneginf(q_values(policy, [board])).all()


@pytest.mark.parametrize("spec", GAMES)
def test_games_are_those_of_episodes(spec: str) -> None:
    game, results = make_game(spec), make_results(12)
    policy = NetworkPolicy(make_small_network(game=spec, algorithm="afterstate"), 100.0)
    play_batch(policy, game, 5, 30, results)
    for i in range(12):
        episode = Episode(game, 5, 30 + i)
        while not episode.is_over:
            episode.move(ACTIONS[int(q_values(policy, [episode.board])[0].argmax())])
        ours = (results.scores[i], results.moves[i], game.value(int(results.codes[i])))
        assert ours == (episode.score, len(episode.history), game.largest(episode.board))


def test_an_invalid_choice_is_replaced_by_a_random_move_as_in_the_program_of_the_paper() -> None:
    game, results = make_game("2048:rows=3,columns=3"), make_results(8)
    policy = NetworkPolicy(make_small_network(game="2048:rows=3,columns=3"), 1.0)
    play_batch_with_replacements(policy, game, 5, 30, results)
    replaced = 0
    for i in range(8):
        stream = stream_for(5, 30 + i)
        (board, score), tried, invalid, moves = game.start_from(stream), 0, 0, 0
        while game.legal(board):
            action = ACTIONS[int(policy.network.predict(reference.grid(board)[None])[0].argmax())]
            tried += 1
            if action not in game.legal(board):
                tried, invalid, replaced = tried + 1, invalid + 1, replaced + 1
                action = ACTIONS[draw_below_four(stream)]
                if action not in game.legal(board):
                    invalid += 1
                    if invalid > 16 and invalid > 0.1 * tried:
                        break
                    continue
            after, reward = game.slide(board, action)
            board, score, moves = game.spawn(after, stream)[0], score + reward, moves + 1
        ours = (results.scores[i], results.moves[i], game.value(int(results.codes[i])))
        assert ours == (score, moves, game.largest(board))
    assert replaced > 20
