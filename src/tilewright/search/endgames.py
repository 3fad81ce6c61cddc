"""Endgame tables at play time: a policy's values corrected where the board is in a table.

An endgame table has the probability p(a) of making the next large tile behind a move a, while the larger tiles stay in
place. Where that fails, the game is as good as over; what is at stake is the value of the whole position, the highest
of the policy's values. A move that lowers the probability from the best one, p*, is charged for what it risks:

    corrected value(a) = value(a) - max value · (p* - p(a))

Moves that displace a large tile keep their value, because the table knows nothing of what follows. Boards that match no
table, and boards of which a distilled table lacks a move, are played as without tables.

The probability behind a move is the expectation over the boards that follow it. So a search whose leaves were corrected
would charge its first moves the same; correcting them here, once a move, costs next to nothing.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, implements, inline
from tilewright.exact.policy import ExactPolicy, look_up
from tilewright.games.policy import NO_ACTION, Policy, QValues, act, apply_action, best_action
from tilewright.games.rules import Rules, State
from tilewright.rng import Stream

__all__ = ["WithEndgames"]


class WithEndgames(NamedTuple):
    """A policy whose values are corrected by endgame tables; the first one that has the board counts."""

    policy: Policy
    tables: tuple[ExactPolicy, ...]
    q_values: QValues  # those of the policy, corrected in place
    corrected: NDArray[np.int64]  # int64[2]: how many boards were in a table, and how many moves that changed


@implements(act, WithEndgames)
def act_with_endgames(policy: WithEndgames, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    """Let the policy value its moves, and correct the values."""
    action, after, reward = act(policy.policy, rules, state, stream)
    if action == NO_ACTION:  # the game is over, or the search was stopped and left no values
        return action, after, reward
    for i in range(len(policy.tables)):
        table = policy.tables[i]
        if look_up(table, state) and correct(policy.q_values, table.q_values):
            better = best_action(policy.q_values)
            policy.corrected[0] += 1
            policy.corrected[1] += better != action
            return apply_action(rules, state, better)
    return action, after, reward


@inline
def correct(q_values: QValues, probabilities: NDArray[np.float64]) -> bool:
    """Charge every move for the probability that it loses; returns whether the table has all that keep the walls.

    A move that a distilled table lacks would go without a charge, and be preferred for that.
    """
    best, stake = -1.0, 0.0
    for action in range(4):
        if np.isnan(probabilities[action]):
            return False
        best = max(best, probabilities[action])  # -inf for a move that displaces a wall
        stake = max(stake, np.float64(q_values[action]))
    if best < 0:
        return False
    for action in range(4):
        if probabilities[action] >= 0:
            q_values[action] -= stake * (best - probabilities[action])
    return True
