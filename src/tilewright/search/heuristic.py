"""A hand-made evaluator: large tiles in order, from a corner, line by line, without learning.

The *size* of a tile is rank ** power * growth ** rank. The *rank* grows by one from tile to tile; tiles that merge with
each other share one, as 1 and 2 do in Threes. The value of a line, read from the cell where large tiles belong, is

    base + empty · (empty cells) + size · Σ sizes - far · (size of the last cell)
         + Σ over pairs that merge: merge + merge_size · size
         + Σ over pairs that are one rank apart: follow
         - Σ over neighbours of which the second is larger: order · (difference of sizes) + fault · (smaller size)

Lines at the edge may have other weights than inner ones. All rows are read from the same end, and so are all columns:
large tiles belong in one corner. A search chooses the corner by the board that it begins with (`begin_search`) and
keeps it to the end of every branch. A search that could change the corner at each leaf lets the large tiles drift from
one corner to another, and plays worse. Both directions of all 65,536 lines are in a table.

A lost game has the value 0, and no board is worth less than MIN_VALUE. If the board that a search begins with is worth
less than half of an empty one, because large tiles are out of order, something is added to the values of all boards:
so the search still tells better boards from worse ones.

In 2048 a size is nearly the points that the tile took, and a merge gains about its points. In Threes sizes grow slowly.

Terms for empty cells, merges and monotonicity are those of nneonneo's and xificurk's players. The weights of 2048 are
those of macroxue's player (2048-ai, 2019): sizes rank · 2^rank, and 12 times the difference for tiles out of order. The
weights of Threes were found by `benchmarks/tune_heuristic.py`.
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
from tilewright.search.evaluator import begin_search, evaluate_state

__all__ = ["MIN_VALUE", "WEIGHTS", "Heuristic", "LineWeights", "Weights", "line_values", "make_heuristic"]

u64 = np.uint64
FROM_THE_END = u64(1 << 16)  # added to where a line's table begins: the same lines, read from their last cell
LineValues: TypeAlias = NDArray[np.float32]  # float32[2, 65536], by the line's four nibbles, first cell highest

LOWEST = np.float32(-np.inf)
MIN_VALUE = np.float32(100)  # of a board


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
        base=524_288,
        power=1.0,
        growth=2.0,
        edge=LineWeights(empty=0, merge=0, merge_size=1, follow=0, size=2, order=13, fault=2, far=1),
        inner=LineWeights(empty=0, merge=0, merge_size=1, follow=0, size=2, order=13, fault=2, far=1),
    ),
    "threes": Weights(
        base=655_000,
        power=1.39,
        growth=1.0,
        edge=LineWeights(empty=2850, merge=3970, merge_size=0, follow=624, size=-25, order=501, fault=0, far=0),
        inner=LineWeights(empty=2340, merge=4620, merge_size=0, follow=938, size=-73, order=502, fault=0, far=0),
    ),
}


class Heuristic(NamedTuple):
    """A heuristic with the workspace of one thread."""

    table: NDArray[np.float32]  # float32[kinds * 131072]: both values of all lines, for each kind of line
    from_the_start: LineOffsets  # uint64[8]: where the table of each row begins, then that of each column
    offset: LineOffsets  # uint64[8]: the same for the end that the lines of this search are read from
    added: NDArray[np.float32]  # float32[1]: what this search adds to the value of every board
    half_empty: Float  # half of the value of an empty board, without its empty cells
    q_values: NDArray[np.float32]  # float32[4]: filled by `evaluate_state`, -inf where a move is illegal


def make_heuristic(game: Game, weights: Weights | None = None) -> Heuristic:
    """Return the heuristic of a game, with a workspace for one thread; the table is made once and shared."""
    weights = weights or WEIGHTS.get(game.name, WEIGHTS["2048"])
    table, from_the_start = _table(game, weights)
    half_empty = np.float32(weights.base * (game.rows + game.columns) / 2)
    return Heuristic(
        table, from_the_start, from_the_start.copy(), np.zeros(1, np.float32), half_empty, np.empty(4, np.float32)
    )


@lru_cache(maxsize=4)
def _table(game: Game, weights: Weights) -> tuple[NDArray[np.float32], LineOffsets]:
    """Build the tables; lines that a smaller board does not have read zeros."""
    kinds: list[tuple[LineWeights, int]] = []  # weights and length
    kind_of_line = np.full(8, -1)
    for first, lines, length in ((0, game.rows, game.columns), (4, game.columns, game.rows)):
        for line in range(lines):
            kind = (weights.edge if line in (0, lines - 1) else weights.inner, length)
            if kind not in kinds:
                kinds.append(kind)
            kind_of_line[first + line] = kinds.index(kind)
    tables = [line_values(game, weights, *kind) for kind in kinds]
    if (kind_of_line < 0).any():
        kind_of_line[kind_of_line < 0] = len(tables)
        tables.append(np.zeros((2, 65536), np.float32))
    return np.concatenate(tables).ravel(), kind_of_line.astype(np.uint64) << np.uint64(17)


def line_values(game: Game, weights: Weights, kind: LineWeights, length: int) -> LineValues:
    """Return the values of all lines of `length` cells, read from their first and from their last cell."""
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
    values = np.stack([common - _disorder(sizes[codes[:, ::step]], kind) for step in (1, -1)])
    return values.astype(np.float32)


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


@inline
def board_value(evaluator: Heuristic, rules: Rules, state: State) -> Float:
    """Return the sum over rows and columns (float32), read from the corner of this search."""
    cells = downgraded_cells(rules, state, LARGEST_NIBBLE)
    rows = _sum_of_rows(evaluator.table, evaluator.offset, 0, cells, u64(0))
    columns = _sum_of_rows(evaluator.table, evaluator.offset, 4, transpose(cells), u64(0))
    return max(rows + columns + evaluator.added[0], MIN_VALUE)


@inline
def _sum_of_rows(table: NDArray[np.float32], offset: LineOffsets, first: int, cells: Word, end: Word) -> Float:
    a = table[(offset[first] + end) | cells >> u64(48)]
    b = table[(offset[first + 1] + end) | ((cells >> u64(32)) & u64(0xFFFF))]
    c = table[(offset[first + 2] + end) | ((cells >> u64(16)) & u64(0xFFFF))]
    d = table[(offset[first + 3] + end) | (cells & u64(0xFFFF))]
    return a + b + c + d


@inline
def _choose_end(evaluator: Heuristic, first: int, cells: Word) -> tuple[Float, bool]:
    """Read four lines from the end where they are worth more; return their value, and whether the end is a new one."""
    table, from_the_start, end = evaluator.table, evaluator.from_the_start, u64(0)
    value = _sum_of_rows(table, from_the_start, first, cells, u64(0))
    backwards = _sum_of_rows(table, from_the_start, first, cells, FROM_THE_END)
    if backwards > value:
        value, end = backwards, FROM_THE_END
    is_new = evaluator.offset[first] != from_the_start[first] + end
    for line in range(first, first + 4):
        evaluator.offset[line] = from_the_start[line] + end
    return value, is_new


@implements(begin_search, Heuristic, forceinline=False)
def choose_corner(evaluator: Heuristic, rules: Rules, state: State) -> bool:
    """Read all lines from the corner where the board is worth most, and lift the values of badly ordered boards."""
    cells = downgraded_cells(rules, state, LARGEST_NIBBLE)
    rows, new_rows = _choose_end(evaluator, 0, cells)
    columns, new_columns = _choose_end(evaluator, 4, transpose(cells))
    half = evaluator.half_empty
    added = half * max(np.float32(0), np.ceil(np.float32(1) - (rows + columns) / half))  # in steps: values can be kept
    new_level = added != evaluator.added[0]
    evaluator.added[0] = added
    return not (new_rows or new_columns or new_level)


@inline
def _q_value(evaluator: Heuristic, rules: Rules, state: State, action: int) -> Float:
    """Return the value of a move and leave it in `q_values`."""
    after, reward = slide(rules, state, action)
    q = LOWEST
    if reward != ILLEGAL:
        q = board_value(evaluator, rules, after) + np.float32(reward)
    evaluator.q_values[action] = q
    return q


@implements(evaluate_state, Heuristic, forceinline=False)
def evaluate_by_heuristic(evaluator: Heuristic, rules: Rules, state: State) -> Float:
    """Return the value of the best move. No loop: moves along rows need no transposition if the action is constant."""
    vertical = max(_q_value(evaluator, rules, state, UP), _q_value(evaluator, rules, state, DOWN))
    horizontal = max(_q_value(evaluator, rules, state, LEFT), _q_value(evaluator, rules, state, RIGHT))
    best = max(vertical, horizontal)
    return np.float32(0) if best == LOWEST else best
