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

from tilewright._core.jit import Int, Word, implements, inline
from tilewright.games.policy import NO_ACTION
from tilewright.games.rules import ILLEGAL, Outcomes, Rules, State, outcomes, slide
from tilewright.games.state_kernels import make_outcomes
from tilewright.ntuple.weights import Indices, WeightTables, compute_indices, lookups, state_value, sum_weights

__all__ = [
    "ActionValues",
    "AfterstateValues",
    "Candidate",
    "StateValues",
    "ValueFunction",
    "evaluate_action",
    "greedy_action",
    "make_value_function",
    "reward_on_entry",
]

u64 = np.uint64
ZERO = u64(0)
LOWEST = np.float32(-np.inf)
ValueFunction: TypeAlias = Any  # Afterstates, States or Actions


class AfterstateValues(NamedTuple):
    tables: WeightTables
    indices: Indices  # room for four boards
    after: NDArray[np.uint64]  # uint64[4, 2]: the afterstate of each action
    reward: NDArray[np.int64]  # int64[4]
    q_values: NDArray[np.float32]  # float32[4]: filled by `greedy_action`, -inf where a move is not legal


class StateValues(NamedTuple):
    tables: WeightTables
    indices: Indices  # room for two boards
    chances: Outcomes
    q_values: NDArray[np.float32]


class ActionValues(NamedTuple):
    tables: WeightTables  # of four networks of equal size, one an action
    indices: Indices  # room for one board
    q_values: NDArray[np.float32]


def make_value_function(name: str, tables: WeightTables, lookups: int) -> ValueFunction:
    """A method by its name, with room of its own: one for every thread."""

    def indices(boards: int) -> Indices:
        return np.empty(boards * lookups, np.uint32)

    q_values = np.empty(4, np.float32)
    if name == "afterstate":
        return AfterstateValues(tables, indices(4), np.empty((4, 2), np.uint64), np.empty(4, np.int64), q_values)
    if name == "state":
        return StateValues(tables, indices(2), make_outcomes(), q_values)
    return ActionValues(tables, indices(1), q_values)


class Candidate(NamedTuple):
    """A move, and what it stands on."""

    action: Int
    after: State
    reward: Int
    target_state: State  # what the move stands on
    value: Any  # the value of that
    first: Int  # where the places of its weights begin
    offset: Word  # how much further the weights are than the places say


def greedy_action(value_function: ValueFunction, rules: Rules, state: State) -> Candidate:
    """The best move; its action is OVER where none is legal."""
    raise TypeError("consider is a verb for kernels")


def evaluate_action(value_function: ValueFunction, rules: Rules, state: State, action: Int) -> Candidate:
    """A given legal move of the state that was just considered."""
    raise TypeError("stand is a verb for kernels")


def reward_on_entry(value_function: ValueFunction) -> bool:
    """Whether a move's reward is earned before what it stands on."""
    raise TypeError("reward_comes_first is a verb for kernels")


@inline
def _nothing(state: State) -> Candidate:
    return Candidate(NO_ACTION, state, 0, state, np.float32(0), 0, ZERO)


# Afterstates


@implements(greedy_action, AfterstateValues)
def consider_afterstates(value_function: AfterstateValues, rules: Rules, state: State) -> Candidate:
    """First list the places of all four afterstates, then add up: the weights are fetched meanwhile."""
    n = lookups(value_function.tables)
    for action in range(4):
        after, reward = slide(rules, state, action)
        value_function.reward[action], value_function.q_values[action] = reward, LOWEST
        if reward != ILLEGAL:
            value_function.after[action, 0], value_function.after[action, 1] = after.cells, after.extra
            compute_indices(value_function.tables, rules, after, value_function.indices, action * n)
    best, best_sum, best_value = NO_ACTION, LOWEST, np.float32(0)
    for action in range(4):
        if value_function.reward[action] != ILLEGAL:
            value = sum_weights(value_function.tables, value_function.indices, action * n, ZERO)
            total = value + np.float32(value_function.reward[action])
            value_function.q_values[action] = total
            if total > best_sum:
                best, best_sum, best_value = action, total, value
    if best == NO_ACTION:
        return _nothing(state)
    after = State(value_function.after[best, 0], value_function.after[best, 1])
    return Candidate(best, after, value_function.reward[best], after, best_value, best * n, ZERO)


@implements(evaluate_action, AfterstateValues)
def stand_on_afterstate(value_function: AfterstateValues, rules: Rules, state: State, action: Int) -> Candidate:
    first = action * lookups(value_function.tables)
    after = State(value_function.after[action, 0], value_function.after[action, 1])
    value = sum_weights(value_function.tables, value_function.indices, first, ZERO)
    return Candidate(action, after, value_function.reward[action], after, value, first, ZERO)


@implements(reward_on_entry, AfterstateValues)
def _afterstates_come_after_the_reward(value_function: AfterstateValues) -> bool:
    return True


# States


@implements(greedy_action, StateValues)
def consider_states(value_function: StateValues, rules: Rules, state: State) -> Candidate:
    n = lookups(value_function.tables)
    best, best_sum = NO_ACTION, LOWEST
    for action in range(4):
        after, reward = slide(rules, state, action)
        value_function.q_values[action] = LOWEST
        if reward == ILLEGAL:
            continue
        total = np.float32(reward)
        for i in range(outcomes(rules, after, value_function.chances)):
            chance = value_function.chances
            following = State(chance.cells[i], chance.extra[i])
            value = state_value(value_function.tables, rules, following, value_function.indices, n)
            total += np.float32(chance.probability[i]) * (value + np.float32(chance.reward[i]))
        value_function.q_values[action] = total
        if total > best_sum:
            best, best_sum = action, total
    if best == NO_ACTION:
        return _nothing(state)
    return evaluate_action(value_function, rules, state, best)


@implements(evaluate_action, StateValues)
def stand_on_state(value_function: StateValues, rules: Rules, state: State, action: Int) -> Candidate:
    after, reward = slide(rules, state, action)
    value = state_value(value_function.tables, rules, state, value_function.indices, 0)
    return Candidate(action, after, reward, state, value, 0, ZERO)


@implements(reward_on_entry, StateValues)
def _states_come_before_the_reward(value_function: StateValues) -> bool:
    return False


# Actions


@implements(greedy_action, ActionValues)
def consider_actions(value_function: ActionValues, rules: Rules, state: State) -> Candidate:
    compute_indices(value_function.tables, rules, state, value_function.indices, 0)
    best, best_value = NO_ACTION, LOWEST
    for action in range(4):
        value_function.q_values[action] = LOWEST
        if slide(rules, state, action)[1] != ILLEGAL:
            value = sum_weights(value_function.tables, value_function.indices, 0, _shift_of(value_function, action))
            value_function.q_values[action] = value
            if value > best_value:
                best, best_value = action, value
    if best == NO_ACTION:
        return _nothing(state)
    return evaluate_action(value_function, rules, state, best)


@inline
def _shift_of(value_function: ActionValues, action: Int) -> Word:
    return u64(action) * u64(len(value_function.tables.weights) // 4)


@implements(evaluate_action, ActionValues)
def stand_on_action(value_function: ActionValues, rules: Rules, state: State, action: Int) -> Candidate:
    after, reward = slide(rules, state, action)
    offset = _shift_of(value_function, action)
    return Candidate(
        action, after, reward, state, sum_weights(value_function.tables, value_function.indices, 0, offset), 0, offset
    )


@implements(reward_on_entry, ActionValues)
def _actions_come_before_the_reward(value_function: ActionValues) -> bool:
    return False
