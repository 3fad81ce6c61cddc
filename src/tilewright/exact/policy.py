"""Playing by exact values, in kernels."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.bits import pdep
from tilewright._core.jit import Int, Word, implements, inline
from tilewright.exact.kernels import Keys, Space, Values, board_sum, move_value
from tilewright.games.bitboard import LOWEST_BITS, largest_nibble, symmetric_cells
from tilewright.games.policy import act, apply_action, best_action
from tilewright.games.rules import Rules, State
from tilewright.rng import Stream

__all__ = [
    "ExactPolicy",
    "layer_of",
    "look_up",
    "make_exact_policy",
    "matching_symmetry",
    "symmetric_action",
    "with_walls",
]

u64 = np.uint64


class ExactPolicy(NamedTuple):
    """Plays the move of the highest exact value, the first of equal ones."""

    space: Space
    keys: Keys
    values: Values
    offsets: NDArray[np.int64]  # where a layer begins, by half the sum of its tiles
    q_values: NDArray[np.float64]  # float64[4]: -inf for an illegal move, NaN where the table lacks the afterstate


def make_exact_policy(space: Space, keys: Keys, values: Values, offsets: NDArray[np.int64]) -> ExactPolicy:
    """Return the policy, with a workspace for one thread."""
    return ExactPolicy(space, keys, values, offsets, np.empty(4))


@implements(act, ExactPolicy)
def act_exactly(policy: ExactPolicy, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    """Look the afterstates up; once the goal is reached, every move is worth 1."""
    look_up(policy, state)
    return apply_action(rules, state, best_action(policy.q_values))


@inline
def look_up(policy: ExactPolicy, state: State) -> bool:
    """Fill `policy.q_values`; returns whether the walls of the table, if it has some, match the board."""
    space = policy.space
    cells, which = state.cells, 0
    if space.walls:
        which = matching_symmetry(space, state)
        cells = with_walls(space, state.cells, max(which, 0))
    begin, end = layer_of(policy, cells) if which >= 0 else (0, 0)
    is_won = space.walls == 0 and space.goal > 0 and largest_nibble(cells) >= space.goal
    for action in range(4):
        turned = symmetric_action(action, max(which, 0))
        value = move_value(space, cells, turned, policy.keys, policy.values, begin, end)
        if which < 0:
            value = np.nan
        policy.q_values[action] = 1.0 if is_won and value != -np.inf else value
    return which >= 0


@inline
def layer_of(policy: ExactPolicy, cells: Word) -> tuple[Int, Int]:
    """Where the layer of a board begins and ends; the same number twice where the table has no such layer."""
    layer = board_sum(policy.space, cells) >> 1
    if layer + 1 >= len(policy.offsets):
        return 0, 0
    return policy.offsets[layer], policy.offsets[layer + 1]


# Endgames


@inline
def matching_symmetry(space: Space, state: State) -> Int:
    """The first symmetry that brings the tiles of at least the goal to the walls, and no other; -1 if there is none."""
    large = pdep(state.extra, LOWEST_BITS)  # tiles above 32768
    for place in range(16):
        shift = u64(4 * place)
        large |= u64(((state.cells >> shift) & u64(15)) >= u64(space.goal)) << shift
    for which in range(8 if space.rows == space.columns else 4):
        if symmetric_cells(large, which, space.rows, space.columns) * u64(15) == space.walls:
            return which
    return -1


@inline
def with_walls(space: Space, cells: Word, which: Int) -> Word:
    """The symmetric board with walls in place of its large tiles."""
    return symmetric_cells(cells, which, space.rows, space.columns) | space.walls


@inline
def symmetric_action(action: Int, which: Int) -> Int:
    """The action on the symmetric board that is the same move."""
    if which & 4:
        action = 3 - action  # up and left, right and down
    if (which & 1 and action & 1) or (which & 2 and not action & 1):
        action ^= 2
    return action
