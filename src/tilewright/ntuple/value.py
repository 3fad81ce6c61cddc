"""What is valued: afterstates, states or actions (Szubert & Jaśkowski 2014, figures 4 to 6).

A method looks at a state, values its moves, and says what a move *stands on*: the thing whose value is learned, a state
or afterstate and the places of its weights. One learning loop then serves all three:

                 a move stands on           a move's value                    its reward comes
    Afterstates  the afterstate             reward + V(afterstate)            before that
    States       the state                  reward + Σ P(next) · V(next)      after that
    Actions      the state, for the action  Q(state, action)                  after that
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright.games.state_kernels import make_outcomes
from tilewright.games.rules import ILLEGAL, Outcomes, Rules, State, outcomes, slide
from tilewright._core.jit import Int, Word, implements, inline
from tilewright.ntuple.weights import Places, Tables, add_up, estimate, list_places, lookups
from tilewright.games.policy import OVER

__all__ = [
    "Actions",
    "Afterstates",
    "Look",
    "Method",
    "States",
    "consider",
    "make_method",
    "reward_comes_first",
    "stand",
]

u64 = np.uint64
ZERO = u64(0)
LOWEST = np.float32(-np.inf)
Method: TypeAlias = Any  # Afterstates, States or Actions


class Afterstates(NamedTuple):
    tables: Tables
    places: Places  # room for four boards
    after: NDArray[np.uint64]  # uint64[4, 2]: the afterstate of each action
    reward: NDArray[np.int64]  # int64[4]
    worth: NDArray[np.float32]  # float32[4]: filled by `consider`, -inf where a move is not legal


class States(NamedTuple):
    tables: Tables
    places: Places  # room for two boards
    chances: Outcomes
    worth: NDArray[np.float32]


class Actions(NamedTuple):
    tables: Tables  # of four networks of equal size, one an action
    places: Places  # room for one board
    worth: NDArray[np.float32]


def make_method(name: str, tables: Tables, lookups: int) -> Method:
    """A method by its name, with room of its own: one for every thread."""

    def places(boards: int) -> Places:
        return np.empty(boards * lookups, np.uint32)

    worth = np.empty(4, np.float32)
    if name == "afterstate":
        return Afterstates(tables, places(4), np.empty((4, 2), np.uint64), np.empty(4, np.int64), worth)
    if name == "state":
        return States(tables, places(2), make_outcomes(), worth)
    return Actions(tables, places(1), worth)


class Look(NamedTuple):
    """A move, and what it stands on."""

    action: Int
    after: State
    reward: Int
    ground: State  # what the move stands on
    value: Any  # the value of that
    first: Int  # where the places of its weights begin
    shift: Word  # how much further the weights are than the places say


def consider(method: Method, rules: Rules, state: State) -> Look:
    """The best move; its action is OVER where none is legal."""
    raise TypeError("consider is a verb for kernels")


def stand(method: Method, rules: Rules, state: State, action: Int) -> Look:
    """A given legal move of the state that was just considered."""
    raise TypeError("stand is a verb for kernels")


def reward_comes_first(method: Method) -> bool:
    """Whether a move's reward is earned before what it stands on."""
    raise TypeError("reward_comes_first is a verb for kernels")


@inline
def _nothing(state: State) -> Look:
    return Look(OVER, state, 0, state, np.float32(0), 0, ZERO)


# Afterstates


@implements(consider, Afterstates)
def consider_afterstates(method: Afterstates, rules: Rules, state: State) -> Look:
    """First list the places of all four afterstates, then add up: the weights are fetched meanwhile."""
    n = lookups(method.tables)
    for action in range(4):
        after, reward = slide(rules, state, action)
        method.reward[action], method.worth[action] = reward, LOWEST
        if reward != ILLEGAL:
            method.after[action, 0], method.after[action, 1] = after.cells, after.extra
            list_places(method.tables, rules, after, method.places, action * n)
    best, best_sum, best_value = OVER, LOWEST, np.float32(0)
    for action in range(4):
        if method.reward[action] != ILLEGAL:
            value = add_up(method.tables, method.places, action * n, ZERO)
            total = value + np.float32(method.reward[action])
            method.worth[action] = total
            if total > best_sum:
                best, best_sum, best_value = action, total, value
    if best == OVER:
        return _nothing(state)
    after = State(method.after[best, 0], method.after[best, 1])
    return Look(best, after, method.reward[best], after, best_value, best * n, ZERO)


@implements(stand, Afterstates)
def stand_on_afterstate(method: Afterstates, rules: Rules, state: State, action: Int) -> Look:
    first = action * lookups(method.tables)
    after = State(method.after[action, 0], method.after[action, 1])
    value = add_up(method.tables, method.places, first, ZERO)
    return Look(action, after, method.reward[action], after, value, first, ZERO)


@implements(reward_comes_first, Afterstates)
def _afterstates_come_after_the_reward(method: Afterstates) -> bool:
    return True


# States


@implements(consider, States)
def consider_states(method: States, rules: Rules, state: State) -> Look:
    n = lookups(method.tables)
    best, best_sum = OVER, LOWEST
    for action in range(4):
        after, reward = slide(rules, state, action)
        method.worth[action] = LOWEST
        if reward == ILLEGAL:
            continue
        total = np.float32(reward)
        for i in range(outcomes(rules, after, method.chances)):
            chance = method.chances
            following = State(chance.cells[i], chance.extra[i])
            value = estimate(method.tables, rules, following, method.places, n)
            total += np.float32(chance.probability[i]) * (value + np.float32(chance.reward[i]))
        method.worth[action] = total
        if total > best_sum:
            best, best_sum = action, total
    if best == OVER:
        return _nothing(state)
    return stand(method, rules, state, best)


@implements(stand, States)
def stand_on_state(method: States, rules: Rules, state: State, action: Int) -> Look:
    after, reward = slide(rules, state, action)
    value = estimate(method.tables, rules, state, method.places, 0)
    return Look(action, after, reward, state, value, 0, ZERO)


@implements(reward_comes_first, States)
def _states_come_before_the_reward(method: States) -> bool:
    return False


# Actions


@implements(consider, Actions)
def consider_actions(method: Actions, rules: Rules, state: State) -> Look:
    list_places(method.tables, rules, state, method.places, 0)
    best, best_value = OVER, LOWEST
    for action in range(4):
        method.worth[action] = LOWEST
        if slide(rules, state, action)[1] != ILLEGAL:
            value = add_up(method.tables, method.places, 0, _shift_of(method, action))
            method.worth[action] = value
            if value > best_value:
                best, best_value = action, value
    if best == OVER:
        return _nothing(state)
    return stand(method, rules, state, best)


@inline
def _shift_of(method: Actions, action: Int) -> Word:
    return u64(action) * u64(len(method.tables.weights) // 4)


@implements(stand, Actions)
def stand_on_action(method: Actions, rules: Rules, state: State, action: Int) -> Look:
    after, reward = slide(rules, state, action)
    shift = _shift_of(method, action)
    return Look(action, after, reward, state, add_up(method.tables, method.places, 0, shift), 0, shift)


@implements(reward_comes_first, Actions)
def _actions_come_before_the_reward(method: Actions) -> bool:
    return False
