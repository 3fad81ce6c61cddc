"""The two learning loops: online, while a game is played, and backward, from its end.

Both move the value of a move's target state towards the rewards received until the next move plus the value of that
move's target state. They are compiled for the types of their arguments: the choice of game, value function, step size
and behaviour costs nothing at run time.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Float, Int, implements, inline, kernel
from tilewright.games.policy import NO_ACTION, GameResults, Move, on_move, play
from tilewright.games.rules import Rules, State, largest, spawn
from tilewright.learning.behaviour import Behaviour, BehaviourPolicy, behaviour_action
from tilewright.learning.start_states import StartPool, reset
from tilewright.learning.step_size import StepSize, prefetch_update, update_weights
from tilewright.ntuple.value import ValueFunction, action_offset, greedy_action, reward_on_entry
from tilewright.ntuple.weights import Indices, compute_indices, lookups, state_value, sum_weights
from tilewright.rng import Key, Stream, new_stream, seed_stream

__all__ = [
    "AnyReturns",
    "Learner",
    "RechosenReturns",
    "Returns",
    "Workspace",
    "learn_backward",
    "learn_online",
    "make_workspace",
]

u64 = np.uint64
INITIAL_MOVES = 16_384


class Learner(NamedTuple):
    """What learns: a value function, how its weights are updated, and how its games are played."""

    value_function: ValueFunction
    step_size: StepSize
    behaviour: Behaviour
    starts: StartPool


class Returns(NamedTuple):
    """Which return is the target: the λ-return over at most `n_step` moves (0: to the end of the game).

    Yeh's TD(0.5) is Returns(0.5, 5), n-step returns are Returns(1, n), and TD(0) is Returns(0, 0).
    """

    lambda_: Float  # float32
    n_step: Int


class RechosenReturns(NamedTuple):
    """TD(0) as Chen 2019 and the published Threes program of Yeh et al. do it, backward.

    With `rechoose`, the target of an afterstate is not the afterstate that was played next: the move from the state
    between the two is chosen again, with the weights as they are when the update is made.
    """

    rechoose: bool
    value_last_board: bool  # whether the last board has the value that the network gives it, instead of 0


AnyReturns: TypeAlias = Returns | RechosenReturns


class Trajectory(NamedTuple):
    """The moves of one game: their target states, and the rewards received between them."""

    cells: NDArray[np.uint64]
    extra: NDArray[np.uint64]
    offset: NDArray[np.uint64]  # added to every index
    reward: NDArray[np.float32]  # received between this target state and the next
    value: NDArray[np.float32]  # after its update; filled while learning
    next_cells: NDArray[np.uint64]  # the state after the move, with its new tile; only for RechosenReturns
    next_extra: NDArray[np.uint64]


class Workspace(NamedTuple):
    """The memory that the loops work in, one for every thread."""

    stream: Stream
    indices: Indices  # uint32[2 * lookups]
    trajectory: Trajectory


def make_workspace(lookups: int, moves: int = INITIAL_MOVES) -> Workspace:
    """Return a workspace for games of up to `moves` moves; `learn_backward` asks for a larger one if needed."""
    cells, extra, offset, next_cells, next_extra = (np.empty(moves, np.uint64) for _ in range(5))
    reward, value = np.empty(moves, np.float32), np.empty(moves, np.float32)
    trajectory = Trajectory(cells, extra, offset, reward, value, next_cells, next_extra)
    return Workspace(new_stream(), np.empty(2 * lookups, np.uint32), trajectory)


@kernel
def learn_online(
    rules: Rules, learner: Learner, key: Key, first: Int, workspace: Workspace, results: GameResults
) -> None:
    """Play the games numbered from `first`, and after every move update the value of the move before.

    Args:
        learner: Its weights are updated in place.
        results: One entry for every game, filled in place.
    """
    stream, indices = workspace.stream, workspace.indices  # the indices of the last move's target state
    value_function = learner.value_function
    tables = value_function.tables
    n = lookups(tables)
    for game in range(len(results.scores)):
        number = u64(first + game)
        seed_stream(stream, key, number)
        state, score = reset(rules, learner.starts, number, stream)
        moves, received, offset = 0, np.float32(0), u64(0)
        while True:
            best = greedy_action(value_function, rules, state)
            if moves:
                target = received + best.value
                if reward_on_entry(value_function):
                    target += np.float32(best.reward)
                error = target - sum_weights(tables, indices, 0, offset)
                update_weights(learner.step_size, tables, indices, 0, offset, error)
            if best.action == NO_ACTION:
                break
            chosen = behaviour_action(learner.behaviour, value_function, rules, state, best, stream)
            for k in range(n):
                indices[k] = value_function.indices[chosen.first + k]
            offset = chosen.offset
            prefetch_update(learner.step_size, indices, 0, n, offset)
            state, spawn_reward = spawn(rules, chosen.after, stream)
            received = np.float32(spawn_reward if reward_on_entry(value_function) else spawn_reward + chosen.reward)
            score += chosen.reward + spawn_reward
            moves += 1
        results.scores[game], results.moves[game], results.codes[game] = score, moves, largest(rules, state)


class TrajectoryRecorder(NamedTuple):
    """An observer that writes a game's trajectory."""

    value_function: ValueFunction
    trajectory: Trajectory


@implements(on_move, TrajectoryRecorder)
def record_move(recorder: TrajectoryRecorder, rules: Rules, move: Move) -> None:
    """Write the target state; a reward on entry belongs to the move before."""
    trajectory, i = recorder.trajectory, move.number
    trajectory.offset[i] = action_offset(recorder.value_function, move.action)
    if reward_on_entry(recorder.value_function):
        trajectory.cells[i], trajectory.extra[i] = move.after.cells, move.after.extra
        trajectory.reward[i] = np.float32(move.spawn_reward)
        if i:
            trajectory.reward[i - 1] += np.float32(move.reward)
    else:
        trajectory.cells[i], trajectory.extra[i] = move.state.cells, move.state.extra
        trajectory.reward[i] = np.float32(move.spawn_reward + move.reward)


class StateRecorder(NamedTuple):
    """An observer that also writes the states between the moves."""

    recorder: TrajectoryRecorder
    rechoose: bool


@implements(on_move, StateRecorder)
def record_states(states: StateRecorder, rules: Rules, move: Move) -> None:
    """Write the move and the state after it; a next move that is chosen again brings its own reward."""
    trajectory, i = states.recorder.trajectory, move.number
    on_move(states.recorder, rules, move)
    if states.rechoose and i:
        trajectory.reward[i - 1] -= np.float32(move.reward)
    trajectory.next_cells[i], trajectory.next_extra[i] = move.following.cells, move.following.extra


def make_recorder(returns: AnyReturns, value_function: ValueFunction, trajectory: Trajectory) -> TrajectoryRecorder:
    """Return the observer that writes what the returns need."""
    raise TypeError("make_recorder is a verb for kernels")


@implements(make_recorder, Returns)
def make_trajectory_recorder(
    returns: Returns, value_function: ValueFunction, trajectory: Trajectory
) -> TrajectoryRecorder:
    """Record target states and rewards."""
    return TrajectoryRecorder(value_function, trajectory)


@implements(make_recorder, RechosenReturns)
def make_state_recorder(
    returns: RechosenReturns, value_function: ValueFunction, trajectory: Trajectory
) -> StateRecorder:
    """Record the states between the moves, too."""
    return StateRecorder(TrajectoryRecorder(value_function, trajectory), returns.rechoose)


def learn_trajectory(
    returns: AnyReturns, rules: Rules, learner: Learner, trajectory: Trajectory, moves: Int, indices: Indices
) -> None:
    """Update the values of a finished game, the last first."""
    raise TypeError("learn_trajectory is a verb for kernels")


@kernel
def learn_backward(
    rules: Rules,
    learner: Learner,
    returns: AnyReturns,
    restart: Int,
    key: Key,
    first: Int,
    workspace: Workspace,
    results: GameResults,
) -> Int:
    """Play the games numbered from `first` to their end; then learn from the last move to the first.

    With `restart`, a game of at least that many moves is played again from its middle, and so on: the ends of long
    games are seen more often. The result of a game is that of its first playing.

    Returns:
        The number of games learned from: all, or those before one that is longer than the workspace. That game has
        changed nothing and can be played again with a larger workspace.
    """
    stream, trajectory, value_function = workspace.stream, workspace.trajectory, learner.value_function
    policy = BehaviourPolicy(learner.behaviour, value_function)
    recorder = make_recorder(returns, value_function, trajectory)
    for game in range(len(results.scores)):
        number = u64(first + game)
        seed_stream(stream, key, number)
        state, score = reset(rules, learner.starts, number, stream)
        results.moves[game] = 0
        restarted = False
        while True:
            state, score, moves, over = play(rules, policy, state, score, stream, recorder, len(trajectory.cells))
            if not over and greedy_action(value_function, rules, state).action != NO_ACTION:
                if not restarted:
                    return game
                moves = 0  # too long to learn from
            learn_trajectory(returns, rules, learner, trajectory, moves, workspace.indices)
            results.moves[game] += moves
            if not restarted:
                results.scores[game], results.codes[game] = score, largest(rules, state)
            if not restart or moves < restart:
                break
            state, restarted = _state_of_move(rules, value_function, trajectory, moves // 2, stream), True
    return len(results.scores)


@inline
def _state_of_move(
    rules: Rules, value_function: ValueFunction, trajectory: Trajectory, move: Int, stream: Stream
) -> State:
    """Return the state of a move; where afterstates are recorded, one that may follow the afterstate."""
    target = State(trajectory.cells[move], trajectory.extra[move])
    return spawn(rules, target, stream)[0] if reward_on_entry(value_function) else target


@implements(learn_trajectory, Returns)
def learn_returns(
    returns: Returns, rules: Rules, learner: Learner, trajectory: Trajectory, moves: Int, indices: Indices
) -> None:
    """Update every value towards its return, the last first, with the values of later moves after their update."""
    tables = learner.value_function.tables
    n = lookups(tables)
    one_step = np.float32(1) - returns.lambda_
    lambda_return, value = np.float32(0), np.float32(0)  # of the move after; both are 0 at the end of the game
    side = 0  # two sets of indices: the weights of one move are prefetched while the move after it is updated
    for move in range(moves, -1, -1):
        if move:
            target = State(trajectory.cells[move - 1], trajectory.extra[move - 1])
            compute_indices(tables, rules, target, indices, n - side)
            prefetch_update(learner.step_size, indices, n - side, n, trajectory.offset[move - 1])
        if move < moves:
            if returns.n_step:
                lambda_return = _truncated_return(returns, trajectory, move, moves)
            else:
                lambda_return = trajectory.reward[move] + one_step * value + returns.lambda_ * lambda_return
            error = lambda_return - sum_weights(tables, indices, side, trajectory.offset[move])
            value = update_weights(learner.step_size, tables, indices, side, trajectory.offset[move], error)
            trajectory.value[move] = value
        side = n - side


@inline
def _truncated_return(returns: Returns, trajectory: Trajectory, move: Int, moves: Int) -> Float:
    """Return the λ-return over at most `n_step` moves: the longest return takes all the weight that is left."""
    last = min(move + returns.n_step, moves)
    total = trajectory.value[last] if last < moves else np.float32(0)
    for k in range(last - 1, move - 1, -1):
        if k < last - 1:
            total = (np.float32(1) - returns.lambda_) * trajectory.value[k + 1] + returns.lambda_ * total
        total += trajectory.reward[k]
    return total


@implements(learn_trajectory, RechosenReturns)
def learn_rechosen_returns(
    returns: RechosenReturns, rules: Rules, learner: Learner, trajectory: Trajectory, moves: Int, indices: Indices
) -> None:
    """Update every value towards the value of the next move, as the weights are then."""
    value_function = learner.value_function
    tables = value_function.tables
    n = lookups(tables)
    for move in range(moves - 1, -1, -1):
        following = State(trajectory.next_cells[move], trajectory.next_extra[move])
        target, ended = trajectory.reward[move], move == moves - 1
        if not ended and returns.rechoose:
            best = greedy_action(value_function, rules, following)
            target += np.float32(best.reward) + best.value
        elif not ended:
            next_target = State(trajectory.cells[move + 1], trajectory.extra[move + 1])
            target += state_value(tables, rules, next_target, indices, n)
        elif returns.value_last_board:
            target += state_value(tables, rules, following, indices, n)
        own = State(trajectory.cells[move], trajectory.extra[move])
        error = target - state_value(tables, rules, own, indices, 0)
        update_weights(learner.step_size, tables, indices, 0, trajectory.offset[move], error)
