"""Evaluators: the value of a state by its best move, without looking further ahead.

An evaluator is a NamedTuple type with a field `q_values` and the verb `evaluate_state`. The value functions of trained
networks are evaluators; so are the heuristics (see `heuristic`). Before a search, `begin_search` prepares an evaluator.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Float, implements
from tilewright.games.policy import NO_ACTION
from tilewright.games.rules import ILLEGAL, LARGEST_NIBBLE, Rules, State, downgraded_cells, slide
from tilewright.ntuple.downgrade import Downgraded, downgrade
from tilewright.ntuple.value import ActionValues, AfterstateValues, StateValues, ValueFunction, greedy_action
from tilewright.ntuple.weights import compute_indices, extra_key, lookups, sum_weights
from tilewright.search.transposition import TranspositionTable, make_transposition_table, probe, slot_of, store

__all__ = [
    "CachedAfterstateValues",
    "Evaluator",
    "begin_search",
    "evaluate_state",
    "make_evaluator",
    "need_no_preparation",
]

u64 = np.uint64
LEAF = u64(1)  # how the states of the cache are searched: not at all
CACHE_MEGABYTES = 0.12  # what does not fit the second-level cache is slower than summing the weights again
LOWEST = np.float32(-np.inf)
Evaluator: TypeAlias = Any  # a NamedTuple type that implements `evaluate_state`


def evaluate_state(evaluator: Evaluator, rules: Rules, state: State) -> Float:
    """Return the expected further score of a state (float32), 0 when the game is over.

    The values of the four moves are left in `evaluator.q_values`, -inf where a move is illegal.
    """
    raise TypeError("evaluate_state is a verb for kernels")


def begin_search(evaluator: Evaluator, rules: Rules, state: State) -> None:
    """Prepare the evaluator for a search from `state`."""
    raise TypeError("begin_search is a verb for kernels")


@implements(evaluate_state, AfterstateValues, StateValues, ActionValues)
def evaluate_by_network(evaluator: ValueFunction, rules: Rules, state: State) -> Float:
    """Return the value of the greedy move."""
    action = greedy_action(evaluator, rules, state).action
    return np.float32(0) if action == NO_ACTION else evaluator.q_values[action]


@implements(evaluate_state, Downgraded)
def evaluate_downgraded(evaluator: Downgraded, rules: Rules, state: State) -> Float:
    """Return the value of the downgraded board."""
    return evaluate_state(evaluator.policy, rules, downgrade(evaluator.downgrading, rules, state))


class CachedAfterstateValues(NamedTuple):
    """Afterstate values with a cache.

    A search meets the same afterstate again and again: a new tile on any empty cell of a line slides to the same place.
    """

    values: AfterstateValues
    cache: TranspositionTable
    keys: NDArray[np.uint64]  # uint64[4, 2]: what the network reads of the afterstate of each action
    q_values: NDArray[np.float32]


def make_evaluator(value_function: ValueFunction) -> Evaluator:
    """Return what a search evaluates states by; the workspace is that of the value function."""
    if not isinstance(value_function, AfterstateValues):
        return value_function
    cache = make_transposition_table(CACHE_MEGABYTES)
    return CachedAfterstateValues(value_function, cache, np.empty((4, 2), np.uint64), value_function.q_values)


@implements(evaluate_state, CachedAfterstateValues)
def evaluate_by_cached_values(evaluator: CachedAfterstateValues, rules: Rules, state: State) -> Float:
    """Do what `greedy_action` does, but only for afterstates that are not in the cache."""
    values, cache = evaluator.values, evaluator.cache
    tables = values.tables
    n = lookups(tables)
    missing = 0  # bit a is set where action a is not in the cache
    for action in range(4):
        after, reward = slide(rules, state, action)
        values.reward[action], values.q_values[action] = reward, LOWEST
        if reward == ILLEGAL:
            continue
        key = State(downgraded_cells(rules, after, LARGEST_NIBBLE), extra_key(tables, rules, after))
        slot = slot_of(cache, key, LEAF)
        if probe(cache, slot, key, LEAF):
            values.q_values[action] = cache.values[slot] + np.float32(reward)
        else:
            evaluator.keys[action, 0], evaluator.keys[action, 1] = key.cells, key.extra
            compute_indices(tables, rules, after, values.indices, action * n)
            missing |= 1 << action
    best = LOWEST
    for action in range(4):
        if missing >> action & 1:
            value = sum_weights(tables, values.indices, action * n, u64(0))
            key = State(evaluator.keys[action, 0], evaluator.keys[action, 1])
            store(cache, slot_of(cache, key, LEAF), key, LEAF, value)
            values.q_values[action] = value + np.float32(values.reward[action])
        best = max(best, values.q_values[action])
    return np.float32(0) if best == LOWEST else best


@implements(begin_search, AfterstateValues, StateValues, ActionValues, Downgraded, CachedAfterstateValues)
def need_no_preparation(evaluator: Evaluator, rules: Rules, state: State) -> None:
    """The values of a network do not depend on where a search begins."""
