"""Where a search ends: what a state is worth by its best move, judged without looking further.

Any type that implements the verb `judge` can be searched with: trained networks of all three kinds do so here, the
heuristic does so in its own module.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright.games.rules import ILLEGAL, Rules, State, slide, visible
from tilewright._core.jit import implements
from tilewright.ntuple.value import Actions, Afterstates, Method, States, consider
from tilewright.ntuple.weights import add_up, beside_cells, list_places, lookups
from tilewright.games.policy import OVER
from tilewright.search.transposition import Table, find, make_table, remember, slot_of

__all__ = ["Leaf", "judge", "make_leaf"]

u64 = np.uint64
KNOWN = u64(1)
REMEMBERED = 0.12  # megabytes: what does not fit the second-level cache is slower than adding up again
LOWEST = np.float32(-np.inf)
Leaf: TypeAlias = Any  # has a field `worth`, float32[4], that `judge` fills


def judge(leaf: Leaf, rules: Rules, state: State) -> Any:
    """The points still to be won from a state (float32), 0 when the game is over; each move's are left in `leaf.worth`,
    -inf where a move is not legal."""
    raise TypeError("judge is a verb for kernels")


@implements(judge, Afterstates)
def judge_by_afterstates(leaf: Afterstates, rules: Rules, state: State) -> Any:
    action = consider(leaf, rules, state).action
    return np.float32(0) if action == OVER else leaf.worth[action]


class RememberedAfterstates(NamedTuple):
    """Afterstates whose values are remembered.

    A search meets the same afterstate again and again: a new tile on any empty cell of a line slides to the same place.
    """

    method: Afterstates
    table: Table
    keys: NDArray[np.uint64]  # uint64[4, 2]: of each action's afterstate, what the network sees of it
    worth: NDArray[np.float32]


def make_leaf(method: Method) -> Leaf:
    """What a search with a trained network judges by, with room of its own: one for every thread."""
    if not isinstance(method, Afterstates):
        return method
    return RememberedAfterstates(method, make_table(REMEMBERED), np.empty((4, 2), np.uint64), method.worth)


@implements(judge, RememberedAfterstates)
def judge_by_remembered_afterstates(leaf: RememberedAfterstates, rules: Rules, state: State) -> Any:
    """As `consider` does: first list the places of what is not known, then add up."""
    method, table = leaf.method, leaf.table
    tables = method.tables
    n = lookups(tables)
    unknown = 0
    for action in range(4):
        after, reward = slide(rules, state, action)
        method.reward[action], method.worth[action] = reward, LOWEST
        if reward == ILLEGAL:
            continue
        key = State(visible(rules, after, tables.largest_code), beside_cells(tables, rules, after))
        slot = slot_of(table, key, KNOWN)
        if find(table, slot, key, KNOWN):
            method.worth[action] = table.values[slot] + np.float32(reward)
        else:
            leaf.keys[action, 0], leaf.keys[action, 1] = key.cells, key.extra
            list_places(tables, rules, after, method.places, action * n)
            unknown |= 1 << action
    best = LOWEST
    for action in range(4):
        if unknown >> action & 1:
            value = add_up(tables, method.places, action * n, u64(0))
            key = State(leaf.keys[action, 0], leaf.keys[action, 1])
            remember(table, slot_of(table, key, KNOWN), key, KNOWN, value)
            method.worth[action] = value + np.float32(method.reward[action])
        best = max(best, method.worth[action])
    return np.float32(0) if best == LOWEST else best


@implements(judge, States)
def judge_by_states(leaf: States, rules: Rules, state: State) -> Any:
    action = consider(leaf, rules, state).action
    return np.float32(0) if action == OVER else leaf.worth[action]


@implements(judge, Actions)
def judge_by_actions(leaf: Actions, rules: Rules, state: State) -> Any:
    action = consider(leaf, rules, state).action
    return np.float32(0) if action == OVER else leaf.worth[action]
