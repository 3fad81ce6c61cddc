"""Hand-made evaluators: large tiles in order, from a corner, line by line, without learning.

The *size* of a tile is rank ** power * growth ** rank. The *rank* grows by one from tile to tile; tiles that merge with
each other share one, as 1 and 2 do in Threes. The value of a line, read from the cell where large tiles belong, is

    base + empty · (empty cells) + size · Σ sizes - far · (size of the last cell)
         + Σ over pairs that merge: merge + merge_size · size
         + Σ over pairs that are one rank apart: follow
         - Σ over neighbours of which the second is larger: order · (difference of sizes) + fault · (smaller size)

Lines at the edge have other weights than inner ones. All rows are read from the same end, and all columns. Both
directions of all 65,536 lines are in a table.

- `Heuristic` takes the better direction for every board: its value is the better sum over the rows from the left or
  from the right, plus that over the columns from the top or from the bottom. No line has a value below MIN_VALUE, so
  that a lost game, with the value 0, is worse than any other. It serves shallow searches.
- `CornerHeuristic` chooses the directions by the board that a search begins with, and keeps them to the end of every
  branch. A deep search that could choose again at every leaf lets large tiles drift from corner to corner. If large
  tiles are so badly out of order that the first board is worth less than half of an empty one, something is added to
  the values of all boards, so that the search still tells better boards from worse ones.

In 2048 sizes grow as the points that a tile took, and a merge gains about its points; the weights are so large that the
rewards that a search adds hardly count. In Threes sizes grow slowly.

Terms for empty cells, merges and monotonicity are those of nneonneo's and xificurk's players; sizes that double from
tile to tile, and one direction for all lines, are ideas of macroxue's (2048-ai, 2019), whose weights `CornerHeuristic`
has: sizes rank · 2^rank, both sizes of two tiles in order, and -12 times the difference b - a of two tiles a < b that
are not, which is a + b - 13 (b - a) - 2 a. The other weights are our own, found by
`benchmarks/tune_heuristic.py`.
"""

from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Float, Word, implements, inline
from tilewright.games.base import Game
from tilewright.games.bitboard import transpose
from tilewright.games.rules import (
    DOWN,
    ILLEGAL,
    LARGEST_NIBBLE,
    LEFT,
    RIGHT,
    UP,
    LineOffsets,
    Rules,
    State,
    downgraded_cells,
    slide,
)
from tilewright.search.evaluator import begin_search, evaluate_state, need_no_preparation

__all__ = [
    "CORNER_WEIGHTS",
    "MIN_VALUE",
    "WEIGHTS",
    "CornerHeuristic",
    "Heuristic",
    "LineWeights",
    "Weights",
    "line_values",
    "make_corner_heuristic",
    "make_heuristic",
]

u64 = np.uint64
ONE = u64(1)
ROWS, COLUMNS = 0, 4  # where the tables of rows and of columns begin in `offset`
LineValues: TypeAlias = NDArray[np.float32]  # float32[65536, 2], by the line's four nibbles, first cell highest

LOWEST = np.float32(-np.inf)
MIN_VALUE = 100.0  # of a line; of a board, where one corner is kept


class LineWeights(NamedTuple):
    """The weights of a line's properties."""

    empty: float  # each empty cell
    merge: float  # each pair that merges, gaps between them closed
    merge_size: float  # the size of such a pair's larger tile
    follow: float  # each pair of which one is one rank larger, gaps closed
    size: float  # the size of each tile
    order: float  # each step from a tile to a larger one, in sizes
    fault: float  # the size of the tile before such a step
    far: float  # the size of the tile in the last cell


class Weights(NamedTuple):
    """The parameters of a game's heuristic."""

    base: float  # every line
    power: float  # of the rank, in the size of a tile
    growth: float  # of the size, from rank to rank
    edge: LineWeights  # the lines at the edge of the board
    inner: LineWeights  # and those between them


WEIGHTS = {
    "2048": Weights(
        base=1_370_000,
        power=1.57,
        growth=2.0,
        edge=LineWeights(empty=0, merge=0, merge_size=15.3, follow=0, size=8, order=12.2, fault=0.89, far=2.72),
        inner=LineWeights(empty=0, merge=0, merge_size=11.1, follow=0, size=8, order=18.7, fault=1.4, far=1.9),
    ),
    "threes": Weights(
        base=655_000,
        power=1.39,
        growth=1.0,
        edge=LineWeights(empty=2850, merge=3970, merge_size=0, follow=624, size=-25, order=501, fault=0, far=0),
        inner=LineWeights(empty=2340, merge=4620, merge_size=0, follow=938, size=-73, order=502, fault=0, far=0),
    ),
}

_CORNER_LINES = LineWeights(empty=0, merge=0, merge_size=1, follow=0, size=2, order=13, fault=2, far=1)
CORNER_WEIGHTS = Weights(base=524_288, power=1.0, growth=2.0, edge=_CORNER_LINES, inner=_CORNER_LINES)  # of 2048


class Heuristic(NamedTuple):
    """A heuristic that reads every board from its best corner, with the workspace of one thread."""

    table: NDArray[np.float32]  # float32[kinds * 131072]: both values of all lines, for each kind of line
    offset: LineOffsets  # uint64[8]: where the table of each row begins, then that of each column
    q_values: NDArray[np.float32]  # float32[4]: filled by `evaluate_state`, -inf where a move is illegal


class CornerHeuristic(NamedTuple):
    """A heuristic that reads all boards of a search from one corner, with the workspace of one thread."""

    table: NDArray[np.float32]  # as in `Heuristic`
    offset: LineOffsets
    ends: NDArray[np.uint64]  # uint64[2]: whether rows, and whether columns, are read from their last cell: 0 or 1
    bonus: NDArray[np.float32]  # float32[1]: what this search adds to the value of every board
    half_empty: Float  # half of what an empty board is worth
    q_values: NDArray[np.float32]


def make_heuristic(game: Game, weights: Weights | None = None) -> Heuristic:
    """Return the heuristic of a game, with a workspace for one thread; the table is made once and shared."""
    table, offset = _table(game, weights or WEIGHTS.get(game.name, WEIGHTS["2048"]), MIN_VALUE)
    return Heuristic(table, offset, np.empty(4, np.float32))


def make_corner_heuristic(game: Game, weights: Weights = CORNER_WEIGHTS) -> CornerHeuristic:
    """Return the heuristic of deep searches in 2048, with a workspace for one thread; the table is shared."""
    table, offset = _table(game, weights, -np.inf)
    half_empty = np.float32(weights.base * (game.rows + game.columns) / 2)
    return CornerHeuristic(
        table, offset, np.zeros(2, np.uint64), np.zeros(1, np.float32), half_empty, np.empty(4, np.float32)
    )


@lru_cache(maxsize=4)
def _table(game: Game, weights: Weights, least: float) -> tuple[NDArray[np.float32], LineOffsets]:
    """Build the tables, with no value below `least`; lines that a smaller board does not have read zeros."""
    kinds: list[tuple[LineWeights, int]] = []  # weights and length
    kind_of_line = np.full(8, -1)
    for first, lines, length in ((ROWS, game.rows, game.columns), (COLUMNS, game.columns, game.rows)):
        for line in range(lines):
            kind = (weights.edge if line in (0, lines - 1) else weights.inner, length)
            if kind not in kinds:
                kinds.append(kind)
            kind_of_line[first + line] = kinds.index(kind)
    tables = [line_values(game, weights, *kind, least) for kind in kinds]
    if (kind_of_line < 0).any():
        kind_of_line[kind_of_line < 0] = len(tables)
        tables.append(np.zeros((65536, 2), np.float32))
    return np.concatenate(tables).ravel(), kind_of_line.astype(np.uint64) << np.uint64(17)


def line_values(game: Game, weights: Weights, kind: LineWeights, length: int, least: float = MIN_VALUE) -> LineValues:
    """Return the values of all lines of `length` cells, read from their first and from their last cell.

    Args:
        game: The game.
        weights: Those of the game.
        kind: Those of the lines.
        length: The number of cells.
        least: Lower values are raised to this one.
    """
    merges = _merging_pairs(game.rules)
    ranks = _ranks(merges)
    sizes = np.where(ranks > 0, ranks**weights.power * weights.growth**ranks, 0)
    codes = np.arange(65536)[:, None] >> np.array([12, 8, 4, 0][:length]) & 15
    closed_up = np.take_along_axis(codes, np.argsort(codes == 0, axis=1, kind="stable"), axis=1)
    near, far = closed_up[:, :-1], closed_up[:, 1:]

    empty = (codes == 0).sum(axis=1)
    merge = (merges[near, far] * (kind.merge + kind.merge_size * np.maximum(sizes[near], sizes[far]))).sum(axis=1)
    follow = ((np.abs(ranks[near] - ranks[far]) == 1) & (far > 0)).sum(axis=1)
    size = sizes[codes].sum(axis=1)

    common = weights.base + kind.empty * empty + merge + kind.follow * follow + kind.size * size
    values = np.stack([common - _disorder(sizes[codes[:, ::step]], kind) for step in (1, -1)], axis=1)
    return np.maximum(values, least).astype(np.float32)


def _disorder(sizes: NDArray[np.float64], kind: LineWeights) -> NDArray[np.float64]:
    """Return what lines lose that do not fall from their first cell on: float64[n] of the sizes float64[n, length]."""
    before, after = sizes[:, :-1], sizes[:, 1:]
    steps = kind.order * (after - before) + kind.fault * before
    return np.where(after > before, steps, 0).sum(axis=1) + kind.far * sizes[:, -1]


def _merging_pairs(rules: Rules) -> NDArray[np.bool_]:
    """Return which tiles merge with which, by code: bool[16, 16], read from the game's own table of moves."""
    codes = np.arange(16)
    moved = rules.moves[int(rules.offsets[LEFT]) + (codes[:, None] << 12 | codes << 8)]
    return (moved >> 8 & 15 == 0) & (codes[:, None] > 0) & (codes > 0)


def _ranks(merges: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the rank of every code: 0 for empty, then one more for every tile.

    Two neighbours that merge with each other and with no other neighbour share a rank, as 1 and 2 do in Threes.
    """
    with_next = np.array([False, *merges[np.arange(1, 15), np.arange(2, 16)], False])  # code c with c + 1
    alone = ~np.array([False, *with_next[:-2]]) & ~with_next[1:]
    return np.concatenate([[0.0], np.cumsum(~(with_next[:-1] & alone))])


def board_value(evaluator: Heuristic | CornerHeuristic, rules: Rules, state: State) -> Float:
    """Return the value of a board (float32)."""
    raise TypeError("board_value is a verb for kernels")


@implements(board_value, Heuristic)
def best_corner_value(evaluator: Heuristic, rules: Rules, state: State) -> Float:
    """Return the sum over rows and columns, each in its better direction (float32)."""
    cells = downgraded_cells(rules, state, LARGEST_NIBBLE)
    rows, columns = cells, transpose(cells)
    return max(_line_sum(evaluator, rows, ROWS, u64(0)), _line_sum(evaluator, rows, ROWS, ONE)) + max(
        _line_sum(evaluator, columns, COLUMNS, u64(0)), _line_sum(evaluator, columns, COLUMNS, ONE)
    )


@implements(board_value, CornerHeuristic)
def kept_corner_value(evaluator: CornerHeuristic, rules: Rules, state: State) -> Float:
    """Return the sum over rows and columns, read from the corner of this search (float32)."""
    cells, ends = downgraded_cells(rules, state, LARGEST_NIBBLE), evaluator.ends
    rows = _line_sum(evaluator, cells, ROWS, ends[0])
    columns = _line_sum(evaluator, transpose(cells), COLUMNS, ends[1])
    return max(rows + columns + evaluator.bonus[0], np.float32(MIN_VALUE))


@inline
def _line_sum(evaluator: Heuristic | CornerHeuristic, cells: Word, first: int, end: Word) -> Float:
    """Return the sum over the four rows of `cells`, read from their first cell (end 0) or their last one (end 1)."""
    table, offset = evaluator.table, evaluator.offset
    a = table[offset[first] | ((cells >> u64(48)) << ONE) | end]
    b = table[offset[first + 1] | (((cells >> u64(32)) & u64(0xFFFF)) << ONE) | end]
    c = table[offset[first + 2] | (((cells >> u64(16)) & u64(0xFFFF)) << ONE) | end]
    d = table[offset[first + 3] | ((cells & u64(0xFFFF)) << ONE) | end]
    return a + b + c + d


implements(begin_search, Heuristic)(need_no_preparation)


@implements(begin_search, CornerHeuristic, forceinline=False)
def choose_corner(evaluator: CornerHeuristic, rules: Rules, state: State) -> None:
    """Read all lines from the corner where this board is worth most, and add to the values of badly ordered boards."""
    cells = downgraded_cells(rules, state, LARGEST_NIBBLE)
    value = np.float32(0)
    for i, lines, first in ((0, cells, ROWS), (1, transpose(cells), COLUMNS)):
        forwards = _line_sum(evaluator, lines, first, u64(0))
        backwards = _line_sum(evaluator, lines, first, ONE)
        evaluator.ends[i] = ONE if backwards > forwards else u64(0)
        value += max(forwards, backwards)
    evaluator.bonus[0] = max(np.float32(0), evaluator.half_empty - value)


@inline
def _q_value(evaluator: Heuristic | CornerHeuristic, rules: Rules, state: State, action: int) -> Float:
    """Return the value of a move and leave it in `q_values`."""
    after, reward = slide(rules, state, action)
    q = LOWEST
    if reward != ILLEGAL:
        q = board_value(evaluator, rules, after) + np.float32(reward)
    evaluator.q_values[action] = q
    return q


@implements(evaluate_state, Heuristic, CornerHeuristic, forceinline=False)
def evaluate_by_heuristic(evaluator: Heuristic | CornerHeuristic, rules: Rules, state: State) -> Float:
    """Return the value of the best move. No loop: moves along rows need no transposition if the action is constant."""
    vertical = max(_q_value(evaluator, rules, state, UP), _q_value(evaluator, rules, state, DOWN))
    horizontal = max(_q_value(evaluator, rules, state, LEFT), _q_value(evaluator, rules, state, RIGHT))
    best = max(vertical, horizontal)
    return np.float32(0) if best == LOWEST else best
