"""Policies, and the one loop that plays games with them.

A policy is to an agent what rules are to a game: a NamedTuple *type* with one verb,

    act(policy, rules, state, stream) -> action, afterstate, reward      NO_ACTION where no move is legal

The loop `play` serves evaluation, recordings, rollouts, and the collection of training data alike. What happens besides
playing is up to an *observer*: a NamedTuple type with the verb `on_move`, which is called after every move.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, implements, inline, kernel
from tilewright.games.rules import Rules, State, largest, slide, spawn, start
from tilewright.rng import Key, Stream, seed_stream

__all__ = [
    "NO_ACTION",
    "NO_LIMIT",
    "GameResults",
    "Move",
    "MoveLog",
    "NoObserver",
    "Observer",
    "Policy",
    "QValues",
    "act",
    "act_one",
    "apply_action",
    "best_action",
    "innermost",
    "make_move_log",
    "make_results",
    "on_move",
    "play",
    "play_games",
    "play_moves",
]

u64 = np.uint64
NO_ACTION = -1  # where no move is legal
NO_LIMIT = np.iinfo(np.int64).max
QValues: TypeAlias = NDArray[np.float32] | NDArray[np.float64]  # float[4], -inf where a move is illegal
Policy: TypeAlias = Any  # a NamedTuple type that implements `act`
Observer: TypeAlias = tuple[object, ...]  # a NamedTuple type that implements `on_move`


def act(policy: Policy, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    """Choose a move: its action, the afterstate and the reward; `stream` is advanced where the policy draws chance."""
    raise TypeError("act is a verb for kernels; from Python use Agent.move or Player.move")


@kernel
def act_one(policy: Policy, rules: Rules, state: State, stream: Stream) -> Int:
    """Return the action that a policy takes in one state; a policy with the field `q_values` fills it."""
    return act(policy, rules, state, stream)[0]


def innermost(policy: Policy) -> Policy:
    """Return the policy that a wrapper with the field `policy` plays, such as one for downgraded boards."""
    while hasattr(policy, "policy"):
        policy = policy.policy
    return policy


@inline
def best_action(q_values: QValues) -> Int:
    """Return the first action of the highest value; NO_ACTION where all are -inf, the value of an illegal move."""
    best = NO_ACTION
    highest = -np.inf
    for action in range(4):
        if q_values[action] > highest:
            best, highest = action, np.float64(q_values[action])
    return best


@inline
def apply_action(rules: Rules, state: State, action: Int) -> tuple[Int, State, Int]:
    """Return what `act` returns for an action that is already chosen."""
    if action == NO_ACTION:
        return NO_ACTION, state, 0
    after, reward = slide(rules, state, action)
    return action, after, reward


# Observers


class Move(NamedTuple):
    """One move of a game, as observers see it."""

    number: Int  # counted from 0
    state: State  # before the move
    action: Int
    after: State
    reward: Int  # of the slide
    following: State  # with the new tile
    spawn_reward: Int
    score: Int  # after the move


def on_move(observer: Observer, rules: Rules, move: Move) -> None:
    """Take note of a move."""
    raise TypeError("on_move is a verb for kernels")


class NoObserver(NamedTuple):
    """Observes nothing."""


@implements(on_move, NoObserver)
def ignore_move(observer: NoObserver, rules: Rules, move: Move) -> None:
    """Do nothing."""


class MoveLog(NamedTuple):
    """Writes moves down, as many as its arrays hold: the actions, and the states and scores they lead to."""

    actions: NDArray[np.int64]
    cells: NDArray[np.uint64]
    extra: NDArray[np.uint64]
    scores: NDArray[np.int64]


def make_move_log(moves: int) -> MoveLog:
    """Return an empty log for that many moves."""
    words, counts = np.zeros((2, moves), np.uint64), np.zeros((2, moves), np.int64)
    return MoveLog(counts[0], words[0], words[1], counts[1])


@implements(on_move, MoveLog)
def log_move(log: MoveLog, rules: Rules, move: Move) -> None:
    """Write the move into row `move.number`."""
    i = move.number
    log.actions[i], log.scores[i] = move.action, move.score
    log.cells[i], log.extra[i] = move.following.cells, move.following.extra


# Playing


@inline
def play(
    rules: Rules, policy: Policy, state: State, score: Int, stream: Stream, observer: Observer, max_moves: Int
) -> tuple[State, Int, Int, bool]:
    """Play until no move is legal, or until `max_moves` moves are made.

    Returns:
        The last state, the score, the number of moves, and whether the policy found no legal move.
    """
    moves = 0
    while moves < max_moves:
        action, after, reward = act(policy, rules, state, stream)
        if action == NO_ACTION:
            return state, score, moves, True
        following, spawn_reward = spawn(rules, after, stream)
        score += reward + spawn_reward
        on_move(observer, rules, Move(moves, state, action, after, reward, following, spawn_reward, score))
        state = following
        moves += 1
    return state, score, moves, False


@kernel
def play_moves(
    rules: Rules, policy: Policy, state: State, score: Int, stream: Stream, observer: Observer, max_moves: Int
) -> Int:
    """Call `play` from Python; returns the number of moves."""
    return play(rules, policy, state, score, stream, observer, max_moves)[2]


class GameResults(NamedTuple):
    """The results of some games, one entry each; filled by kernels."""

    scores: NDArray[np.int64]
    moves: NDArray[np.int64]
    codes: NDArray[np.int64]  # of the largest tile


def make_results(games: int) -> GameResults:
    """Return zeroed results for that many games."""
    return GameResults(*(np.zeros(games, np.int64) for _ in range(3)))


@kernel
def play_games(rules: Rules, policy: Policy, key: Key, first: Int, stream: Stream, results: GameResults) -> None:
    """Play the games numbered from `first`, one for every entry of `results`.

    Args:
        key: The key of the seed; every game has a random stream of its own.
        stream: uint64[2], overwritten with the stream of each game in turn.
        results: Filled in place.
    """
    for i in range(len(results.scores)):
        seed_stream(stream, key, u64(first + i))
        state, score = start(rules, stream)
        state, score, moves, _ = play(rules, policy, state, score, stream, NoObserver(), NO_LIMIT)
        results.scores[i], results.moves[i], results.codes[i] = score, moves, largest(rules, state)
