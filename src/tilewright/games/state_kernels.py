"""The verbs as single calls from Python: each kernel here does one thing for one state."""

import numpy as np

from tilewright._core.jit import Int, kernel
from tilewright.games.rules import (
    ILLEGAL,
    Outcomes,
    Rules,
    State,
    largest,
    outcomes,
    slide,
    spawn,
    start,
    symmetry,
    total,
)
from tilewright.rng import Stream

__all__ = [
    "largest_one",
    "legal_mask",
    "make_outcomes",
    "outcomes_one",
    "slide_one",
    "spawn_one",
    "start_one",
    "symmetry_one",
    "tile_sum_one",
    "typed_state",
]

MAX_OUTCOMES = 256


def typed_state(state: State) -> State:
    """The same state in NumPy's types; kernels hand states back as plain integers."""
    return State(np.uint64(state.cells), np.uint64(state.extra))


def make_outcomes() -> Outcomes:
    """Room for the outcomes of any afterstate."""
    n = MAX_OUTCOMES
    return Outcomes(np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(n, np.float64), np.empty(n, np.int64))


@kernel
def start_one(rules: Rules, stream: Stream) -> tuple[State, Int]:
    return start(rules, stream)


@kernel
def slide_one(rules: Rules, state: State, action: Int) -> tuple[State, Int]:
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
def spawn_one(rules: Rules, after: State, stream: Stream) -> tuple[State, Int]:
    return spawn(rules, after, stream)


@kernel
def outcomes_one(rules: Rules, after: State, into: Outcomes) -> Int:
    return outcomes(rules, after, into)


@kernel
def symmetry_one(rules: Rules, state: State, which: Int) -> State:
    return symmetry(rules, state, which)


@kernel
def largest_one(rules: Rules, state: State) -> Int:
    return largest(rules, state)


@kernel
def tile_sum_one(rules: Rules, state: State) -> Int:
    return total(rules, state)
