"""Expectimax: the best move against chance, so many moves deep, with any leaf.

    V₁(state) = what the leaf says                                  (one ply: no search at all)
    Vₙ(state) = max over moves of reward + Σ P(next) · (gain + Vₙ₋₁(next))

The search ends at a fixed depth, at one that depends on how crowded the board is, or, deepening ply by ply, when its
time is up. Branches that are too improbable are judged by the leaf at once. How improbable a branch is, is counted in
whole eighths of a bit, so that what is left of it can be part of a table entry's key.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.bits import popcount
from tilewright._core.jit import Int, implements, inline, kernel
from tilewright.games.bitboard import empty_cells
from tilewright.games.policy import NO_ACTION, act
from tilewright.games.rules import ILLEGAL, LARGEST_NIBBLE, Outcomes, Rules, State, downgraded_cells, outcomes, slide
from tilewright.games.state_kernels import MAX_OUTCOMES
from tilewright.rng import Stream
from tilewright.search.clock import nanoseconds, time_for_another
from tilewright.search.evaluator import Evaluator, evaluate_state
from tilewright.search.transposition import TranspositionTable, make_transposition_table, probe, slot_of, store

__all__ = ["DEEPEST", "Expectimax", "eighth_bits", "make_expectimax", "think_once"]

u64 = np.uint64
DEEPEST = 12
NO_PRUNING = 2**31
LOWEST = np.float32(-np.inf)
_DEADLINE, _LATE, _PROBE_ABOVE, _REACHED = range(4)


class Expectimax(NamedTuple):
    evaluator: Evaluator
    depths: NDArray[np.int64]  # int64[17]: how deep a board with so many empty cells is searched; the most, by time
    budget: Int  # nanoseconds a move; 0 is no limit
    rarity: Int  # how improbable a branch may become, in eighths of a bit
    table: TranspositionTable
    chances: Outcomes  # room for the outcomes of one afterstate at every depth
    rows: NDArray[np.float32]  # float32[DEEPEST + 1, 4]: what moves are worth at every depth of a search under way
    q_values: NDArray[np.float32]  # float32[4]: what they are worth in the end, -inf where a move is not legal
    status: NDArray[
        np.int64
    ]  # the deadline, whether it has passed, above which depth the table is asked, depth reached


def make_expectimax(
    evaluator: Evaluator,
    depths: list[int],
    *,
    milliseconds: float = 0,
    least_probability: float = 0,
    table_megabytes: float = 0.5,
) -> Expectimax:
    """A policy with room of its own: one for every thread. `depths` are for boards with 0, 1, … empty cells; the last
    is for all that follow."""
    n = DEEPEST * MAX_OUTCOMES
    return Expectimax(
        evaluator,
        np.array([depths[min(i, len(depths) - 1)] for i in range(17)], np.int64),
        round(milliseconds * 1e6),
        eighth_bits(least_probability) if least_probability else NO_PRUNING,
        make_transposition_table(table_megabytes),
        Outcomes(np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(n, np.float64), np.empty(n, np.int64)),
        np.empty((DEEPEST + 1, 4), np.float32),
        np.empty(4, np.float32),
        np.zeros(4, np.int64),
    )


def eighth_bits(probability: float) -> int:
    """How improbable that is: 1/2 is one bit, which is 8."""
    return round(-8 * np.log2(probability))


@inline
def _room(chances: Outcomes, depth: Int) -> Outcomes:
    a, b = (depth - 1) * MAX_OUTCOMES, depth * MAX_OUTCOMES
    return Outcomes(chances.cells[a:b], chances.extra[a:b], chances.probability[a:b], chances.reward[a:b])


@kernel
def value_of(search: Expectimax, rules: Rules, state: State, depth: Int, rarity: Int) -> Any:
    """Vₙ(state) for a depth n of at least two; what each move is worth is left in `search.rows[n]`."""
    if search.budget and nanoseconds() > search.status[_DEADLINE]:
        search.status[_LATE] = 1
        return np.float32(0)
    table, use_table = search.table, depth > search.status[_PROBE_ABOVE]
    chances = _room(search.chances, depth)
    best = LOWEST
    for action in range(4):
        search.rows[depth, action] = LOWEST
        after, reward = slide(rules, state, action)
        if reward == ILLEGAL:
            continue
        mean = np.float64(reward)
        for i in range(outcomes(rules, after, chances)):
            following = State(chances.cells[i], chances.extra[i])
            plies, left = depth - 1, rarity
            if rarity < NO_PRUNING:
                left -= np.int64(np.rint(-8.0 * np.log2(chances.probability[i])))
                if left < 0 or plies == 1:
                    plies, left = 1, 0  # a leaf is a leaf however it was reached
            how, slot = (u64(plies) << u64(32)) | u64(left), u64(0)
            if use_table:
                slot = slot_of(table, following, how)
                if probe(table, slot, following, how):
                    mean += chances.probability[i] * (chances.reward[i] + table.values[slot])
                    continue
            if plies == 1:
                value = evaluate_state(search.evaluator, rules, following)
            else:
                value = value_of(search, rules, following, plies, left)
                if search.status[_LATE]:
                    return np.float32(0)
            if use_table:
                store(table, slot, following, how, value)
            mean += chances.probability[i] * (chances.reward[i] + value)
        search.rows[depth, action] = np.float32(mean)
        best = max(best, np.float32(mean))
    return np.float32(0) if best == LOWEST else best


@inline
def think(search: Expectimax, rules: Rules, state: State) -> Int:
    """The best move, or OVER; `search.q_values` then holds what each move is worth."""
    empty = empty_cells(downgraded_cells(rules, state, LARGEST_NIBBLE), rules.board)
    deepest = search.depths[np.int64(popcount(empty))]
    search.status[_LATE] = 0
    if search.budget or deepest == 1:
        search.status[_DEADLINE] = nanoseconds() + search.budget
        evaluate_state(search.evaluator, rules, state)
        _conclude(search, search.evaluator.q_values, 1)
    depth = 2 if search.budget else deepest
    if search.budget and _legal_moves(search.q_values) < 2:
        depth = 0  # there is nothing to think about
    while 1 < depth <= deepest:
        search.status[_PROBE_ABOVE] = 1 if depth > 2 else 2  # two plies seldom meet a board twice
        began = nanoseconds()
        value_of(search, rules, state, depth, search.rarity)
        if search.status[_LATE]:
            break
        _conclude(search, search.rows[depth], depth)
        if not time_for_another(began, search.status[_DEADLINE]):
            break
        depth += 1
    best = NO_ACTION
    for action in range(4):
        if search.q_values[action] > (LOWEST if best == NO_ACTION else search.q_values[best]):
            best = action
    return best


@inline
def _legal_moves(q_values: NDArray[np.float32]) -> Int:
    legal = 0
    for action in range(4):
        legal += q_values[action] > LOWEST
    return legal


@inline
def _conclude(search: Expectimax, q_values: NDArray[np.float32], depth: Int) -> None:
    search.status[_REACHED] = depth
    for action in range(4):
        search.q_values[action] = q_values[action]


@kernel
def think_once(search: Expectimax, rules: Rules, state: State) -> Int:
    """The same, for one call from Python."""
    return think(search, rules, state)


@implements(act, Expectimax)
def choose_by_expectimax(search: Expectimax, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    action = think(search, rules, state)
    if action == NO_ACTION:
        return NO_ACTION, state, 0
    after, reward = slide(rules, state, action)
    return action, after, reward
