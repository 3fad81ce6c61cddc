"""Playouts: play on by a simple policy to the end of the game, or some moves further, and say what came of it.

What a finished game is worth is one of three (Goenawan, Tao & Wu 2020): its score, the sum of its tiles, or its
largest tile with ties broken by the sum. A playout that is cut short adds what a trained network expects from there.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, implements, inline
from tilewright.games.policy import NO_ACTION, Policy, act
from tilewright.games.rules import Rules, State, largest, spawn, total
from tilewright.rng import Stream
from tilewright.search.evaluator import Evaluator, evaluate_state

__all__ = ["NO_LIMIT", "VALUES", "Playouts", "ToTheEnd", "final_value", "make_playouts", "play_out"]

VALUES = ("score", "sum", "largest")
SCORE, SUM, LARGEST = range(3)
NO_LIMIT = np.iinfo(np.int64).max
TIE_BREAK = 2.0**-32  # of the sum beside the largest tile: in a million playouts, 4,000 of the one are 1 of the other


class ToTheEnd(NamedTuple):
    """The leaf of playouts that are never cut short."""


@implements(evaluate_state, ToTheEnd)
def judge_nothing(evaluator: ToTheEnd, rules: Rules, state: State) -> Any:
    return np.float32(0)


class Playouts(NamedTuple):
    player: Policy  # who plays them
    evaluator: Evaluator  # what judges those that are cut short
    steps: int  # after how many moves they are
    value: int  # index in VALUES
    tiles: NDArray[np.int64]  # the number on the tile of each code
    moves: NDArray[np.int64]  # int64[1]: how many moves were played


def make_playouts(
    player: Policy, evaluator: Evaluator, steps: int, value: str, tile_values: tuple[int, ...]
) -> Playouts:
    """Playouts with room of their own: one for every thread."""
    return Playouts(
        player, evaluator, steps, VALUES.index(value), np.array(tile_values, np.int64), np.zeros(1, np.int64)
    )


@inline
def final_value(playouts: Playouts, rules: Rules, state: State, score: Int) -> float:
    """What a finished game is worth: float64."""
    if playouts.value == SCORE:
        return np.float64(score)
    found = np.float64(total(rules, state))
    if playouts.value == LARGEST:
        found = np.float64(playouts.tiles[largest(rules, state)]) + TIE_BREAK * found
    return found


@inline
def play_out(playouts: Playouts, rules: Rules, state: State, score: Int, stream: Stream) -> float:
    """Play on from a state where `score` points are won already: the value of what comes of it, float64."""
    count = 0
    over = False
    while count < playouts.steps:
        action, after, reward = act(playouts.player, rules, state, stream)
        if action == NO_ACTION:
            over = True
            break
        state, gain = spawn(rules, after, stream)
        score += reward + gain
        count += 1
    playouts.moves[0] += count
    if over:
        return final_value(playouts, rules, state, score)
    return np.float64(score) + np.float64(evaluate_state(playouts.evaluator, rules, state))
