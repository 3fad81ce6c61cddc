"""Where a search ends: what a state is worth by its best move, judged without looking further.

Any type that implements the verb `judge` can be searched with: the three learning methods (a trained network) do so
here, the heuristic does so in its own module.
"""

from typing import Any, TypeAlias

import numpy as np

from tilewright.games.rules import Rules, State
from tilewright.jit import implements
from tilewright.learning.methods import Actions, Afterstates, States, consider
from tilewright.playing import OVER

__all__ = ["Leaf", "judge"]

Leaf: TypeAlias = Any  # has a field `worth`, float32[4], that `judge` fills


def judge(leaf: Leaf, rules: Rules, state: State) -> Any:
    """The points still to be won from a state (float32), 0 when the game is over; each move's are left in `leaf.worth`,
    -inf where a move is not legal."""
    raise TypeError("judge is a verb for kernels")


@implements(judge, Afterstates)
def judge_by_afterstates(leaf: Afterstates, rules: Rules, state: State) -> Any:
    action = consider(leaf, rules, state).action
    return np.float32(0) if action == OVER else leaf.worth[action]


@implements(judge, States)
def judge_by_states(leaf: States, rules: Rules, state: State) -> Any:
    action = consider(leaf, rules, state).action
    return np.float32(0) if action == OVER else leaf.worth[action]


@implements(judge, Actions)
def judge_by_actions(leaf: Actions, rules: Rules, state: State) -> Any:
    action = consider(leaf, rules, state).action
    return np.float32(0) if action == OVER else leaf.worth[action]
