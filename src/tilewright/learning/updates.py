"""The two shapes of learning: while a game is played, and from its end backwards.

Both value what a move stands on by what was earned until the next move, plus the value of what *that* stands on. They
are compiled for the types of their arguments: game, method, step rule and exploration cost nothing at run time.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright.games.rules import Rules, State, largest, spawn
from tilewright._core.jit import Int, inline, kernel
from tilewright.learning.behaviour import Exploration, wander
from tilewright.ntuple.value import Look, Method, consider, reward_comes_first
from tilewright.learning.start_states import Boards, begin
from tilewright.learning.step_size import StepRule, correct, fetch
from tilewright.ntuple.weights import Places, add_up, list_places, lookups
from tilewright.games.policy import OVER, Results
from tilewright.rng import Key, Stream, new_stream, seed_stream

__all__ = ["Returns", "Room", "learn_backwards", "learn_online", "make_room"]

u64 = np.uint64
FIRST_ROOM = 16_384  # moves


class Returns(NamedTuple):
    """Which return is learned: λ-weighted, over at most `steps` moves (0: to the end of the game).

    Yeh's TD(0.5) is Returns(0.5, 5); n-step returns are Returns(1, n); TD(0) is Returns(0, 0).
    """

    lambda_: Any  # float32
    steps: Int


class Record(NamedTuple):
    """A game's moves: what each stood on, and what was earned from there to the next."""

    cells: NDArray[np.uint64]
    extra: NDArray[np.uint64]
    shift: NDArray[np.uint64]
    earned: NDArray[np.float32]
    value: NDArray[np.float32]  # filled while learning


class Room(NamedTuple):
    """What the loops work in; one for every thread."""

    stream: Stream
    places: Places  # of two boards
    record: Record


def make_room(lookups: int, moves: int = FIRST_ROOM) -> Room:
    """Room for games of so many moves; a longer one needs more (see `learn_backwards`)."""
    cells, extra, shift = (np.empty(moves, np.uint64) for _ in range(3))
    record = Record(cells, extra, shift, np.empty(moves, np.float32), np.empty(moves, np.float32))
    return Room(new_stream(), np.empty(2 * lookups, np.uint32), record)


@kernel
def learn_online(
    rules: Rules,
    method: Method,
    rule: StepRule,
    explore: Exploration,
    starts: Boards,
    key: Key,
    first: Int,
    room: Room,
    results: Results,
) -> None:
    """Play games number `first` and on; every move corrects the value that the move before it stood on."""
    stream, before = room.stream, room.places  # the places of what the last move stood on
    tables = method.tables
    n = lookups(tables)
    for game in range(len(results.scores)):
        number = u64(first + game)
        seed_stream(stream, key, number)
        state, score = begin(rules, starts, number, stream)
        moves, earned, shift = 0, np.float32(0), u64(0)
        while True:
            best = consider(method, rules, state)
            if moves:
                target = earned + best.value
                if reward_comes_first(method):
                    target += np.float32(best.reward)
                error = target - add_up(tables, before, 0, shift)
                correct(rule, tables, before, 0, shift, error)
            if best.action == OVER:
                break
            look = wander(explore, method, rules, state, best, stream)
            for k in range(n):
                before[k] = method.places[look.first + k]
            shift = look.shift
            fetch(rule, before, 0, n, shift)
            state, gain = spawn(rules, look.after, stream)
            earned = np.float32(gain if reward_comes_first(method) else gain + look.reward)
            score += look.reward + gain
            moves += 1
        results.scores[game], results.moves[game], results.codes[game] = score, moves, largest(rules, state)


@kernel
def learn_backwards(
    rules: Rules,
    method: Method,
    rule: StepRule,
    explore: Exploration,
    starts: Boards,
    returns: Returns,
    restart: Int,
    key: Key,
    first: Int,
    room: Room,
    results: Results,
) -> Int:
    """Play games number `first` and on to their end; then learn from the last move to the first.

    With `restart`, a game is played again from its middle, and so on, while it lasts at least that many moves: the end
    of long games is seen more often. What counts as the game's result is how it was played the first time.

    Returns how many games were learned from: all, or those before one that is too long for `room`. Nothing was learned
    from that one, and it can be played again in a larger room.
    """
    stream, record = room.stream, room.record
    for game in range(len(results.scores)):
        number = u64(first + game)
        seed_stream(stream, key, number)
        state, score = begin(rules, starts, number, stream)
        again = False
        results.moves[game] = 0
        while True:
            moves = 0
            while True:
                best = consider(method, rules, state)
                if best.action == OVER:
                    break
                if moves == len(record.cells):
                    if not again:
                        return game
                    moves = 0  # nothing is learned from this time
                    break
                look = wander(explore, method, rules, state, best, stream)
                state, gain = spawn(rules, look.after, stream)
                _write_down(method, record, moves, look, gain)
                score += look.reward + gain
                moves += 1
            _learn_record(rules, method, rule, returns, record, moves, room.places)
            results.moves[game] += moves
            if not again:
                results.scores[game], results.codes[game] = score, largest(rules, state)
            if not restart or moves < restart:
                break
            state, again = _resumed(rules, method, record, moves // 2, stream), True
    return len(results.scores)


@inline
def _resumed(rules: Rules, method: Method, record: Record, move: Int, stream: Stream) -> State:
    """A state to go on from: the one that a move stood on, or one that followed it."""
    ground = State(record.cells[move], record.extra[move])
    return spawn(rules, ground, stream)[0] if reward_comes_first(method) else ground


@inline
def _write_down(method: Method, record: Record, move: Int, look: Look, gain: Int) -> None:
    record.cells[move], record.extra[move], record.shift[move] = look.ground.cells, look.ground.extra, look.shift
    if reward_comes_first(method):
        record.earned[move] = np.float32(gain)
        if move:
            record.earned[move - 1] += np.float32(look.reward)
    else:
        record.earned[move] = np.float32(gain + look.reward)


@inline
def _learn_record(
    rules: Rules, method: Method, rule: StepRule, returns: Returns, record: Record, moves: Int, places: Any
) -> None:
    """Correct every value towards its return, the last first; later values are those after their correction."""
    tables = method.tables
    n = lookups(tables)
    one_step = np.float32(1) - returns.lambda_
    following, value = np.float32(0), np.float32(0)  # return and value of the move after; the end is worth nothing
    side = 0  # two sets of places: the weights of one move are fetched while the move after it is corrected
    for move in range(moves, -1, -1):
        if move:
            list_places(tables, rules, State(record.cells[move - 1], record.extra[move - 1]), places, n - side)
            fetch(rule, places, n - side, n, record.shift[move - 1])
        if move < moves:
            if returns.steps:
                following = _limited_return(returns, record, move, moves)
            else:
                following = record.earned[move] + one_step * value + returns.lambda_ * following
            error = following - add_up(tables, places, side, record.shift[move])
            value = correct(rule, tables, places, side, record.shift[move], error)
            record.value[move] = value
        side = n - side


@inline
def _limited_return(returns: Returns, record: Record, move: Int, moves: Int) -> Any:
    """The λ-return over at most `steps` moves: the longest one takes all the weight that is left."""
    last = min(move + returns.steps, moves)
    total = record.value[last] if last < moves else np.float32(0)
    for k in range(last - 1, move - 1, -1):
        if k < last - 1:
            total = (np.float32(1) - returns.lambda_) * record.value[k + 1] + returns.lambda_ * total
        total += record.earned[k]
    return total
