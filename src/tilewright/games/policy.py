"""Playing whole games in one kernel: any game, any policy.

A policy is to an agent what rules are to a game: a NamedTuple *type* with one verb,

    choose(policy, rules, state, stream) -> action, afterstate, reward      action is OVER if no move is legal
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, kernel
from tilewright.games.rules import Rules, State, largest, spawn, start
from tilewright.rng import Key, Stream, seed_stream

__all__ = ["NO_ACTION", "Policy", "Results", "act", "act_one", "make_results", "play_games"]

u64 = np.uint64
NO_ACTION = -1  # the action of a game that has ended
Policy: TypeAlias = Any  # a NamedTuple type of some agent


def act(policy: Policy, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    raise TypeError("choose is a verb for kernels; from Python use the methods of an agent")


@kernel
def act_one(policy: Policy, rules: Rules, state: State, stream: Stream) -> Int:
    """The action that a policy takes, for one call from Python."""
    return act(policy, rules, state, stream)[0]


class Results(NamedTuple):
    """What came of some games, one place each; kernels fill it."""

    scores: NDArray[np.int64]
    moves: NDArray[np.int64]
    codes: NDArray[np.int64]  # the largest tile, as its code


def make_results(games: int) -> Results:
    return Results(*(np.zeros(games, np.int64) for _ in range(3)))


@kernel
def play_games(rules: Rules, policy: Policy, key: Key, first: Int, stream: Stream, results: Results) -> None:
    """Play games number `first` and on, one for every place of `results`; `stream` is room for their chance."""
    for i in range(len(results.scores)):
        seed_stream(stream, key, u64(first + i))
        state, score = start(rules, stream)
        count = 0
        while True:
            action, after, reward = act(policy, rules, state, stream)
            if action == NO_ACTION:
                break
            state, gain = spawn(rules, after, stream)
            score += reward + gain
            count += 1
        results.scores[i], results.moves[i], results.codes[i] = score, count, largest(rules, state)
