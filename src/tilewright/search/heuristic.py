"""A hand-made evaluator: empty cells, monotonicity and merges, line by line, without learning.

The value of a board is the sum over its rows and columns of

    base + empty · (empty cells) + merge · (neighbours that merge) + follow · (neighbours one rank apart)
         - order · (how far it is from rising or falling) - size · Σ rank ** size_power

read from a table of all 65,536 lines. Lines at the edge have other weights than inner ones. `order` takes the better of
the two directions and measures a step against it by the difference of rank ** order_power. The *rank* grows by one from
tile to tile; tiles that merge with each other share one, as 1 and 2 do in Threes. No line has a value below MIN_VALUE,
so that a lost game, with the value 0, is worse than any other.

The ideas are those of nneonneo's and xificurk's players; the weights are our own, found by
`benchmarks/tune_heuristic.py`. They are large compared with rewards on purpose: earlier weights scored 86 k at depth 3
as tuned, and 97 to 113 k when 4 to 64 times as large (20 games each, so only a trend; the reason was not examined).
"""

from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Float, Word, implements, inline
from tilewright.games.base import Game
from tilewright.games.bitboard import transpose
from tilewright.games.rules import ILLEGAL, LARGEST_NIBBLE, LEFT, LineOffsets, Rules, State, downgraded_cells, slide
from tilewright.search.evaluator import evaluate_state

__all__ = ["MIN_VALUE", "WEIGHTS", "Heuristic", "LineWeights", "Weights", "line_values", "make_heuristic"]

u64 = np.uint64
LineValues: TypeAlias = NDArray[np.float32]  # float32[65536], by the line's four nibbles, first cell highest

LOWEST = np.float32(-np.inf)
MIN_VALUE = 100.0  # of a line


class LineWeights(NamedTuple):
    """The weights of a line's properties."""

    empty: float  # each empty cell
    merge: float  # each pair that merges, gaps between them closed
    follow: float  # each pair of which one is one rank larger
    order: float  # steps against the order, in rank ** order_power
    size: float  # each tile, in rank ** size_power


class Weights(NamedTuple):
    """The parameters of a game's heuristic."""

    base: float  # every line
    order_power: float
    size_power: float
    edge: LineWeights  # the lines at the edge of the board
    inner: LineWeights  # and those between them


WEIGHTS = {
    "2048": Weights(
        base=300_000,
        order_power=1.7,
        size_power=2.4,
        edge=LineWeights(empty=1850, merge=5300, follow=620, order=795, size=70),
        inner=LineWeights(empty=2250, merge=6000, follow=635, order=1020, size=99),
    ),
    "threes": Weights(
        base=655_000,
        order_power=1.39,
        size_power=1.03,
        edge=LineWeights(empty=2850, merge=3970, follow=624, order=501, size=49.9),
        inner=LineWeights(empty=2340, merge=4620, follow=938, order=502, size=146),
    ),
}


class Heuristic(NamedTuple):
    """A heuristic with the workspace of one thread."""

    table: LineValues  # the values of all lines, for each kind of line
    offset: LineOffsets  # uint64[8]: where the table of each row begins, then that of each column
    q_values: NDArray[np.float32]  # float32[4]: filled by `evaluate_state`, -inf where a move is illegal


def make_heuristic(game: Game, weights: Weights | None = None) -> Heuristic:
    """Return the heuristic of a game, with a workspace for one thread; the table is made once and shared."""
    table, offset = _table(game, weights or WEIGHTS.get(game.name, WEIGHTS["2048"]))
    return Heuristic(table, offset, np.empty(4, np.float32))


@lru_cache(maxsize=4)
def _table(game: Game, weights: Weights) -> tuple[LineValues, LineOffsets]:
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
        tables.append(np.zeros(65536, np.float32))
    return np.concatenate(tables), kind_of_line.astype(np.uint64) << np.uint64(16)


def line_values(game: Game, weights: Weights, kind: LineWeights, length: int) -> LineValues:
    """Return the values of all lines of `length` cells: float32[65536]."""
    merges = _merging_pairs(game.rules)
    ranks = _ranks(merges)
    codes = np.arange(65536)[:, None] >> np.array([12, 8, 4, 0][:length]) & 15
    closed_up = np.take_along_axis(codes, np.argsort(codes == 0, axis=1, kind="stable"), axis=1)
    near, far = closed_up[:, :-1], closed_up[:, 1:]
    steps = np.diff((ranks**weights.order_power)[codes], axis=1)

    empty = (codes == 0).sum(axis=1)
    merge = merges[near, far].sum(axis=1)
    follow = ((np.abs(ranks[near] - ranks[far]) == 1) & (far > 0)).sum(axis=1)
    order = np.minimum(np.maximum(steps, 0).sum(axis=1), np.maximum(-steps, 0).sum(axis=1))
    size = (ranks**weights.size_power)[codes].sum(axis=1)

    good = weights.base + kind.empty * empty + kind.merge * merge + kind.follow * follow
    return np.maximum(good - kind.order * order - kind.size * size, MIN_VALUE).astype(np.float32)


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
    """Return the sum over rows and columns (float32)."""
    cells = downgraded_cells(rules, state, LARGEST_NIBBLE)
    return _sum_of_rows(evaluator, cells, 0) + _sum_of_rows(evaluator, transpose(cells), 4)


@inline
def _sum_of_rows(evaluator: Heuristic, cells: Word, first: int) -> Float:
    table, offset = evaluator.table, evaluator.offset
    return (
        table[offset[first] | (cells >> u64(48))]
        + table[offset[first + 1] | ((cells >> u64(32)) & u64(0xFFFF))]
        + table[offset[first + 2] | ((cells >> u64(16)) & u64(0xFFFF))]
        + table[offset[first + 3] | (cells & u64(0xFFFF))]
    )


@implements(evaluate_state, Heuristic, forceinline=False)
def evaluate_by_heuristic(evaluator: Heuristic, rules: Rules, state: State) -> Float:
    """Return the value of the best move."""
    best = LOWEST
    for action in range(4):
        after, reward = slide(rules, state, action)
        evaluator.q_values[action] = LOWEST
        if reward != ILLEGAL:
            q = board_value(evaluator, rules, after) + np.float32(reward)
            evaluator.q_values[action] = q
            best = max(best, q)
    return np.float32(0) if best == LOWEST else best
