"""Minimax with α-β: as if the new tiles were placed by an adversary who wants the game to end.

The adversary may place any tile that chance could, at any cell where chance could; how likely it is does not matter.
Where outcomes differ only in what is known beside the tiles (the next hint of Threes), the likeliest of them stands for
all: the adversary places tiles, and does not choose what comes after.

A search of depth n looks at n moves of the player and the n - 1 placements between them. It deepens one move at a time:

    depth 1    the leaf's own opinion of each move
    depth n    reward + the least, over all placements, of what the best move is worth at depth n - 1

until the depth asked for is done, time is up (then the last completed depth counts), or every move loses by force. An
adversary that strong will hardly appear, so that the values of the depth before are kept, where some move still lives.

Both sides try first what looks best to them, which is what α-β lives on: the player's moves by what the leaf says of
them, the placements by what it says of the board they leave, and at the last depth, where judging is all there is to
do, first the placement that refuted the move before.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, implements, inline, kernel
from tilewright.games.policy import NO_ACTION, act
from tilewright.games.rules import ILLEGAL, Outcomes, Rules, State, outcomes, slide
from tilewright.games.state_kernels import make_outcomes
from tilewright.rng import Stream
from tilewright.search.clock import nanoseconds, time_for_another
from tilewright.search.evaluator import Evaluator, evaluate_state

__all__ = ["LOST", "MOST_DEPTH", "Minimax", "look_ahead", "make_minimax"]

u64 = np.uint64
LOST = -1e6  # what the end of the game is worth; rewards on the way are added
MOST_DEPTH = 16
MOST_REPLIES = 48  # Threes: four lanes, each of twelve tiles where the hint is not known; 2048: two tiles, 15 cells
NODES_A_LOOK = 32  # how many boards are judged between two looks at the clock
FOREVER = 2**62  # nanoseconds
INFINITY = np.inf
LOWEST = np.float32(-np.inf)


class Replies(NamedTuple):
    """Room for the placements at every depth: arrays of [MOST_DEPTH, MOST_REPLIES]."""

    cells: NDArray[np.uint64]
    extra: NDArray[np.uint64]
    reward: NDArray[np.int64]
    judged: NDArray[np.float64]  # what the leaf says of the board
    moves: NDArray[np.int64]  # the player's moves then, the best-looking first: see `_sorted_moves`
    killer: NDArray[np.uint64]  # uint64[MOST_DEPTH]: the tile that refuted the last move, as it is on the board


class Meter(NamedTuple):
    """What a search counts and leaves behind; int64[1] each."""

    deadline: NDArray[np.int64]
    nodes: NDArray[np.int64]  # boards that the leaf judged
    stopped: NDArray[np.int64]  # 1 when time is up
    depth: NDArray[np.int64]  # the last depth that was completed


class Minimax(NamedTuple):
    evaluator: Evaluator
    depth: int  # the deepest search
    nanoseconds: int  # the time for a move
    chances: Outcomes
    replies: Replies
    meter: Meter
    trial: NDArray[np.float64]  # float64[4]: the values of the depth that is being searched
    q_values: NDArray[np.float64]  # float64[4]: those of the last completed one, -inf where a move is not legal


def make_minimax(evaluator: Evaluator, depth: int = MOST_DEPTH, milliseconds: float | None = None) -> Minimax:
    """A search with room of its own: one for every thread."""
    shape = (MOST_DEPTH, MOST_REPLIES)
    replies = Replies(
        np.zeros(shape, np.uint64),
        np.zeros(shape, np.uint64),
        np.zeros(shape, np.int64),
        np.zeros(shape, np.float64),
        np.zeros(shape, np.int64),
        np.zeros(MOST_DEPTH, np.uint64),
    )
    meter = Meter(*(np.zeros(1, np.int64) for _ in range(4)))
    time = FOREVER if milliseconds is None else round(milliseconds * 1e6)
    return Minimax(evaluator, depth, time, make_outcomes(), replies, meter, np.zeros(4), np.zeros(4))


@kernel
def _judged(search: Minimax, rules: Rules, state: State) -> float:
    """What the leaf says of a state, LOST where no move is legal; looks at the clock now and then."""
    meter = search.meter
    meter.nodes[0] += 1
    if meter.nodes[0] % NODES_A_LOOK == 0 and nanoseconds() > meter.deadline[0]:
        meter.stopped[0] = 1
    value = evaluate_state(search.evaluator, rules, state)
    q_values = search.evaluator.q_values
    if max(q_values[0], q_values[1], q_values[2], q_values[3]) == LOWEST:
        return LOST
    return np.float64(value)


@inline
def _sorted_moves(q_values: NDArray[np.float32]) -> Int:
    """The legal moves by falling worth, three bits each, the best lowest; action + 1, so that 0 is the end."""
    packed, tried = 0, 0
    for index in range(4):
        best, best_worth = -1, LOWEST
        for action in range(4):
            if not tried >> action & 1 and q_values[action] > best_worth:
                best, best_worth = action, q_values[action]
        if best < 0:
            break
        tried |= 1 << best
        packed |= (best + 1) << (3 * index)
    return packed


@inline
def _list_replies(search: Minimax, rules: Rules, after: State, depth: Int) -> Int:
    """All placements on `after`, as they come; returns how many."""
    chance, replies = search.chances, search.replies
    n, likeliest = 0, 0.0
    for i in range(outcomes(rules, after, chance)):
        same_tiles = n > 0 and replies.cells[depth, n - 1] == chance.cells[i]
        if same_tiles and chance.probability[i] <= likeliest:
            continue
        n += not same_tiles
        replies.cells[depth, n - 1] = chance.cells[i]
        replies.extra[depth, n - 1] = chance.extra[i]
        replies.reward[depth, n - 1] = chance.reward[i]
        likeliest = chance.probability[i]
    return n


@inline
def _swap(replies: Replies, depth: Int, i: Int, k: Int) -> None:
    cells, extra, reward = replies.cells[depth, i], replies.extra[depth, i], replies.reward[depth, i]
    judged, moves = replies.judged[depth, i], replies.moves[depth, i]
    replies.cells[depth, i], replies.extra[depth, i] = replies.cells[depth, k], replies.extra[depth, k]
    replies.reward[depth, i] = replies.reward[depth, k]
    replies.judged[depth, i], replies.moves[depth, i] = replies.judged[depth, k], replies.moves[depth, k]
    replies.cells[depth, k], replies.extra[depth, k], replies.reward[depth, k] = cells, extra, reward
    replies.judged[depth, k], replies.moves[depth, k] = judged, moves


@inline
def _killer_first(search: Minimax, after: State, depth: Int, n: Int) -> None:
    """Bring the placement that refuted the last move to the front, if it is possible here."""
    replies = search.replies
    for i in range(1, n):
        if replies.cells[depth, i] ^ after.cells == replies.killer[depth]:
            _swap(replies, depth, 0, i)
            break


@inline
def _worst_looking_next(replies: Replies, depth: Int, i: Int, n: Int) -> None:
    """Bring the least of replies i … n - 1 to place i."""
    least = i
    for k in range(i + 1, n):
        if replies.judged[depth, k] < replies.judged[depth, least]:
            least = k
    if least != i:
        _swap(replies, depth, i, least)


@kernel
def worst_reply(search: Minimax, rules: Rules, after: State, depth: Int, low: float, high: float) -> float:
    """What an afterstate is worth when the worst tile comes and `depth` more moves are looked at.

    Exact between `low` and `high`; outside, a bound on the same side.
    """
    replies = search.replies
    n = _list_replies(search, rules, after, depth)
    worst = INFINITY
    if depth == 1:
        _killer_first(search, after, depth, n)
        for i in range(n):
            state = State(replies.cells[depth, i], replies.extra[depth, i])
            worst = min(worst, replies.reward[depth, i] + _judged(search, rules, state))
            if worst <= low:
                replies.killer[depth] = state.cells ^ after.cells
                break
        return worst
    for i in range(n):
        state = State(replies.cells[depth, i], replies.extra[depth, i])
        replies.judged[depth, i] = replies.reward[depth, i] + _judged(search, rules, state)
        replies.moves[depth, i] = _sorted_moves(search.evaluator.q_values)
    for i in range(n):
        _worst_looking_next(replies, depth, i, n)
        state, gain = State(replies.cells[depth, i], replies.extra[depth, i]), np.float64(replies.reward[depth, i])
        best, limit = LOST, min(high, worst) - gain
        moves = replies.moves[depth, i]
        if moves:
            best = -INFINITY
        while moves and best < limit:
            following, reward = slide(rules, state, (moves & 7) - 1)
            earned = np.float64(reward)
            floor = max(low - gain, best) - earned
            best = max(best, earned + worst_reply(search, rules, following, depth - 1, floor, limit - earned))
            moves >>= 3
            if search.meter.stopped[0]:
                return worst
        worst = min(worst, gain + best)
        if worst <= low:
            break
    return worst


@inline
def _search_depth(search: Minimax, rules: Rules, state: State, depth: Int) -> bool:
    """Fill `trial` with the exact value of every move at one depth; whether some move lives."""
    lives = False
    for action in range(4):
        after, reward = slide(rules, state, action)
        search.trial[action] = -INFINITY
        if reward != ILLEGAL and not search.meter.stopped[0]:
            search.trial[action] = reward + worst_reply(search, rules, after, depth - 1, -INFINITY, INFINITY)
            lives |= search.trial[action] > LOST / 2
    return lives


@kernel
def look_ahead(search: Minimax, rules: Rules, state: State) -> None:
    """Fill `q_values` with the values of the last completed depth."""
    meter = search.meter
    meter.deadline[0] = nanoseconds() + search.nanoseconds
    meter.nodes[0], meter.stopped[0], meter.depth[0] = 0, 0, 1
    _judged(search, rules, state)
    for action in range(4):
        search.q_values[action] = search.evaluator.q_values[action]
    for depth in range(2, search.depth + 1):
        began = nanoseconds()
        lives = _search_depth(search, rules, state, depth)
        if meter.stopped[0] or not lives:
            break
        meter.depth[0] = depth
        for action in range(4):
            search.q_values[action] = search.trial[action]
        if not time_for_another(began, meter.deadline[0]):
            break


@implements(act, Minimax, forceinline=False)
def choose_by_minimax(search: Minimax, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    look_ahead(search, rules, state)
    best, best_worth = NO_ACTION, -INFINITY
    for action in range(4):
        if search.q_values[action] > best_worth:
            best, best_worth = action, search.q_values[action]
    if best == NO_ACTION:
        return NO_ACTION, state, 0
    after, reward = slide(rules, state, best)
    return best, after, reward
