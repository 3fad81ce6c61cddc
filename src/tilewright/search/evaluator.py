"""Where a search ends: what a state is worth by its best move, judged without looking further.

Any type that implements the verb `evaluate_state` can be searched with: trained networks of all three kinds do so here, the
heuristic does so in its own module.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import implements
from tilewright.games.policy import NO_ACTION
from tilewright.games.rules import ILLEGAL, Rules, State, downgraded_cells, slide
from tilewright.ntuple.value import ActionValues, AfterstateValues, StateValues, ValueFunction, greedy_action
from tilewright.ntuple.weights import compute_indices, extra_key, lookups, sum_weights
from tilewright.search.transposition import TranspositionTable, make_transposition_table, probe, slot_of, store

__all__ = ["Evaluator", "evaluate_state", "make_evaluator"]

u64 = np.uint64
KNOWN = u64(1)
REMEMBERED = 0.12  # megabytes: what does not fit the second-level cache is slower than adding up again
LOWEST = np.float32(-np.inf)
Evaluator: TypeAlias = Any  # has a field `q_values`, float32[4], that `evaluate_state` fills


def evaluate_state(evaluator: Evaluator, rules: Rules, state: State) -> Any:
    """The points still to be won from a state (float32), 0 when the game is over; each move's are left in `evaluator.q_values`,
    -inf where a move is not legal."""
    raise TypeError("judge is a verb for kernels")


@implements(evaluate_state, AfterstateValues)
def judge_by_afterstates(evaluator: AfterstateValues, rules: Rules, state: State) -> Any:
    action = greedy_action(evaluator, rules, state).action
    return np.float32(0) if action == NO_ACTION else evaluator.q_values[action]


class CachedAfterstateValues(NamedTuple):
    """Afterstates whose values are remembered.

    A search meets the same afterstate again and again: a new tile on any empty cell of a line slides to the same place.
    """

    value_function: AfterstateValues
    table: TranspositionTable
    keys: NDArray[np.uint64]  # uint64[4, 2]: of each action's afterstate, what the network sees of it
    q_values: NDArray[np.float32]


def make_evaluator(value_function: ValueFunction) -> Evaluator:
    """What a search with a trained network judges by, with room of its own: one for every thread."""
    if not isinstance(value_function, AfterstateValues):
        return value_function
    return CachedAfterstateValues(
        value_function, make_transposition_table(REMEMBERED), np.empty((4, 2), np.uint64), value_function.q_values
    )


@implements(evaluate_state, CachedAfterstateValues)
def judge_by_remembered_afterstates(evaluator: CachedAfterstateValues, rules: Rules, state: State) -> Any:
    """As `greedy_action` does: first list the places of what is not known, then add up."""
    value_function, table = evaluator.value_function, evaluator.table
    tables = value_function.tables
    n = lookups(tables)
    unknown = 0
    for action in range(4):
        after, reward = slide(rules, state, action)
        value_function.reward[action], value_function.q_values[action] = reward, LOWEST
        if reward == ILLEGAL:
            continue
        key = State(downgraded_cells(rules, after, tables.largest_code), extra_key(tables, rules, after))
        slot = slot_of(table, key, KNOWN)
        if probe(table, slot, key, KNOWN):
            value_function.q_values[action] = table.values[slot] + np.float32(reward)
        else:
            evaluator.keys[action, 0], evaluator.keys[action, 1] = key.cells, key.extra
            compute_indices(tables, rules, after, value_function.indices, action * n)
            unknown |= 1 << action
    best = LOWEST
    for action in range(4):
        if unknown >> action & 1:
            value = sum_weights(tables, value_function.indices, action * n, u64(0))
            key = State(evaluator.keys[action, 0], evaluator.keys[action, 1])
            store(table, slot_of(table, key, KNOWN), key, KNOWN, value)
            value_function.q_values[action] = value + np.float32(value_function.reward[action])
        best = max(best, value_function.q_values[action])
    return np.float32(0) if best == LOWEST else best


@implements(evaluate_state, StateValues)
def judge_by_states(evaluator: StateValues, rules: Rules, state: State) -> Any:
    action = greedy_action(evaluator, rules, state).action
    return np.float32(0) if action == NO_ACTION else evaluator.q_values[action]


@implements(evaluate_state, ActionValues)
def judge_by_actions(evaluator: ActionValues, rules: Rules, state: State) -> Any:
    action = greedy_action(evaluator, rules, state).action
    return np.float32(0) if action == NO_ACTION else evaluator.q_values[action]
