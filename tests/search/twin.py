"""Monte Carlo written a second time, in plain Python over the public methods of a game, drawing from the same streams.

The generator and the seeding of streams are written again as well; only the new tiles are drawn by the game itself.
"""

from collections.abc import Callable
from itertools import permutations

import numpy as np

from tests.test_rng import ALL, rotate_left
from tilewright import Board
from tilewright.rng import Stream

Player = Callable[[Board, Stream], str]
Final = Callable[[Board, int], float]

ACTIONS = ("up", "right", "down", "left")
GOLDEN, SHARED = 0x9E3779B97F4A7C15, 1 << 63
BLOCK = 256


def mix(word: int) -> int:
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & ALL
    word = (word ^ word >> 27) * 0x94D049BB133111EB & ALL
    return word ^ word >> 31


def stream_number(key: tuple[int, int], number: int) -> Stream:
    word = mix((key[0] + GOLDEN * number) & ALL)
    first = mix(word ^ key[1])
    return np.array([first, mix((first + word + GOLDEN) & ALL) | 1], np.uint64)


def next_word(stream: Stream) -> int:
    first, second = (int(word) for word in stream)
    word = (rotate_left((first + second) & ALL, 17) + first) & ALL
    second ^= first
    stream[0] = rotate_left(first, 49) ^ second ^ (second << 21 & ALL)
    stream[1] = rotate_left(second, 28)
    return word


def below(stream: Stream, limit: int) -> int:
    return (next_word(stream) >> 32) * limit >> 32


def plays_randomly(board: Board, stream: Stream) -> str:
    update = list(permutations(range(4)))[below(stream, 24)]
    return next(ACTIONS[i] for i in update if ACTIONS[i] in board.game.legal(board))


def plays_merges(board: Board, stream: Stream) -> str:
    best, highest, ties = "", -1, 0
    for action in board.game.legal(board):
        reward = board.game.slide(board, action)[1]
        if reward > highest:
            best, highest, ties = action, reward, 1
        elif reward == highest:
            ties += 1
            if below(stream, ties) == 0:
                best = action
    return best


def plays_by_preference(*, merges: bool = False, largest: bool = False, corner: bool = False) -> Player:
    """The moves with most of what is asked for: a reward, a new largest tile, a largest tile in a corner."""

    def choose(board: Board, stream: Stream) -> str:
        best, most, ties = "", -1, 0
        for action in board.game.legal(board):
            after, reward = board.game.slide(board, action)
            before, now = max(map(max, board.tiles)), max(map(max, after.tiles))
            corners = [row[column] for row in (after.tiles[0], after.tiles[-1]) for column in (0, -1)]
            liked = (merges and reward > 0) + (largest and now > before) + (corner and now in corners)
            if liked > most:
                best, most, ties = action, liked, 1
            elif liked == most:
                ties += 1
                if below(stream, ties) == 0:
                    best = action
        return best

    return choose


FINALS: dict[str, Final] = {
    "score": lambda board, score: float(score),
    "sum": lambda board, score: float(sum(map(sum, board.tiles))),
    "largest": lambda board, score: max(map(max, board.tiles)) + sum(map(sum, board.tiles)) / 2**32,
}


def play_out(
    board: Board,
    score: int,
    stream: Stream,
    player: Player,
    final: Final,
    n_step: int,
    evaluate_state: Callable[[Board], float],
) -> float:
    game = board.game
    for _ in range(n_step):
        if game.is_over(board):
            return final(board, score)
        after, reward = game.slide(board, player(board, stream))
        board, gain = game.spawn(after, stream)
        score += reward + gain
    return score + evaluate_state(board)


def monte_carlo(
    board: Board,
    stream: Stream,
    *,
    rollouts: int,
    final: Final,
    shared: bool = False,
    player: Player = plays_randomly,
    n_step: int = 10**9,
    evaluate_state: Callable[[Board], float] = lambda board: 0.0,
) -> dict[str, float]:
    """The mean of each legal move's playouts, added up in blocks."""
    game = board.game
    key = (next_word(stream), next_word(stream))
    means = {}
    for number, action in enumerate(ACTIONS):
        if action not in game.legal(board):
            continue
        after, reward = game.slide(board, action)
        first, first_gain = game.spawn(after, stream_number(key, SHARED + number))
        blocks: list[float] = []
        for i in range(rollouts):
            own = stream_number(key, number * rollouts + i)
            tried, gain = (first, first_gain) if shared else game.spawn(after, own)
            if i % BLOCK == 0:
                blocks.append(0.0)
            blocks[-1] += play_out(tried, reward + gain, own, player, final, n_step, evaluate_state)
        total = 0.0
        for block in blocks:
            total += block
        means[action] = total / rollouts
    return means
