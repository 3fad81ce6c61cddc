"""Expectimax: the best move against chance, to a depth of n plies, with any evaluator.

    V₁(state) = what the evaluator says                             (one ply: no search at all)
    Vₙ(state) = max over moves of reward + Σ P(next) · (spawn reward + Vₙ₋₁(next))

The search ends at a fixed depth, at a depth that depends on how crowded the board is, or, with iterative deepening, at
the end of its time. Branches that are too improbable are evaluated at once. The improbability of a branch is counted in
whole eighths of a bit, so that what is left of it can be part of a transposition table's key. The table holds states;
`afterstate_expectimax` has a table of afterstates instead, and is not exact.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.bits import popcount
from tilewright._core.jit import Float, Int, implements, inline, linked
from tilewright.games.bitboard import different_nibbles, empty_cells
from tilewright.games.policy import act
from tilewright.games.rules import (
    ILLEGAL,
    LARGEST_NIBBLE,
    MAX_OUTCOMES,
    Outcomes,
    Rules,
    State,
    downgraded_cells,
    make_outcomes,
    outcomes,
    slide,
)
from tilewright.rng import Stream
from tilewright.search.clock import NO_TIME_LIMIT, nanoseconds, time_for_another, time_limit
from tilewright.search.evaluator import Evaluator, begin_search, evaluate_state
from tilewright.search.searcher import (
    SearchControl,
    SearchStatus,
    act_by_search,
    is_stopped,
    make_search_control,
    make_search_status,
    search,
)
from tilewright.search.transposition import TranspositionTable, make_transposition_table, probe, slot_of, store

__all__ = [
    "MAX_DEPTH",
    "Expectimax",
    "by_count",
    "eighth_bits",
    "make_expectimax",
    "outcomes_at",
    "search_by_expectimax",
    "search_depth",
]

u64 = np.uint64
MAX_DEPTH = 12
NO_PRUNING = 2**31
LOWEST = np.float32(-np.inf)


class Expectimax(NamedTuple):
    """An expectimax search with the workspace of one thread."""

    evaluator: Evaluator
    depths: NDArray[np.int64]  # int64[17]: the depth for boards with 0, 1, … empty cells
    depths_by_tiles: NDArray[np.int64]  # int64[17]: the largest depth for boards with 0, 1, … different tiles
    time_limit: Int  # nanoseconds a move, or NO_TIME_LIMIT
    max_improbability: Int  # of a branch, in eighths of a bit; NO_PRUNING is no limit
    table: TranspositionTable
    min_probe_depth: NDArray[np.int64]  # int64[1]: nodes of less depth do not use the table
    outcomes: Outcomes  # MAX_OUTCOMES entries for every depth
    q_values_by_depth: NDArray[np.float32]  # float32[MAX_DEPTH + 1, 4]
    q_values: NDArray[np.float32]  # float32[4]: of the last completed depth, -inf where a move is illegal
    status: SearchStatus
    control: SearchControl


def make_expectimax(
    evaluator: Evaluator,
    depths: list[int],
    *,
    depths_by_tiles: list[int] | None = None,
    milliseconds: float | None = None,
    min_probability: float = 0,
    table_megabytes: float = 0.5,
) -> Expectimax:
    """Return a search with a workspace for one thread.

    Args:
        evaluator: Evaluates the states at the end of the search; has a workspace of its own.
        depths: The depth for boards with 0, 1, … empty cells; the last entry is for all that follow. With a time limit,
            the largest depth.
        depths_by_tiles: The largest depth for boards with 0, 1, … different tiles, read in the same way; None is no
            such limit.
        milliseconds: The time limit of a move; None is no limit.
        min_probability: Branches less probable than this are evaluated without further search; 0 searches all.
        table_megabytes: The size of the transposition table.
    """
    return Expectimax(
        evaluator,
        by_count(depths),
        by_count(depths_by_tiles or [MAX_DEPTH]),
        time_limit(milliseconds),
        eighth_bits(min_probability) if min_probability else NO_PRUNING,
        make_transposition_table(table_megabytes),
        np.zeros(1, np.int64),
        make_outcomes(MAX_DEPTH * MAX_OUTCOMES),
        np.empty((MAX_DEPTH + 1, 4), np.float32),
        np.empty(4, np.float32),
        make_search_status(),
        make_search_control(),
    )


def by_count(depths: list[int]) -> NDArray[np.int64]:
    """Return the depths for 0 to 16 cells or tiles; the last one that is given is for all that follow."""
    return np.array([depths[min(i, len(depths) - 1)] for i in range(17)], np.int64)


def eighth_bits(probability: float) -> int:
    """Return the improbability in eighths of a bit: 1/2 is one bit, which is 8.

    >>> eighth_bits(0.5), eighth_bits(0.25)
    (8, 16)
    """
    return round(-8 * np.log2(probability))


@inline
def outcomes_at(outcomes_of_all: Outcomes, depth: Int) -> Outcomes:
    """Return the part of the workspace that belongs to one depth."""
    a, b = (depth - 1) * MAX_OUTCOMES, depth * MAX_OUTCOMES
    return Outcomes(
        outcomes_of_all.cells[a:b], outcomes_of_all.extra[a:b], outcomes_of_all.probability[a:b],
        outcomes_of_all.reward[a:b],
    )  # fmt: skip


@linked
def max_node(expectimax: Expectimax, rules: Rules, state: State, depth: Int, improbability_left: Int) -> Float:
    """Return Vₙ(state) for a depth n of at least two, and leave the value of each move in `q_values_by_depth[n]`."""
    status = expectimax.status
    if is_stopped(expectimax) or (expectimax.time_limit != NO_TIME_LIMIT and nanoseconds() > status.deadline[0]):
        status.timed_out[0] = 1
        return np.float32(0)
    status.nodes[0] += 1
    table, use_table = expectimax.table, depth >= expectimax.min_probe_depth[0]
    outcome = outcomes_at(expectimax.outcomes, depth)
    best = LOWEST
    for action in range(4):
        expectimax.q_values_by_depth[depth, action] = LOWEST
        after, reward = slide(rules, state, action)
        if reward == ILLEGAL:
            continue
        expectation = np.float64(reward)
        for i in range(outcomes(rules, after, outcome)):  # the chance node
            following = State(outcome.cells[i], outcome.extra[i])
            plies, left = depth - 1, improbability_left
            if improbability_left < NO_PRUNING:
                left -= np.int64(np.rint(-8.0 * np.log2(outcome.probability[i])))
                if left < 0 or plies == 1:
                    plies, left = 1, 0  # the value of a leaf does not depend on how it was reached
            how, slot = (u64(plies) << u64(32)) | u64(left), u64(0)
            if use_table:
                slot = slot_of(table, following, how)
                if probe(table, slot, following, how):
                    expectation += outcome.probability[i] * (outcome.reward[i] + table.values[slot])
                    continue
            if plies == 1:
                value = evaluate_state(expectimax.evaluator, rules, following)
            else:
                value = max_node(expectimax, rules, following, plies, left)
                if status.timed_out[0]:
                    return np.float32(0)
            if use_table:
                store(table, slot, following, how, value)
            expectation += outcome.probability[i] * (outcome.reward[i] + value)
        expectimax.q_values_by_depth[depth, action] = np.float32(expectation)
        best = max(best, np.float32(expectation))
    return np.float32(0) if best == LOWEST else best


def search_depth(expectimax: Any, rules: Rules, state: State, depth: Int) -> None:
    """Fill `expectimax.q_values_by_depth[depth]`, for a depth of at least two, unless the search is out of time."""
    raise TypeError("search_depth is a verb for kernels")


@implements(search_depth, Expectimax)
def search_depth_by_states(expectimax: Expectimax, rules: Rules, state: State, depth: Int) -> None:
    """Search from the max node of the state."""
    expectimax.min_probe_depth[0] = 2 if depth > 2 else 3  # two plies seldom meet a board twice
    max_node(expectimax, rules, state, depth, expectimax.max_improbability)


@implements(search, Expectimax)
def search_by_expectimax(expectimax: Any, rules: Rules, state: State, stream: Stream) -> None:
    """Search to the depth of the board, or deepen ply by ply until the time is up."""
    status, timed = expectimax.status, expectimax.time_limit != NO_TIME_LIMIT
    cells = downgraded_cells(rules, state, LARGEST_NIBBLE)
    empty = np.int64(popcount(empty_cells(cells, rules.board)))
    max_depth = min(expectimax.depths[empty], expectimax.depths_by_tiles[different_nibbles(cells)])
    status.timed_out[0], status.nodes[0] = 0, 0
    begin_search(expectimax.evaluator, rules, state)
    if timed or max_depth == 1:
        status.deadline[0] = nanoseconds() + expectimax.time_limit
        evaluate_state(expectimax.evaluator, rules, state)
        status.nodes[0] += 1
        _complete(expectimax, expectimax.evaluator.q_values, 1)
    if timed and _legal_moves(expectimax.q_values) < 2:
        return
    for depth in range(2 if timed else max(2, max_depth), max_depth + 1):
        began = nanoseconds()
        search_depth(expectimax, rules, state, depth)
        if status.timed_out[0]:
            return  # a depth that is not completed does not count
        _complete(expectimax, expectimax.q_values_by_depth[depth], depth)
        if timed and not time_for_another(began, status.deadline[0]):
            return


@inline
def _complete(expectimax: Any, q_values: NDArray[np.float32], depth: Int) -> None:
    """Take over the values of a completed depth."""
    expectimax.status.depth[0] = depth
    for action in range(4):
        expectimax.q_values[action] = q_values[action]


@inline
def _legal_moves(q_values: NDArray[np.float32]) -> Int:
    legal = 0
    for action in range(4):
        legal += q_values[action] > LOWEST
    return legal


implements(act, Expectimax)(act_by_search)
