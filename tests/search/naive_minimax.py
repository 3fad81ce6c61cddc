"""The heuristic and minimax written a second time, as one would explain them."""

import math
from itertools import pairwise

from tests.games.naive import score
from tilewright.games.board import Board
from tilewright.search.heuristic import MIN_VALUE, LineWeights, Weights
from tilewright.search.minimax import LOST

Values = dict[str, float]


def rank(game: str, tile: int) -> int:
    """2, 4, 8 … are 1, 2, 3 …; in Threes 1 and 2 are both 1, and 3, 6, 12 … are 2, 3, 4 …"""
    if tile == 0:
        return 0
    if game == "2048":
        return round(math.log2(tile))
    return 1 if tile < 3 else 2 + round(math.log2(tile / 3))


def merges(game: str, a: int, b: int, most: int) -> bool:
    if game == "2048":
        return a == b != 0
    return {a, b} == {1, 2} or (3 <= a == b < most)


def size(game: str, tile: int, weights: Weights) -> float:
    place = rank(game, tile)
    return float(place**weights.power * weights.growth**place) if tile else 0.0


def line_value(game: str, line: list[int], weights: Weights, kind: LineWeights, most: int) -> float:
    """The value of a line whose first cell is where large tiles belong."""
    value: float = weights.base
    tiles = [tile for tile in line if tile]
    value += kind.empty * (len(line) - len(tiles))
    value += kind.size * sum(size(game, tile, weights) for tile in tiles)
    for a, b in pairwise(tiles):
        if merges(game, a, b, most):
            value += kind.merge + kind.merge_size * max(size(game, a, weights), size(game, b, weights))
        if abs(rank(game, a) - rank(game, b)) == 1:
            value += kind.follow
    for before, after in pairwise(size(game, tile, weights) for tile in line):
        if after > before:
            value -= kind.order * (after - before) + kind.fault * before
    value -= kind.far * size(game, line[-1], weights)
    return float(max(value, MIN_VALUE))


def board_value(board: Board, weights: Weights) -> float:
    """The sum over rows and columns; all rows are read from the same end, and all columns."""
    game, rows = board.game, [list(row) for row in board.tiles]
    most = getattr(game, "max_tile", 0)
    total = 0.0
    for lines in (rows, [list(column) for column in zip(*rows, strict=True)]):
        sums = []
        for direction in (1, -1):
            kinds = [weights.edge if i in (0, len(lines) - 1) else weights.inner for i in range(len(lines))]
            read = zip(lines, kinds, strict=True)
            sums.append(sum(line_value(game.name, line[::direction], weights, kind, most) for line, kind in read))
        total += max(sums)
    return total


def worths(board: Board, weights: Weights) -> Values:
    """What each legal move earns, and what the board then looks like."""
    found = {}
    for action in board.game.legal(board):
        after, reward = board.game.slide(board, action)
        found[action] = reward + board_value(after, weights)
    return found


def placements(after: Board) -> list[tuple[Board, int]]:
    """Every board that the adversary can make, and the points of the new tile; of several hints the likeliest."""
    likeliest: dict[object, tuple[float, Board]] = {}
    for board, probability in after.game.outcomes(after):
        if probability > likeliest.get(board.tiles, (0.0, board))[0]:
            likeliest[board.tiles] = probability, board
    in_threes = after.game.name == "threes"
    return [(board, score(board.tiles) - score(after.tiles) if in_threes else 0) for _, board in likeliest.values()]


def minimax(board: Board, weights: Weights, depth: int) -> Values:
    """Every line of play to the end of `depth` moves, nothing left out."""
    if depth == 1:
        return worths(board, weights)
    found = {}
    for action in board.game.legal(board):
        after, reward = board.game.slide(board, action)
        replies = [
            gain + max(minimax(reply, weights, depth - 1).values(), default=LOST) for reply, gain in placements(after)
        ]
        found[action] = reward + min(replies)
    return found


def deepening(board: Board, weights: Weights, depth: int) -> Values:
    """The values of the deepest search, up to `depth`, that leaves some move alive."""
    values = minimax(board, weights, 1)
    for deeper in range(2, depth + 1):
        trial = minimax(board, weights, deeper)
        if max(trial.values(), default=LOST) < LOST / 2:
            break
        values = trial
    return values
