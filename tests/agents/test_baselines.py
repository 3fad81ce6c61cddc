"""`random` and `greedy` against naive Python, and their chances against uniform ones.

Statistical tests are seeded; each would raise a false alarm for one seed in 10,000.
"""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from tests.agents.naive import LINE_MOVES, rewards
from tilewright import Agent, Board, Episode, UsageError, make_agent, make_game
from tilewright.games.board import BoardLike
from tilewright.rng import Stream, stream_for

FALSE_ALARM = 1e-4
DRAWS = 6_000
GAME = make_game("2048")


def boards_of(game: str, count: int = 300) -> list[Board]:
    """Boards of random games, first to last."""
    boards: list[Board] = []
    for number in range(count):
        episode = Episode(make_game(game), 11, number)
        while not episode.is_over:
            boards.append(episode.board)
            if len(boards) == count:
                return boards
            episode.move(make_agent("random").move(episode.board, episode.stream))
        boards.append(episode.board)
    return boards


def naive_rewards(board: Board) -> dict[str, int]:
    return rewards(LINE_MOVES[board.game.name], [list(row) for row in board.tiles])


def chosen(agent: str, board: Board) -> Counter[str]:
    stream, player = stream_for(1), make_agent(agent)
    return Counter(player.move(board, stream) for _ in range(DRAWS))


@pytest.mark.parametrize("game", ["2048", "threes"])
def test_values_are_rewards_for_greedy_and_nothing_for_random(game: str) -> None:
    for board in boards_of(game):
        expected = naive_rewards(board)
        assert list(make_agent("greedy").values(board).items()) == list(expected.items())
        assert list(make_agent("random").values(board).items()) == [(action, 0.0) for action in expected]


@pytest.mark.parametrize("game", ["2048", "threes"])
def test_greedy_plays_a_move_of_the_highest_reward(game: str) -> None:
    stream = stream_for(2)
    for board in boards_of(game):
        if expected := naive_rewards(board):
            move = make_agent("greedy").move(board, stream)
            assert expected[move] == max(expected.values())


@pytest.mark.parametrize("game", ["2048", "threes"])
def test_random_plays_legal_moves_only(game: str) -> None:
    stream = stream_for(3)
    for board in boards_of(game):
        if expected := naive_rewards(board):
            assert make_agent("random").move(board, stream) in expected


# Boards with four, three and two equally good moves, and with one.
TIES = {
    "2 0 0 0 / 0 0 0 0 / 0 0 2 0 / 0 0 0 0": {"up", "right", "down", "left"},
    "0 2 8 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0": {"right", "down", "left"},
    "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2": {"right", "left"},
    "2 8 0 0 / 2 0 0 0 / 4 0 0 0 / 4 0 8 0": {"up", "down"},
}


@pytest.mark.parametrize("text", TIES)
def test_greedy_breaks_ties_evenly(text: str) -> None:
    board = make_game("2048").parse(text)
    expected = naive_rewards(board)
    assert {action for action in expected if expected[action] == max(expected.values())} == TIES[text]
    counts = chosen("greedy", board)
    assert set(counts) == TIES[text]
    assert stats.chisquare(list(counts.values())).pvalue > FALSE_ALARM


def test_greedy_takes_the_one_best_move_always() -> None:
    board = make_game("threes").parse("3 3 0 0 / 0 0 0 0 / 0 0 0 1 / 0 0 0 0")
    assert naive_rewards(board) == {"up": 0, "right": 0, "down": 0, "left": 3}
    assert chosen("greedy", board) == {"left": DRAWS}


@pytest.mark.parametrize(
    ("game", "text", "legal"),
    [
        ("2048", "2 0 0 0 / 0 0 0 0 / 0 0 2 0 / 0 0 0 0", 4),
        ("2048", "0 2 8 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", 3),
        ("2048", "2 0 0 0 / 4 0 0 0 / 2 0 0 0 / 4 0 0 0", 1),
        ("2048", "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 8 8", 2),
        ("threes", "1 0 0 0 / 0 0 0 0 / 0 0 2 0 / 0 0 0 0", 4),
        ("threes", "3 1 1 3 / 1 1 1 1 / 1 1 1 1 / 0 0 0 0", 1),
    ],
)
def test_random_plays_every_legal_move_equally_often(game: str, text: str, legal: int) -> None:
    board = make_game(game).parse(text)
    counts = chosen("random", board)
    assert set(counts) == set(naive_rewards(board))
    assert len(counts) == legal
    assert legal == 1 or stats.chisquare(list(counts.values())).pvalue > FALSE_ALARM


def test_successive_random_moves_are_unrelated() -> None:
    board, stream, player = make_game("2048").parse("0210000001200000"), stream_for(5), make_agent("random")
    moves = [player.move(board, stream) for _ in range(DRAWS)]
    pairs = Counter(pairwise(moves))
    table = [[pairs[first, second] for second in ("up", "right", "down", "left")] for first in set(moves)]
    assert stats.chi2_contingency(table).pvalue > FALSE_ALARM


@pytest.mark.parametrize("agent", ["random", "greedy"])
def test_a_move_without_a_stream_is_always_the_same(agent: str) -> None:
    board = make_game("2048").start(4)
    assert len({make_agent(agent).move(board) for _ in range(20)}) == 1


@pytest.mark.parametrize("agent", ["random", "greedy"])
def test_a_finished_game_has_no_values_and_no_move(agent: str) -> None:
    board = make_game("2048").parse("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2")
    assert make_agent(agent).values(board) == {}
    with pytest.raises(UsageError, match="the game is over: no move is legal on '2 4 2 4 / 4 2 4 2"):
        make_agent(agent).move(board)


class Noisy(Agent):
    """Values moves by chance, and decides by these values itself."""

    name = "noisy"

    def values(self, board: BoardLike, stream: Stream | None = None) -> dict[str, float]:
        """Draw a value for every legal move."""
        stream = stream_for(0) if stream is None else stream
        drawn = np.random.default_rng(stream).random(4)
        stream += np.uint64(1)
        return dict(zip(GAME.legal(board), drawn.tolist(), strict=False))

    def move(self, board: BoardLike, stream: Stream | None = None) -> str:
        """Play the move of the highest value."""
        values = self.values(board, stream)
        return max(values, key=values.__getitem__)


def test_an_analysis_has_the_values_that_the_move_was_decided_by() -> None:
    player = Noisy().player(GAME)
    for seed in range(20):
        analysis = player.analyse("2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 2 0", stream_for(seed))
        assert analysis.move == max(analysis.values, key=analysis.values.__getitem__)
