"""Endgame tables at play time: values corrected where the board is in a table.

An endgame table has the probability p(a) of making the next large tile behind a move a, while the larger tiles stay in
place. Where that fails, the game is as good as over; what is at stake is the value of the whole position, V. A move
that lowers the probability from that of the best one, p*, is charged for what it risks:

    corrected value(a) = value(a) - V · (p* - p(a))

Moves that displace a large tile keep their value, because the table knows nothing of what follows. Boards that match no
table are played as without tables.

A search corrects the values of its leaves: V and p* are those of the board at its root, and one table serves the whole
search. A leaf that has made the tile has p = 1; one whose large tiles have moved keeps its value. Probabilities of a
table are expectations over what follows, so with two plies this is the correction of the moves at the root; with more,
the moves in between are chosen by corrected values, too.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Float, Int, implements, inline
from tilewright.exact.policy import ExactPolicy, has_made_goal, look_up
from tilewright.games.policy import Policy, act, apply_action, best_action
from tilewright.games.rules import Rules, State
from tilewright.ntuple.downgrade import Downgrading, downgrade
from tilewright.rng import Stream
from tilewright.search.evaluator import Evaluator, evaluate_state
from tilewright.search.searcher import Searcher
from tilewright.search.transposition import TranspositionTable, clear

__all__ = ["EndgameLeaves", "EndgameSearch", "WithEndgames"]

LOWEST = np.float32(-np.inf)


class WithEndgames(NamedTuple):
    """A policy whose values are corrected by endgame tables; the first one that has the board counts."""

    policy: Policy
    tables: tuple[ExactPolicy, ...]
    q_values: NDArray[Any]  # those of the policy, corrected in place
    corrected: NDArray[np.int64]  # int64[2]: how many boards were in a table, and how many moves that changed


@implements(act, WithEndgames)
def act_with_endgames(policy: WithEndgames, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    """Let the policy value its moves, and correct the values."""
    action, after, reward = act(policy.policy, rules, state, stream)
    for i in range(len(policy.tables)):
        table = policy.tables[i]
        best = best_probability(table, state)
        if best >= 0:
            stake = 0.0
            for move in range(4):
                stake = max(stake, np.float64(policy.q_values[move]))
            charge(policy.q_values, table.q_values, stake, best)
            better = best_action(policy.q_values)
            policy.corrected[0] += 1
            policy.corrected[1] += better != action
            return apply_action(rules, state, better)
    return action, after, reward


@inline
def best_probability(table: ExactPolicy, state: State) -> Float:
    """Look a board up; returns the probability of the best move, -1 unless the table has all that keep the walls."""
    best = -1.0
    if look_up(table, state):
        for action in range(4):
            if np.isnan(table.q_values[action]):
                return -1.0
            best = max(best, table.q_values[action])
    return best


@inline
def charge(q_values: NDArray[Any], probabilities: NDArray[np.float64], stake: Float, best: Float) -> None:
    """Charge every move that the table has for the probability that it loses against the best one."""
    for action in range(4):
        if probabilities[action] >= 0:
            q_values[action] -= stake * (best - probabilities[action])


# Search


class EndgameLeaves(NamedTuple):
    """An evaluator whose values are corrected by one table, that of the board at the root of the search."""

    evaluator: Evaluator
    tables: tuple[ExactPolicy, ...]
    root_table: NDArray[np.int64]  # int64[1]: which of them
    root: NDArray[np.float64]  # float64[2]: the value of the board at the root, and its probability
    q_values: NDArray[np.float32]  # those of the evaluator, corrected in place


@implements(evaluate_state, EndgameLeaves)
def evaluate_with_endgames(leaves: EndgameLeaves, rules: Rules, state: State) -> Float:
    """Correct the values of the moves; a finished game keeps its value of 0."""
    evaluate_state(leaves.evaluator, rules, state)
    table, stake, best = leaves.tables[leaves.root_table[0]], leaves.root[0], leaves.root[1]
    if best_probability(table, state) >= 0:
        charge(leaves.q_values, table.q_values, stake, best)
    elif has_made_goal(table.space, state):
        for action in range(4):
            leaves.q_values[action] += np.float32(stake * (1 - best))
    highest = LOWEST
    for action in range(4):
        highest = max(highest, leaves.q_values[action])
    return np.float32(0) if highest == LOWEST else highest


class EndgameSearch(NamedTuple):
    """A search whose leaves are corrected where the board is in a table; other boards are left to the policy."""

    policy: Policy  # the same search without tables
    searcher: Searcher  # shares the workspace of the policy, so that there is one status and one control
    leaves: EndgameLeaves  # the evaluator of the searcher
    transpositions: TranspositionTable  # of the searcher: what it holds depends on the board at the root
    downgrading: Downgrading
    corrected: NDArray[np.int64]  # int64[1]: how many boards were in a table


@implements(act, EndgameSearch)
def act_by_endgame_search(policy: EndgameSearch, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    """Search with the first table that has the board; the network sees it downgraded, and so do the tables."""
    seen, leaves = downgrade(policy.downgrading, rules, state), policy.leaves
    for i in range(len(leaves.tables)):
        best = best_probability(leaves.tables[i], seen)
        if best >= 0:
            leaves.root_table[0], leaves.root[1] = i, best
            leaves.root[0] = np.float64(evaluate_state(leaves.evaluator, rules, seen))
            clear(policy.transpositions)
            policy.corrected[0] += 1
            action, _, _ = act(policy.searcher, rules, seen, stream)
            return apply_action(rules, state, action)
    return act(policy.policy, rules, state, stream)
