"""The verbs of a game for single calls from Python: each kernel does one thing for one state.

States are returned as plain tuples. Numba would make a NamedTuple by calling its class, and crash if an exception comes
meanwhile, such as that of Ctrl-C.
"""

from typing import TypeAlias

from tilewright._core.jit import Int, Word, kernel
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
    tile_sum,
)
from tilewright.rng import Stream

__all__ = [
    "largest_one",
    "legal_mask",
    "outcomes_one",
    "slide_one",
    "spawn_one",
    "start_one",
    "symmetry_one",
    "tile_sum_one",
]

Words: TypeAlias = tuple[Word, Word]  # the two words of a state


@kernel
def start_one(rules: Rules, stream: Stream) -> tuple[Words, Int]:
    """Call `start`."""
    made, reward = start(rules, stream)
    return (made.cells, made.extra), reward


@kernel
def slide_one(rules: Rules, state: State, action: Int) -> tuple[Words, Int]:
    """Call `slide`."""
    made, reward = slide(rules, state, action)
    return (made.cells, made.extra), reward


@kernel
def legal_mask(rules: Rules, state: State) -> Int:
    """Compute the mask of legal actions: bit `a` is set if action `a` is legal."""
    mask = 0
    for action in range(4):
        if slide(rules, state, action)[1] != ILLEGAL:
            mask |= 1 << action
    return mask


@kernel
def spawn_one(rules: Rules, after: State, stream: Stream) -> tuple[Words, Int]:
    """Call `spawn`."""
    made, reward = spawn(rules, after, stream)
    return (made.cells, made.extra), reward


@kernel
def outcomes_one(rules: Rules, after: State, into: Outcomes) -> Int:
    """Call `outcomes`."""
    return outcomes(rules, after, into)


@kernel
def symmetry_one(rules: Rules, state: State, which: Int) -> Words:
    """Call `symmetry`."""
    made = symmetry(rules, state, which)
    return made.cells, made.extra


@kernel
def largest_one(rules: Rules, state: State) -> Int:
    """Call `largest`."""
    return largest(rules, state)


@kernel
def tile_sum_one(rules: Rules, state: State) -> Int:
    """Call `tile_sum`."""
    return tile_sum(rules, state)
