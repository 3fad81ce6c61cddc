"""Playing by exact values, in kernels."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, implements
from tilewright.exact.kernels import Keys, Space, Values, board_sum, move_value
from tilewright.games.bitboard import largest_nibble
from tilewright.games.policy import act, apply_action, best_action
from tilewright.games.rules import Rules, State
from tilewright.rng import Stream

__all__ = ["ExactPolicy", "make_exact_policy"]


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
    space = policy.space
    layer = board_sum(space, state.cells) >> 1
    begin, end = 0, 0
    if layer + 1 < len(policy.offsets):
        begin, end = policy.offsets[layer], policy.offsets[layer + 1]
    is_won = space.goal > 0 and largest_nibble(state.cells ^ space.walls) >= space.goal
    for action in range(4):
        value = move_value(space, state.cells, action, policy.keys, policy.values, begin, end)
        policy.q_values[action] = 1.0 if is_won and value != -np.inf else value
    return apply_action(rules, state, best_action(policy.q_values))
