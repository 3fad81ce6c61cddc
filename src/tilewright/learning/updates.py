"""The two shapes of learning: while a game is played, and from its end backwards.

Both value what a move stands on by what was earned until the next move, plus the value of what *that* stands on. They
are compiled for the types of their arguments: game, method, step rule and exploration cost nothing at run time.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, inline, kernel
from tilewright.games.policy import NO_ACTION, Results
from tilewright.games.rules import Rules, State, largest, spawn
from tilewright.learning.behaviour import Behaviour, behaviour_action
from tilewright.learning.start_states import StartPool, reset
from tilewright.learning.step_size import StepSize, prefetch_update, update_weights
from tilewright.ntuple.value import Candidate, ValueFunction, greedy_action, reward_on_entry
from tilewright.ntuple.weights import Indices, compute_indices, lookups, sum_weights
from tilewright.rng import Key, Stream, new_stream, seed_stream

__all__ = ["Returns", "Workspace", "learn_backward", "learn_online", "make_workspace"]

u64 = np.uint64
INITIAL_MOVES = 16_384  # moves


class Returns(NamedTuple):
    """Which return is learned: λ-weighted, over at most `n_step` moves (0: to the end of the game).

    Yeh's TD(0.5) is Returns(0.5, 5); n-step returns are Returns(1, n); TD(0) is Returns(0, 0).
    """

    lambda_: Any  # float32
    n_step: Int


class Trajectory(NamedTuple):
    """A game's moves: what each stood on, and what was earned from there to the next."""

    cells: NDArray[np.uint64]
    extra: NDArray[np.uint64]
    offset: NDArray[np.uint64]
    earned: NDArray[np.float32]
    value: NDArray[np.float32]  # filled while learning


class Workspace(NamedTuple):
    """What the loops work in; one for every thread."""

    stream: Stream
    indices: Indices  # of two boards
    trajectory: Trajectory


def make_workspace(lookups: int, moves: int = INITIAL_MOVES) -> Workspace:
    """Room for games of so many moves; a longer one needs more (see `learn_backward`)."""
    cells, extra, offset = (np.empty(moves, np.uint64) for _ in range(3))
    trajectory = Trajectory(cells, extra, offset, np.empty(moves, np.float32), np.empty(moves, np.float32))
    return Workspace(new_stream(), np.empty(2 * lookups, np.uint32), trajectory)


@kernel
def learn_online(
    rules: Rules,
    value_function: ValueFunction,
    step_size: StepSize,
    behaviour: Behaviour,
    starts: StartPool,
    key: Key,
    first: Int,
    workspace: Workspace,
    results: Results,
) -> None:
    """Play games number `first` and on; every move corrects the value that the move before it stood on."""
    stream, before = workspace.stream, workspace.indices  # the places of what the last move stood on
    tables = value_function.tables
    n = lookups(tables)
    for game in range(len(results.scores)):
        number = u64(first + game)
        seed_stream(stream, key, number)
        state, score = reset(rules, starts, number, stream)
        moves, earned, offset = 0, np.float32(0), u64(0)
        while True:
            best = greedy_action(value_function, rules, state)
            if moves:
                target = earned + best.value
                if reward_on_entry(value_function):
                    target += np.float32(best.reward)
                error = target - sum_weights(tables, before, 0, offset)
                update_weights(step_size, tables, before, 0, offset, error)
            if best.action == NO_ACTION:
                break
            candidate = behaviour_action(behaviour, value_function, rules, state, best, stream)
            for k in range(n):
                before[k] = value_function.indices[candidate.first + k]
            offset = candidate.offset
            prefetch_update(step_size, before, 0, n, offset)
            state, gain = spawn(rules, candidate.after, stream)
            earned = np.float32(gain if reward_on_entry(value_function) else gain + candidate.reward)
            score += candidate.reward + gain
            moves += 1
        results.scores[game], results.moves[game], results.codes[game] = score, moves, largest(rules, state)


@kernel
def learn_backward(
    rules: Rules,
    value_function: ValueFunction,
    step_size: StepSize,
    behaviour: Behaviour,
    starts: StartPool,
    returns: Returns,
    restart: Int,
    key: Key,
    first: Int,
    workspace: Workspace,
    results: Results,
) -> Int:
    """Play games number `first` and on to their end; then learn from the last move to the first.

    With `restart`, a game is played again from its middle, and so on, while it lasts at least that many moves: the end
    of long games is seen more often. What counts as the game's result is how it was played the first time.

    Returns how many games were learned from: all, or those before one that is too long for `workspace`. Nothing was learned
    from that one, and it can be played again in a larger room.
    """
    stream, trajectory = workspace.stream, workspace.trajectory
    for game in range(len(results.scores)):
        number = u64(first + game)
        seed_stream(stream, key, number)
        state, score = reset(rules, starts, number, stream)
        again = False
        results.moves[game] = 0
        while True:
            moves = 0
            while True:
                best = greedy_action(value_function, rules, state)
                if best.action == NO_ACTION:
                    break
                if moves == len(trajectory.cells):
                    if not again:
                        return game
                    moves = 0  # nothing is learned from this time
                    break
                candidate = behaviour_action(behaviour, value_function, rules, state, best, stream)
                state, gain = spawn(rules, candidate.after, stream)
                _write_down(value_function, trajectory, moves, candidate, gain)
                score += candidate.reward + gain
                moves += 1
            _learn_record(rules, value_function, step_size, returns, trajectory, moves, workspace.indices)
            results.moves[game] += moves
            if not again:
                results.scores[game], results.codes[game] = score, largest(rules, state)
            if not restart or moves < restart:
                break
            state, again = _resumed(rules, value_function, trajectory, moves // 2, stream), True
    return len(results.scores)


@inline
def _resumed(rules: Rules, value_function: ValueFunction, trajectory: Trajectory, move: Int, stream: Stream) -> State:
    """A state to go on from: the one that a move stood on, or one that followed it."""
    target_state = State(trajectory.cells[move], trajectory.extra[move])
    return spawn(rules, target_state, stream)[0] if reward_on_entry(value_function) else target_state


@inline
def _write_down(
    value_function: ValueFunction, trajectory: Trajectory, move: Int, candidate: Candidate, gain: Int
) -> None:
    trajectory.cells[move], trajectory.extra[move], trajectory.offset[move] = (
        candidate.target_state.cells,
        candidate.target_state.extra,
        candidate.offset,
    )
    if reward_on_entry(value_function):
        trajectory.earned[move] = np.float32(gain)
        if move:
            trajectory.earned[move - 1] += np.float32(candidate.reward)
    else:
        trajectory.earned[move] = np.float32(gain + candidate.reward)


@inline
def _learn_record(
    rules: Rules,
    value_function: ValueFunction,
    step_size: StepSize,
    returns: Returns,
    trajectory: Trajectory,
    moves: Int,
    indices: Any,
) -> None:
    """Correct every value towards its return, the last first; later values are those after their correction."""
    tables = value_function.tables
    n = lookups(tables)
    one_step = np.float32(1) - returns.lambda_
    following, value = np.float32(0), np.float32(0)  # return and value of the move after; the end is worth nothing
    side = 0  # two sets of places: the weights of one move are fetched while the move after it is corrected
    for move in range(moves, -1, -1):
        if move:
            compute_indices(
                tables, rules, State(trajectory.cells[move - 1], trajectory.extra[move - 1]), indices, n - side
            )
            prefetch_update(step_size, indices, n - side, n, trajectory.offset[move - 1])
        if move < moves:
            if returns.n_step:
                following = _limited_return(returns, trajectory, move, moves)
            else:
                following = trajectory.earned[move] + one_step * value + returns.lambda_ * following
            error = following - sum_weights(tables, indices, side, trajectory.offset[move])
            value = update_weights(step_size, tables, indices, side, trajectory.offset[move], error)
            trajectory.value[move] = value
        side = n - side


@inline
def _limited_return(returns: Returns, trajectory: Trajectory, move: Int, moves: Int) -> Any:
    """The λ-return over at most `n_step` moves: the longest one takes all the weight that is left."""
    last = min(move + returns.n_step, moves)
    total = trajectory.value[last] if last < moves else np.float32(0)
    for k in range(last - 1, move - 1, -1):
        if k < last - 1:
            total = (np.float32(1) - returns.lambda_) * trajectory.value[k + 1] + returns.lambda_ * total
        total += trajectory.earned[k]
    return total
