"""Distilled tables: the boards of a table that players meet most, in a file of a few bytes a board."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tilewright._core.checks import check_integer
from tilewright._core.jit import Int, kernel
from tilewright._core.text import excerpt
from tilewright.errors import UsageError
from tilewright.exact.kernels import Keys, canonical, find, reaches_goal, slide_cells
from tilewright.exact.packing import STEPS
from tilewright.exact.policy import ExactPolicy, layer_of, matching_symmetry, with_walls
from tilewright.exact.table import ExactTable
from tilewright.games.rules import ILLEGAL, State

__all__ = ["Counts", "check_distillable", "count_options", "keep_most_visited", "make_counts"]

Counts = NDArray[np.uint32]


def make_counts(table: ExactTable) -> Counts:
    """Return a count of zero for every afterstate of a table."""
    return np.zeros(len(table.keys), np.uint32)


@kernel
def count_options(policy: ExactPolicy, cells: Keys, extra: Keys, counts: Counts) -> tuple[Int, Int]:
    """Count the afterstates that a player chooses from, on every board that matches the table.

    Args:
        policy: The policy of the table.
        cells: The boards of some games.
        extra: The other words of their states.
        counts: uint32[afterstates], incremented in place.

    Returns:
        How many boards match the walls with a move that keeps them, and of how many the table has all such moves.
    """
    space = policy.space
    matching, complete = 0, 0
    for i in range(len(cells)):
        state = State(cells[i], extra[i])
        which = matching_symmetry(space, state)
        if which < 0:
            continue
        board = with_walls(space, state.cells, which)
        begin, end = layer_of(policy, board)
        options, missing = 0, 0
        for action in range(4):
            after, reward = slide_cells(space, board, action)
            if reward == ILLEGAL:
                continue
            options += 1
            if reaches_goal(space, after):
                continue
            index = find(policy.keys, begin, end, canonical(space, after))
            if index < 0:
                missing += 1
            else:
                counts[index] += np.uint32(1)
        matching += options > 0
        complete += options > 0 and missing == 0
    return matching, complete


def check_distillable(table: ExactTable, boards: int) -> None:
    """Raise UsageError unless the table is of an endgame, and can be distilled to this number of boards."""
    check_integer(f"boards={excerpt(boards)}", boards, 1)
    if not table.problem.walls:
        raise UsageError(
            f"{table.problem.title}: a table of a whole game must have all boards; only endgames may lack some"
        )
    if table.is_distilled:
        raise UsageError(f"{table.path or 'the table'}: is distilled already; start from the whole table")


def keep_most_visited(table: ExactTable, counts: Counts, boards: int) -> ExactTable:
    """Return a table of the afterstates with the highest counts, without those that were never counted.

    Probabilities are rounded to 16 bits. A board is in the new table if all its moves are, so that none is preferred
    only because it is unknown.

    Args:
        table: The table of an endgame.
        counts: What `count_options` counted.
        boards: The largest number of afterstates; of equal counts the first ones are kept.

    Raises:
        UsageError: The table is of a whole game or distilled already, or nothing was counted.
    """
    check_distillable(table, boards)
    visited = np.flatnonzero(counts)
    if not len(visited):
        raise UsageError(f"{table.problem.title}: no game met a board of the table; play more games, or stronger ones")
    best = visited[np.argsort(counts[visited], kind="stable")[::-1][:boards]]
    kept = np.sort(best)
    offsets = np.searchsorted(kept, table.offsets).astype(np.int64)
    values = np.rint(table.afterstate_values[kept] * STEPS) / STEPS
    return replace(
        table, path=None, keys=table.keys[kept], afterstate_values=values, offsets=offsets, is_distilled=True
    )
