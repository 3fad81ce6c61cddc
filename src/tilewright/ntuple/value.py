"""Value functions: networks of afterstate values, state values or action values (Szubert & Jaśkowski 2014, Figs. 4-6).

A value function values the moves of a state, and tells for each move its *target state*: the state or afterstate whose
value an update changes. One learning loop then serves all three.

                     target state of a move     value of a move                   reward received
    AfterstateValues the afterstate             reward + V(afterstate)            on entering the target state
    StateValues      the state                  reward + Σ P(next) · V(next)      on leaving it
    ActionValues     the state, per action      Q(state, action)                  on leaving it

Every value function is also a policy: it plays the move of the highest value.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Float, Int, Word, implements, inline
from tilewright.games.bitboard import empty_cells
from tilewright.games.policy import NO_ACTION, act
from tilewright.games.rules import (
    ILLEGAL,
    LARGEST_NIBBLE,
    Outcomes,
    Rules,
    State,
    downgraded_cells,
    make_outcomes,
    outcomes,
    slide,
)
from tilewright.ntuple.weights import Indices, WeightTables, compute_indices, lookups, state_value, sum_weights
from tilewright.rng import Stream

__all__ = [
    "ActionValues",
    "AfterstateValues",
    "Candidate",
    "StateValues",
    "ValueFunction",
    "action_offset",
    "evaluate_action",
    "greedy_action",
    "make_value_function",
    "reward_on_entry",
]

u64 = np.uint64
ZERO = u64(0)
LOWEST = np.float32(-np.inf)


class AfterstateValues(NamedTuple):
    """V(afterstate), with the workspace of one thread."""

    tables: WeightTables
    indices: Indices  # uint32[4 * lookups]
    after: NDArray[np.uint64]  # uint64[4, 2]: the afterstate of each action
    reward: NDArray[np.int64]  # int64[4]
    q_values: NDArray[np.float32]  # float32[4]: filled by `greedy_action`, -inf where a move is illegal


class StateValues(NamedTuple):
    """V(state), with the workspace of one thread."""

    tables: WeightTables
    indices: Indices  # uint32[2 * lookups]
    outcomes: Outcomes
    q_values: NDArray[np.float32]
    ends_are_zero: bool  # whether boards without a legal move are worth 0, and not what the network says


class ActionValues(NamedTuple):
    """Q(state, action), with the workspace of one thread."""

    tables: WeightTables  # of four networks of equal size, one per action
    indices: Indices  # uint32[lookups]
    q_values: NDArray[np.float32]


ValueFunction: TypeAlias = AfterstateValues | StateValues | ActionValues


def make_value_function(name: str, tables: WeightTables, lookups: int, *, ends_are_zero: bool = False) -> ValueFunction:
    """Return a value function with a workspace for one thread.

    Args:
        name: `afterstate`, `state` or `action`.
        tables: The weights.
        lookups: The number of weights that add up to one value.
        ends_are_zero: State values: whether a move is valued with 0 for boards on which the game is over. No update
            ever changes the value of such a board, so that a network has nothing to say about it. Learning reads the
            network, as Szubert and Jaśkowski do; playing does not.
    """

    def indices(boards: int) -> Indices:
        return np.empty(boards * lookups, np.uint32)

    q_values = np.empty(4, np.float32)
    if name == "afterstate":
        return AfterstateValues(tables, indices(4), np.empty((4, 2), np.uint64), np.empty(4, np.int64), q_values)
    if name == "state":
        return StateValues(tables, indices(2), make_outcomes(), q_values, ends_are_zero)
    return ActionValues(tables, indices(1), q_values)


class Candidate(NamedTuple):
    """A move with its target state, and where the weights of that are."""

    action: Int
    after: State
    reward: Int
    target_state: State
    value: Float  # float32: the value of the target state
    first: Int  # the position of its first index in `indices` of the value function
    offset: Word  # added to every index


def greedy_action(value_function: ValueFunction, rules: Rules, state: State) -> Candidate:
    """Return the move of the highest value and fill `q_values`; its action is NO_ACTION where no move is legal."""
    raise TypeError("greedy_action is a verb for kernels")


def evaluate_action(value_function: ValueFunction, rules: Rules, state: State, action: Int) -> Candidate:
    """Return a given legal move of the state that `greedy_action` was called with last."""
    raise TypeError("evaluate_action is a verb for kernels")


def reward_on_entry(value_function: ValueFunction) -> bool:
    """Tell whether the reward is received on entering the target state.

    If so, the reward of a move belongs to the update target of the move before.
    """
    raise TypeError("reward_on_entry is a verb for kernels")


def action_offset(value_function: ValueFunction, action: Int) -> Word:
    """Return what is added to every index for the weights of an action."""
    raise TypeError("action_offset is a verb for kernels")


@inline
def _no_candidate(state: State) -> Candidate:
    return Candidate(NO_ACTION, state, 0, state, np.float32(0), 0, ZERO)


@implements(act, AfterstateValues, StateValues, ActionValues)
def act_greedily(value_function: ValueFunction, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    """Play the move of the highest value."""
    best = greedy_action(value_function, rules, state)
    return best.action, best.after, best.reward


@implements(action_offset, AfterstateValues, StateValues)
def no_offset(values: AfterstateValues | StateValues, action: Int) -> Word:
    """Return zero: all actions share the weights."""
    return ZERO


@implements(reward_on_entry, AfterstateValues)
def afterstates_follow_the_reward(values: AfterstateValues) -> bool:
    """Return true: the reward is received before the afterstate is entered."""
    return True


@implements(reward_on_entry, StateValues, ActionValues)
def states_precede_the_reward(values: StateValues | ActionValues) -> bool:
    """Return false: the reward is received after the state is left."""
    return False


# Afterstate values


@implements(greedy_action, AfterstateValues)
def greedy_afterstate_action(values: AfterstateValues, rules: Rules, state: State) -> Candidate:
    """Compute the indices of all four afterstates, then sum the weights: they are prefetched meanwhile."""
    n = lookups(values.tables)
    for action in range(4):
        after, reward = slide(rules, state, action)
        values.reward[action], values.q_values[action] = reward, LOWEST
        if reward != ILLEGAL:
            values.after[action, 0], values.after[action, 1] = after.cells, after.extra
            compute_indices(values.tables, rules, after, values.indices, action * n)
    best, best_q, best_value = NO_ACTION, LOWEST, np.float32(0)
    for action in range(4):
        if values.reward[action] != ILLEGAL:
            value = sum_weights(values.tables, values.indices, action * n, ZERO)
            q = value + np.float32(values.reward[action])
            values.q_values[action] = q
            if q > best_q:
                best, best_q, best_value = action, q, value
    if best == NO_ACTION:
        return _no_candidate(state)
    after = State(values.after[best, 0], values.after[best, 1])
    return Candidate(best, after, values.reward[best], after, best_value, best * n, ZERO)


@implements(evaluate_action, AfterstateValues)
def evaluate_afterstate_action(values: AfterstateValues, rules: Rules, state: State, action: Int) -> Candidate:
    """Sum the weights of the action's afterstate again; its indices are still there."""
    first = action * lookups(values.tables)
    after = State(values.after[action, 0], values.after[action, 1])
    value = sum_weights(values.tables, values.indices, first, ZERO)
    return Candidate(action, after, values.reward[action], after, value, first, ZERO)


# State values


@implements(greedy_action, StateValues)
def greedy_state_action(values: StateValues, rules: Rules, state: State) -> Candidate:
    """Take the expectation over all outcomes of every move."""
    n = lookups(values.tables)
    best, best_q = NO_ACTION, LOWEST
    for action in range(4):
        after, reward = slide(rules, state, action)
        values.q_values[action] = LOWEST
        if reward == ILLEGAL:
            continue
        q = np.float32(reward)
        for i in range(outcomes(rules, after, values.outcomes)):
            outcome = values.outcomes
            following = State(outcome.cells[i], outcome.extra[i])
            value = np.float32(0)
            if not (values.ends_are_zero and _is_over(rules, following)):
                value = state_value(values.tables, rules, following, values.indices, n)
            q += np.float32(outcome.probability[i]) * (value + np.float32(outcome.reward[i]))
        values.q_values[action] = q
        if q > best_q:
            best, best_q = action, q
    if best == NO_ACTION:
        return _no_candidate(state)
    return evaluate_action(values, rules, state, best)


@inline
def _is_over(rules: Rules, state: State) -> bool:
    """Whether no move is legal; a board with an empty cell always has one."""
    if empty_cells(downgraded_cells(rules, state, LARGEST_NIBBLE), rules.board):
        return False
    legal = 0
    for action in range(4):
        legal += slide(rules, state, action)[1] != ILLEGAL
    return legal == 0


@implements(evaluate_action, StateValues)
def evaluate_state_action(values: StateValues, rules: Rules, state: State, action: Int) -> Candidate:
    """Value the state itself, which is the target state of all its moves."""
    after, reward = slide(rules, state, action)
    value = state_value(values.tables, rules, state, values.indices, 0)
    return Candidate(action, after, reward, state, value, 0, ZERO)


# Action values


@implements(action_offset, ActionValues)
def offset_of_network(values: ActionValues, action: Int) -> Word:
    """Return where the action's own network begins."""
    return u64(action) * u64(len(values.tables.weights) // 4)


@implements(greedy_action, ActionValues)
def greedy_action_value(values: ActionValues, rules: Rules, state: State) -> Candidate:
    """Sum the weights of the same indices in four networks."""
    compute_indices(values.tables, rules, state, values.indices, 0)
    best, best_q = NO_ACTION, LOWEST
    for action in range(4):
        values.q_values[action] = LOWEST
        if slide(rules, state, action)[1] != ILLEGAL:
            q = sum_weights(values.tables, values.indices, 0, action_offset(values, action))
            values.q_values[action] = q
            if q > best_q:
                best, best_q = action, q
    if best == NO_ACTION:
        return _no_candidate(state)
    return evaluate_action(values, rules, state, best)


@implements(evaluate_action, ActionValues)
def evaluate_action_value(values: ActionValues, rules: Rules, state: State, action: Int) -> Candidate:
    """Sum the weights of the action's network again; the indices are still there."""
    after, reward = slide(rules, state, action)
    offset = action_offset(values, action)
    value = sum_weights(values.tables, values.indices, 0, offset)
    return Candidate(action, after, reward, state, value, 0, offset)
