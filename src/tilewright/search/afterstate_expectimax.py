"""Expectimax with a table of afterstates, for cheap evaluators and deep searches of the probable branches.

    C(after, n, p) = Σ P(next) · (spawn reward + V(next, n, p · P(next)))
    V(state, n, p) = what the evaluator says                                    (one ply, or p is too small)
    V(state, n, p) = max over moves of reward + C(after, n - 1, p)

It is `expectimax` with a smallest probability, but for two things that make it several times as fast.

- The table holds afterstates: a new tile on any empty cell of a line slides to the same place, so that a search meets
  afterstates more often than states. The same afterstate is met on branches of different probability. An entry serves
  every branch of the same search that has the same depth left and is at most four times as probable as its own; it was
  then searched nearly as far as that branch would be. Leaves are not in the table: a heuristic evaluates them about as
  fast as it is read.
- Where all outcomes of a chance node are leaves, those less than a quarter as probable as the most probable one are
  left out: in 2048 the 2s stand for the 4s, which would take half of the time and have a tenth of the weight.

No entry is used by another search, so that the values of a board do not depend on the boards before it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Float, Int, Word, implements, inline, linked
from tilewright.games.bitboard import different_nibbles
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
from tilewright.search.clock import NO_TIME_LIMIT, nanoseconds, time_limit
from tilewright.search.evaluator import Evaluator, evaluate_state
from tilewright.search.expectimax import (
    MAX_DEPTH,
    by_count,
    eighth_bits,
    outcomes_at,
    search_by_expectimax,
    search_depth,
)
from tilewright.search.searcher import (
    SearchControl,
    SearchStatus,
    act_by_search,
    is_stopped,
    make_search_control,
    make_search_status,
    search,
)
from tilewright.search.transposition import TranspositionTable, make_transposition_table, slot_of, store

__all__ = ["AfterstateExpectimax", "make_afterstate_expectimax"]

u64 = np.uint64
LOWEST = np.float32(-np.inf)
RARE = 0.25  # of the probability of the most probable outcome
SLACK = u64(16)  # eighths of a bit that an entry may lack: a quarter of the probability
SEARCH_BIT, DEPTH_BIT = u64(40), u64(32)  # the bits of an entry's third key where these numbers begin
MAX_SEARCHES = 1 << 24


class AfterstateExpectimax(NamedTuple):
    """The search with the workspace of one thread; fields without a comment are those of `Expectimax`."""

    evaluator: Evaluator
    depths: NDArray[np.int64]
    depths_by_tiles: NDArray[np.int64]
    time_limit: Int
    max_improbability: NDArray[np.int64]  # int64[17]: of a branch, in eighths of a bit, by different tiles
    table: TranspositionTable
    searches: NDArray[np.int64]  # int64[1]: the number of this search, from 1 on
    outcomes: Outcomes
    improbability: NDArray[np.int64]  # int64[MAX_DEPTH * MAX_OUTCOMES]: of every entry of `outcomes`
    q_values_by_depth: NDArray[np.float32]
    q_values: NDArray[np.float32]
    status: SearchStatus
    control: SearchControl


def make_afterstate_expectimax(
    evaluator: Evaluator,
    depths: list[int],
    *,
    min_probability: float | list[float],
    depths_by_tiles: list[int] | None = None,
    milliseconds: float | None = None,
    table_megabytes: float = 0.5,
) -> AfterstateExpectimax:
    """Return a search with a workspace for one thread; the arguments are those of `make_expectimax`.

    `min_probability` may be a list, for boards with 0, 1, … different tiles; the last entry is for all that follow.
    """
    probabilities = min_probability if isinstance(min_probability, list) else [min_probability]
    return AfterstateExpectimax(
        evaluator,
        by_count(depths),
        by_count(depths_by_tiles or [MAX_DEPTH]),
        time_limit(milliseconds),
        by_count([eighth_bits(probability) for probability in probabilities]),
        make_transposition_table(table_megabytes),
        np.zeros(1, np.int64),
        make_outcomes(MAX_DEPTH * MAX_OUTCOMES),
        np.empty(MAX_DEPTH * MAX_OUTCOMES, np.int64),
        np.empty((MAX_DEPTH + 1, 4), np.float32),
        np.empty(4, np.float32),
        make_search_status(),
        make_search_control(),
    )


@inline
def _is_usable(table: TranspositionTable, slot: Word, after: State, search_key: Word) -> bool:
    """Tell whether the slot holds this afterstate, searched at least nearly as far in this search."""
    k = u64(3) * slot
    found = table.keys[k + u64(2)]
    far_enough = found >> DEPTH_BIT == search_key >> DEPTH_BIT and found + SLACK >= search_key
    return far_enough and table.keys[k] == after.cells and table.keys[k + u64(1)] == after.extra


@inline
def _mean_of_leaves(evaluator: Evaluator, rules: Rules, outcome: Outcomes, n: Int, min_probability: Float) -> Float:
    """Return the mean value of the outcomes that are at least so probable."""
    expectation, weight = 0.0, 0.0
    for i in range(n):
        if outcome.probability[i] >= min_probability:
            value = evaluate_state(evaluator, rules, State(outcome.cells[i], outcome.extra[i]))
            expectation += outcome.probability[i] * (outcome.reward[i] + value)
            weight += outcome.probability[i]
    return np.float32(expectation / weight)


@linked
def chance_node(
    expectimax: AfterstateExpectimax, rules: Rules, after: State, depth: Int, improbability_left: Int
) -> Float:
    """Return C(after) for a depth of at least one, or anything if the search is out of time."""
    table = expectimax.table
    search_key = u64(expectimax.searches[0]) << SEARCH_BIT | u64(depth) << DEPTH_BIT | u64(improbability_left)
    slot = slot_of(table, after, u64(depth))
    if _is_usable(table, slot, after, search_key):
        return table.values[slot]
    status = expectimax.status
    if is_stopped(expectimax) or (expectimax.time_limit != NO_TIME_LIMIT and nanoseconds() > status.deadline[0]):
        status.timed_out[0] = 1
        return np.float32(0)
    status.nodes[0] += 1
    outcome, first = outcomes_at(expectimax.outcomes, depth), (depth - 1) * MAX_OUTCOMES
    n, highest = outcomes(rules, after, outcome), 0.0
    for i in range(n):
        highest = max(highest, outcome.probability[i])
    if depth == 1 or improbability_left < _eighth_bits(highest):
        found = _mean_of_leaves(expectimax.evaluator, rules, outcome, n, RARE * highest)
        store(table, slot, after, search_key, found)
        return found
    improbability = expectimax.improbability[first : first + MAX_OUTCOMES]
    expectation = 0.0
    for i in range(n):
        if i >= 2 and outcome.probability[i] == outcome.probability[i - 2]:
            improbability[i] = improbability[i - 2]  # a 2 and a 4 take turns: not a logarithm for each of them
        else:
            improbability[i] = _eighth_bits(outcome.probability[i])
        left = improbability_left - improbability[i]
        following = State(outcome.cells[i], outcome.extra[i])
        if left < 0:
            value = evaluate_state(expectimax.evaluator, rules, following)
        else:
            value = LOWEST
            for action in range(4):
                next_after, reward = slide(rules, following, action)
                if reward != ILLEGAL:
                    further = chance_node(expectimax, rules, next_after, depth - 1, left)
                    value = max(value, np.float32(reward) + further)
            value = np.float32(0) if value == LOWEST else value
        expectation += outcome.probability[i] * (outcome.reward[i] + value)
    found = np.float32(expectation)
    if not status.timed_out[0]:
        store(table, slot, after, search_key, found)
    return found


@inline
def _eighth_bits(probability: Float) -> Int:
    return np.int64(np.rint(-8.0 * np.log2(probability)))


@implements(search_depth, AfterstateExpectimax)
def search_depth_by_afterstates(expectimax: AfterstateExpectimax, rules: Rules, state: State, depth: Int) -> None:
    """Search from the chance nodes of all moves."""
    expectimax.searches[0] += 1
    if expectimax.searches[0] == MAX_SEARCHES:  # the numbers of old searches come again
        expectimax.table.keys[:] = u64(0)
        expectimax.searches[0] = 1
    tiles = different_nibbles(downgraded_cells(rules, state, LARGEST_NIBBLE))
    max_improbability = expectimax.max_improbability[tiles]
    for action in range(4):
        q = LOWEST
        after, reward = slide(rules, state, action)
        if reward != ILLEGAL:
            q = np.float32(reward) + chance_node(expectimax, rules, after, depth - 1, max_improbability)
        expectimax.q_values_by_depth[depth, action] = q


implements(search, AfterstateExpectimax)(search_by_expectimax)
implements(act, AfterstateExpectimax)(act_by_search)
