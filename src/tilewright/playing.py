"""Playing whole games in one kernel: any game, any policy.

A policy is to an agent what rules are to a game: a NamedTuple *type* with one verb,

    choose(policy, rules, state, stream) -> action, afterstate, reward      action is OVER if no move is legal
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright.games.rules import Rules, State, largest, spawn, start
from tilewright.jit import Int, kernel
from tilewright.rng import Key, Stream, seed_stream

__all__ = ["OVER", "Policy", "choose", "choose_once", "play_games"]

u64 = np.uint64
OVER = -1  # the action of a game that has ended
Policy: TypeAlias = Any  # a NamedTuple type of some agent


def choose(policy: Policy, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    raise TypeError("choose is a verb for kernels; from Python use the methods of an agent")


@kernel
def choose_once(policy: Policy, rules: Rules, state: State, stream: Stream) -> Int:
    """The action that a policy takes, for one call from Python."""
    return choose(policy, rules, state, stream)[0]


@kernel
def play_games(
    rules: Rules,
    policy: Policy,
    key: Key,
    first: int,
    scores: NDArray[np.int64],
    moves: NDArray[np.int64],
    tiles: NDArray[np.int64],
) -> None:
    """Play games number `first` and on, one for every place of the three result arrays."""
    stream = np.empty(2, np.uint64)
    for i in range(len(scores)):
        seed_stream(stream, key, u64(first + i))
        state, score = start(rules, stream)
        count = 0
        while True:
            action, after, reward = choose(policy, rules, state, stream)
            if action == OVER:
                break
            state, gain = spawn(rules, after, stream)
            score += reward + gain
            count += 1
        scores[i] = score
        moves[i] = count
        tiles[i] = largest(rules, state)
