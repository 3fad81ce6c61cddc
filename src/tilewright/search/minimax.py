"""Minimax with α-β: an adversary places the new tiles, and wants the game to end.

The adversary may place any tile that chance could place, on any cell where chance could place it, however improbable.
Where outcomes differ only in what is known besides the tiles (the next hint of Threes), the most probable one stands
for all of them: the adversary places tiles, and does not choose the hint.

A search of depth n covers n moves of the player and the n - 1 placements between them. It deepens one move at a time,

    depth 1    the evaluator's values of the moves
    depth n    reward + the minimum over all placements of the value of the best move at depth n - 1

until it reaches the given depth, its time is up, or every move loses by force. The values of the last completed depth
count. Where every move loses, the values of the depth before are kept: a perfect adversary will hardly appear.

α-β needs good move ordering. The player's moves are ordered by their values, the placements by the value of the board
they leave; at the last depth, where evaluating is all there is to do, the killer placement comes first.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, implements, inline, linked
from tilewright.games.policy import act
from tilewright.games.rules import ILLEGAL, MAX_OUTCOMES, Outcomes, Rules, State, make_outcomes, outcomes, slide
from tilewright.rng import Stream
from tilewright.search.clock import nanoseconds, time_for_another, time_limit
from tilewright.search.evaluator import Evaluator, evaluate_state
from tilewright.search.searcher import (
    SearchControl,
    SearchStatus,
    act_by_search,
    is_stopped,
    make_search_control,
    make_search_status,
    search,
)

__all__ = ["LOST", "MAX_DEPTH", "Minimax", "make_minimax"]

u64 = np.uint64
LOST = -1e6  # the value of the end of the game; rewards on the way are added
MAX_DEPTH = 16
MAX_REPLIES = MAX_OUTCOMES
CLOCK_INTERVAL = 32  # states that are evaluated between two looks at the clock
INFINITY = np.inf
LOWEST = np.float32(-np.inf)


class Replies(NamedTuple):
    """The placements at every depth: arrays of [MAX_DEPTH, MAX_REPLIES]."""

    cells: NDArray[np.uint64]
    extra: NDArray[np.uint64]
    reward: NDArray[np.int64]
    value: NDArray[np.float64]  # the evaluator's, plus the reward
    moves: NDArray[np.int64]  # the player's moves after it, the best first: see `_sort_moves`
    killer: NDArray[np.uint64]  # uint64[MAX_DEPTH]: the tile that refuted the last move, as it lies on the board


class Minimax(NamedTuple):
    """A minimax search with the workspace of one thread."""

    evaluator: Evaluator
    max_depth: int
    time_limit: int  # nanoseconds a move, or NO_TIME_LIMIT
    outcomes: Outcomes
    replies: Replies
    status: SearchStatus
    q_values_under_way: NDArray[np.float64]  # float64[4]: of the depth that is being searched
    q_values: NDArray[np.float64]  # float64[4]: of the last completed depth, -inf where a move is illegal
    control: SearchControl


def make_minimax(evaluator: Evaluator, depth: int = MAX_DEPTH, milliseconds: float | None = None) -> Minimax:
    """Return a search with a workspace for one thread; no `milliseconds` mean no time limit."""
    shape = (MAX_DEPTH, MAX_REPLIES)
    replies = Replies(
        np.zeros(shape, np.uint64),
        np.zeros(shape, np.uint64),
        np.zeros(shape, np.int64),
        np.zeros(shape, np.float64),
        np.zeros(shape, np.int64),
        np.zeros(MAX_DEPTH, np.uint64),
    )
    return Minimax(
        evaluator,
        depth,
        time_limit(milliseconds),
        make_outcomes(),
        replies,
        make_search_status(),
        np.zeros(4),
        np.zeros(4),
        make_search_control(),
    )


@linked
def _evaluate(minimax: Minimax, rules: Rules, state: State) -> float:
    """Return the evaluator's value of a state, LOST where no move is legal; check the clock now and then."""
    status = minimax.status
    status.nodes[0] += 1
    if status.nodes[0] % CLOCK_INTERVAL == 0 and (is_stopped(minimax) or nanoseconds() > status.deadline[0]):
        status.timed_out[0] = 1
    value = evaluate_state(minimax.evaluator, rules, state)
    q_values = minimax.evaluator.q_values
    if max(q_values[0], q_values[1], q_values[2], q_values[3]) == LOWEST:
        return LOST
    return np.float64(value)


@inline
def _sort_moves(q_values: NDArray[np.float32]) -> Int:
    """Return the legal moves by falling value, three bits each, the best lowest; action + 1, so that 0 is the end."""
    packed, tried = 0, 0
    for rank in range(4):
        best, best_q = -1, LOWEST
        for action in range(4):
            if not tried >> action & 1 and q_values[action] > best_q:
                best, best_q = action, q_values[action]
        if best < 0:
            break
        tried |= 1 << best
        packed |= (best + 1) << (3 * rank)
    return packed


@inline
def _list_replies(minimax: Minimax, rules: Rules, after: State, depth: Int) -> Int:
    """List all placements on `after` at one depth, and return their number."""
    outcome, replies = minimax.outcomes, minimax.replies
    n, highest = 0, 0.0
    for i in range(outcomes(rules, after, outcome)):
        same_tiles = n > 0 and replies.cells[depth, n - 1] == outcome.cells[i]
        if same_tiles and outcome.probability[i] <= highest:
            continue
        n += not same_tiles
        replies.cells[depth, n - 1] = outcome.cells[i]
        replies.extra[depth, n - 1] = outcome.extra[i]
        replies.reward[depth, n - 1] = outcome.reward[i]
        highest = outcome.probability[i]
    return n


@inline
def _swap(replies: Replies, depth: Int, i: Int, k: Int) -> None:
    """Exchange two placements."""
    cells, extra, reward = replies.cells[depth, i], replies.extra[depth, i], replies.reward[depth, i]
    value, moves = replies.value[depth, i], replies.moves[depth, i]
    replies.cells[depth, i], replies.extra[depth, i] = replies.cells[depth, k], replies.extra[depth, k]
    replies.reward[depth, i] = replies.reward[depth, k]
    replies.value[depth, i], replies.moves[depth, i] = replies.value[depth, k], replies.moves[depth, k]
    replies.cells[depth, k], replies.extra[depth, k], replies.reward[depth, k] = cells, extra, reward
    replies.value[depth, k], replies.moves[depth, k] = value, moves


@inline
def _killer_first(minimax: Minimax, after: State, depth: Int, n: Int) -> None:
    """Bring the placement that refuted the last move to the front, if it is possible here."""
    replies = minimax.replies
    for i in range(1, n):
        if replies.cells[depth, i] ^ after.cells == replies.killer[depth]:
            _swap(replies, depth, 0, i)
            break


@inline
def _worst_first(replies: Replies, depth: Int, i: Int, n: Int) -> None:
    """Bring the placement of the lowest value among i … n - 1 to position i."""
    least = i
    for k in range(i + 1, n):
        if replies.value[depth, k] < replies.value[depth, least]:
            least = k
    if least != i:
        _swap(replies, depth, i, least)


@linked
def min_node(minimax: Minimax, rules: Rules, after: State, depth: Int, alpha: float, beta: float) -> float:
    """Return the value of an afterstate against the worst placement, with `depth` more moves of the player.

    The value is exact between `alpha` and `beta`; outside of them it is a bound on the same side.
    """
    n = _list_replies(minimax, rules, after, depth)
    if depth == 1:
        return _min_of_evaluations(minimax, rules, after, n, alpha)
    replies = minimax.replies
    _evaluate_replies(minimax, rules, depth, n)
    worst = INFINITY
    for i in range(n):
        _worst_first(replies, depth, i, n)
        state = State(replies.cells[depth, i], replies.extra[depth, i])
        reward, moves = np.float64(replies.reward[depth, i]), replies.moves[depth, i]
        # The max node: the best of the player's moves.
        best, limit = -INFINITY if moves else LOST, min(beta, worst) - reward
        while moves and best < limit:
            following, gain = slide(rules, state, (moves & 7) - 1)
            gained = np.float64(gain)
            floor = max(alpha - reward, best) - gained
            best = max(best, gained + min_node(minimax, rules, following, depth - 1, floor, limit - gained))
            moves >>= 3
            if minimax.status.timed_out[0]:
                return worst
        worst = min(worst, reward + best)
        if worst <= alpha:
            break
    return worst


@inline
def _min_of_evaluations(minimax: Minimax, rules: Rules, after: State, n: Int, alpha: float) -> float:
    """Evaluate placements at depth 1 until one refutes the move, the killer first."""
    replies, worst = minimax.replies, INFINITY
    _killer_first(minimax, after, 1, n)
    for i in range(n):
        state = State(replies.cells[1, i], replies.extra[1, i])
        worst = min(worst, replies.reward[1, i] + _evaluate(minimax, rules, state))
        if worst <= alpha:
            replies.killer[1] = state.cells ^ after.cells
            break
    return worst


@inline
def _evaluate_replies(minimax: Minimax, rules: Rules, depth: Int, n: Int) -> None:
    """Evaluate all placements of one depth, for their order and that of the moves after them."""
    replies = minimax.replies
    for i in range(n):
        state = State(replies.cells[depth, i], replies.extra[depth, i])
        replies.value[depth, i] = replies.reward[depth, i] + _evaluate(minimax, rules, state)
        replies.moves[depth, i] = _sort_moves(minimax.evaluator.q_values)


@inline
def _search_depth(minimax: Minimax, rules: Rules, state: State, depth: Int) -> bool:
    """Fill `q_values_under_way` with the exact values of one depth; return whether some move survives."""
    survives = False
    for action in range(4):
        after, reward = slide(rules, state, action)
        minimax.q_values_under_way[action] = -INFINITY
        if reward != ILLEGAL and not minimax.status.timed_out[0]:
            minimax.q_values_under_way[action] = reward + min_node(
                minimax, rules, after, depth - 1, -INFINITY, INFINITY
            )
            survives |= minimax.q_values_under_way[action] > LOST / 2
    return survives


@implements(search, Minimax, forceinline=False)
def search_by_minimax(minimax: Minimax, rules: Rules, state: State, stream: Stream) -> None:
    """Deepen one move at a time and fill `q_values` with the values of the last completed depth."""
    status = minimax.status
    status.deadline[0] = nanoseconds() + minimax.time_limit
    status.nodes[0], status.timed_out[0], status.depth[0] = 0, 0, 1
    _evaluate(minimax, rules, state)
    for action in range(4):
        minimax.q_values[action] = minimax.evaluator.q_values[action]
    for depth in range(2, minimax.max_depth + 1):
        began = nanoseconds()
        survives = _search_depth(minimax, rules, state, depth)
        if status.timed_out[0] or not survives:
            break
        status.depth[0] = depth
        for action in range(4):
            minimax.q_values[action] = minimax.q_values_under_way[action]
        if not time_for_another(began, status.deadline[0]):
            break


implements(act, Minimax, forceinline=False)(act_by_search)
