"""Rollouts: play on with a simple policy to the end of the game, or for some moves, and value the result.

The value of a finished game is one of three (Goenawan, Tao & Wu 2020): its score, the sum of its tiles, or its largest
tile with ties broken by the sum. A rollout that is cut short adds what a trained network expects from there.
"""

from types import FunctionType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Float, Int, implements, inline
from tilewright.games.policy import NO_LIMIT, NoObserver, Policy, play
from tilewright.games.rules import Rules, State, largest, tile_sum
from tilewright.rng import Stream
from tilewright.search.evaluator import Evaluator, evaluate_state

__all__ = ["NO_LIMIT", "VALUES", "NoEvaluator", "Rollouts", "final_value", "make_rollouts", "roll_out"]

VALUES = ("score", "sum", "largest")
SCORE, SUM, LARGEST = range(3)
TIE_BREAK = 2.0**-32  # of the sum besides the largest tile: in a million rollouts, 4,000 of one are 1 of the other


class NoEvaluator(NamedTuple):
    """The evaluator of rollouts that are never cut short."""


@implements(evaluate_state, NoEvaluator)
def evaluate_nothing(evaluator: NoEvaluator, rules: Rules, state: State) -> Float:
    """Return 0."""
    return np.float32(0)


class Rollouts(NamedTuple):
    """How rollouts are played and valued."""

    policy: Policy
    evaluator: Evaluator  # of the states where rollouts are cut short
    horizon: int  # the number of moves after which they are
    value: int  # position in VALUES
    tile_values: NDArray[np.int64]  # by code
    moves: NDArray[np.int64]  # int64[1]: the number of moves played so far


def make_rollouts(
    policy: Policy, evaluator: Evaluator, horizon: int, value: str, tile_values: tuple[int, ...]
) -> Rollouts:
    """Return rollouts with a workspace for one thread."""
    return Rollouts(
        policy, evaluator, horizon, VALUES.index(value), np.array(tile_values, np.int64), np.zeros(1, np.int64)
    )


@inline
def final_value(rollouts: Rollouts, rules: Rules, state: State, score: Int) -> float:
    """Return the value of a finished game: float64."""
    if rollouts.value == SCORE:
        return np.float64(score)
    value = np.float64(tile_sum(rules, state))
    if rollouts.value == LARGEST:
        value = np.float64(rollouts.tile_values[largest(rules, state)]) + TIE_BREAK * value
    return value


# The play loop calls an agent, whose rollouts need the same loop. Numba takes the call of a function that is being
# compiled for a recursion, and does not link it. A copy of the function is no recursion.
_play = inline(FunctionType(play.py_func.__code__, play.py_func.__globals__, "_play"))  # type: ignore[attr-defined]


@inline
def roll_out(rollouts: Rollouts, rules: Rules, state: State, score: Int, stream: Stream) -> float:
    """Play on from a state with `score` points, and return the value of the result: float64."""
    state, score, moves, over = _play(rules, rollouts.policy, state, score, stream, NoObserver(), rollouts.horizon)
    rollouts.moves[0] += moves
    if over:
        return final_value(rollouts, rules, state, score)
    return np.float64(score) + np.float64(evaluate_state(rollouts.evaluator, rules, state))
