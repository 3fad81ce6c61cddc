"""The verbs as single calls from Python: each kernel here does one thing for one state."""

import numpy as np

from tilewright.games.rules import (
    ILLEGAL,
    Outcomes,
    Rules,
    State,
    image,
    largest,
    outcomes,
    slide,
    spawn,
    start,
    total,
)
from tilewright._core.jit import Int, kernel
from tilewright.rng import Stream

__all__ = [
    "image_once",
    "largest_once",
    "legal_mask",
    "make_outcomes",
    "outcomes_once",
    "slide_once",
    "spawn_once",
    "start_once",
    "total_once",
    "typed_state",
]

MOST_OUTCOMES = 256


def typed_state(state: State) -> State:
    """The same state in NumPy's types; kernels hand states back as plain integers."""
    return State(np.uint64(state.cells), np.uint64(state.extra))


def make_outcomes() -> Outcomes:
    """Room for the outcomes of any afterstate."""
    n = MOST_OUTCOMES
    return Outcomes(np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(n, np.float64), np.empty(n, np.int64))


@kernel
def start_once(rules: Rules, stream: Stream) -> tuple[State, Int]:
    return start(rules, stream)


@kernel
def slide_once(rules: Rules, state: State, action: Int) -> tuple[State, Int]:
    return slide(rules, state, action)


@kernel
def legal_mask(rules: Rules, state: State) -> Int:
    """Bit `a` is set where action `a` is legal."""
    mask = 0
    for action in range(4):
        if slide(rules, state, action)[1] != ILLEGAL:
            mask |= 1 << action
    return mask


@kernel
def spawn_once(rules: Rules, after: State, stream: Stream) -> tuple[State, Int]:
    return spawn(rules, after, stream)


@kernel
def outcomes_once(rules: Rules, after: State, into: Outcomes) -> Int:
    return outcomes(rules, after, into)


@kernel
def image_once(rules: Rules, state: State, which: Int) -> State:
    return image(rules, state, which)


@kernel
def largest_once(rules: Rules, state: State) -> Int:
    return largest(rules, state)


@kernel
def total_once(rules: Rules, state: State) -> Int:
    return total(rules, state)
