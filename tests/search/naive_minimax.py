"""The heuristic and minimax written a second time, as one would explain them."""

import math
from itertools import pairwise
from typing import NamedTuple

from tests.games.naive import score
from tilewright.games.board import Board
from tilewright.search.heuristic import MIN_VALUE, LineWeights, Weights
from tilewright.search.minimax import LOST

Values = dict[str, float]


class Corner(NamedTuple):
    """How a search that keeps its corner reads boards."""

    row_step: int  # 1: rows are read from the left, -1: from the right
    column_step: int
    bonus: float  # added to the value of every board


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


def line_value(
    game: str, line: list[int], weights: Weights, kind: LineWeights, most: int, least: float = MIN_VALUE
) -> float:
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
    return float(max(value, least))


def sums_by_step(board: Board, weights: Weights, least: float) -> list[dict[int, float]]:
    """The sums over the rows from the left (step 1) and from the right (-1), and those over the columns."""
    game, rows = board.game, [list(row) for row in board.tiles]
    most = getattr(game, "max_tile", 0)
    found = []
    for lines in (rows, [list(column) for column in zip(*rows, strict=True)]):
        kinds = [weights.edge if i in (0, len(lines) - 1) else weights.inner for i in range(len(lines))]
        read = list(zip(lines, kinds, strict=True))
        found.append(
            {
                step: sum(line_value(game.name, line[::step], weights, kind, most, least) for line, kind in read)
                for step in (1, -1)
            }
        )
    return found


def board_value(board: Board, weights: Weights) -> float:
    """The sum over rows and columns; all rows are read from the same end, and all columns."""
    return sum(max(sums.values()) for sums in sums_by_step(board, weights, MIN_VALUE))


def corner_of(board: Board, weights: Weights) -> Corner:
    """The corner of a search from this board."""
    rows, columns = sums_by_step(board, weights, -math.inf)
    half_empty = weights.base * (board.game.rows + board.game.columns) / 2
    bonus = max(0.0, half_empty - max(rows.values()) - max(columns.values()))
    row_step, column_step = (1 if sums[1] >= sums[-1] else -1 for sums in (rows, columns))
    return Corner(row_step, column_step, bonus)


def corner_is_clear(board: Board, weights: Weights) -> bool:
    """Whether rounding cannot change the corner."""
    return not any(math.isclose(*sums.values(), rel_tol=1e-5) for sums in sums_by_step(board, weights, -math.inf))


def corner_worths(board: Board, weights: Weights, corner: Corner) -> Values:
    """What each legal move earns, and what the board then looks like, read from one corner."""
    found = {}
    for action in board.game.legal(board):
        after, reward = board.game.slide(board, action)
        rows, columns = sums_by_step(after, weights, -math.inf)
        found[action] = reward + max(rows[corner.row_step] + columns[corner.column_step] + corner.bonus, MIN_VALUE)
    return found


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
