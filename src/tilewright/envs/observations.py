"""What an observation shows of a state: the verb `show`, and a NamedTuple type for every kind of it.

    grid         uint8[rows, columns]        the tile codes (exponents in 2048)
    onehot       uint8[16, rows, columns]    plane c is 1 where the code is c; beyond 32768 the downgraded board
    lookahead1   uint8[5, rows, columns]     the grid, and what up, right, down, left make of it before a tile comes
    lookahead2   uint8[21, rows, columns]    and what the four moves make of those

A board that no legal move leads to is all zero. Where the next tile is known in part (Threes), every grid has one more
row that holds the hint in all of its cells: 1, 2, 3, or 4 for a bonus tile.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, Word, implements, inline, kernel
from tilewright._core.registry import did_you_mean
from tilewright.errors import UsageError
from tilewright.games.base import Game
from tilewright.games.rules import ILLEGAL, Rules, State, downgraded_cells, high_bits, hint_of, slide

__all__ = [
    "LARGEST_HINT",
    "OBSERVATIONS",
    "PLANES",
    "View",
    "legal_on_grids",
    "make_view",
    "show",
    "show_grids",
    "view_shape",
]

u64 = np.uint64
Row: TypeAlias = NDArray[np.uint8]  # one observation, flat
View: TypeAlias = Any  # a NamedTuple type of this module

OBSERVATIONS = ("grid", "onehot", "lookahead1", "lookahead2")
PLANES = 16
LARGEST_HINT = 4  # any bonus tile


class Grid(NamedTuple):
    rows: int
    columns: int
    hint: int  # how many rows tell the hint: 0 or 1


class OneHot(NamedTuple):
    grid: Grid


class LookAhead(NamedTuple):
    grid: Grid
    depth: int


def make_view(game: Game, observation: str) -> View:
    """The view of that name; raises UsageError if there is none."""
    grid = Grid(game.rows, game.columns, int(game.has_hints))
    if observation == "grid":
        return grid
    if observation == "onehot":
        return OneHot(grid)
    if observation in OBSERVATIONS:
        return LookAhead(grid, int(observation[-1]))
    hint = did_you_mean(observation, OBSERVATIONS)
    raise UsageError(f"observation={observation!r}: no such observation{hint}; allowed: {', '.join(OBSERVATIONS)}")


def view_shape(view: View) -> tuple[int, ...]:
    """The shape of one observation."""
    if isinstance(view, Grid):
        return (view.rows + view.hint, view.columns)
    boards = PLANES if isinstance(view, OneHot) else 5 if view.depth == 1 else 21
    return (boards, *view_shape(view.grid))


def show(view: View, rules: Rules, state: State, row: Row) -> None:
    raise TypeError("show is a verb for kernels")


@inline
def _hint(rules: Rules, state: State) -> Int:
    return min(hint_of(rules, state), LARGEST_HINT)


@inline
def _nibble(cells: Word, row: Int, column: Int) -> Word:
    return (cells >> u64(60 - 16 * row - 4 * column)) & u64(15)


@inline
def _show_board(grid: Grid, rules: Rules, state: State, row: Row, at: Int) -> Int:
    """Write the codes of a board from place `at` on; the place behind them."""
    high = high_bits(rules, state)
    for r in range(grid.rows):
        for c in range(grid.columns):
            row[at] = _nibble(state.cells, r, c)
            if high:
                row[at] |= ((high >> u64(15 - 4 * r - c)) & u64(1)) << u64(4)
            at += 1
    for _ in range(grid.hint * grid.columns):
        row[at] = _hint(rules, state)
        at += 1
    return at


@implements(show, Grid)
def show_grid(view: Grid, rules: Rules, state: State, row: Row) -> None:
    _show_board(view, rules, state, row, 0)


@implements(show, OneHot, forceinline=False)
def show_one_hot(view: OneHot, rules: Rules, state: State, row: Row) -> None:
    grid = view.grid
    row[:] = 0
    cells = downgraded_cells(rules, state, PLANES - 1)
    plane = (grid.rows + grid.hint) * grid.columns
    for r in range(grid.rows):
        for c in range(grid.columns):
            row[np.int64(_nibble(cells, r, c)) * plane + r * grid.columns + c] = 1
    for c in range(grid.hint * grid.columns):
        row[_hint(rules, state) * plane + grid.rows * grid.columns + c] = 1


@implements(show, LookAhead, forceinline=False)
def show_ahead(view: LookAhead, rules: Rules, state: State, row: Row) -> None:
    row[:] = 0
    grid = view.grid
    at = _show_board(grid, rules, state, row, 0)
    second = 5 * at
    for action in range(4):
        after, reward = slide(rules, state, action)
        if reward != ILLEGAL:
            _show_board(grid, rules, after, row, (1 + action) * at)
            if view.depth == 2:
                for next_action in range(4):
                    later, next_reward = slide(rules, after, next_action)
                    if next_reward != ILLEGAL:
                        _show_board(grid, rules, later, row, second + (4 * action + next_action) * at)


@kernel
def show_grids(
    view: View, rules: Rules, cells: NDArray[np.uint64], extra: NDArray[np.uint64], into: NDArray[np.uint8]
) -> None:
    """Observations of some states, a row each."""
    for i in range(len(cells)):
        show(view, rules, State(cells[i], extra[i]), into[i])


@kernel
def legal_on_grids(grid: Grid, rules: Rules, grids: NDArray[np.uint8], masks: NDArray[np.bool_]) -> None:
    """Which moves are legal on boards that are known by their grids: uint8[n, size] -> bool[n, 4]."""
    for i in range(len(grids)):
        cells, high = u64(0), u64(0)
        for r in range(grid.rows):
            for c in range(grid.columns):
                code = u64(grids[i, r * grid.columns + c])
                cells |= (code & u64(15)) << u64(60 - 16 * r - 4 * c)
                high |= (code >> u64(4)) << u64(15 - 4 * r - c)
        for action in range(4):
            masks[i, action] = slide(rules, State(cells, high), action)[1] != ILLEGAL
