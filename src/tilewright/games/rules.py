"""The verbs of a game, as kernels see them.

A game's rules are a NamedTuple *type* whose fields are its tables. The verbs below are names only: each game attaches
its implementation with `jit.implements(verb, RulesType)`, and a generic kernel that calls `slide(rules, …)` is compiled
for the type of `rules` it is called with: no function pointers, nothing tested at run time, cached on disk.

A move splits at the afterstate:

    start(rules, stream)           -> state, reward         a first state
    slide(rules, state, action)    -> afterstate, reward    reward is ILLEGAL if nothing moves
    spawn(rules, after, stream)    -> state, reward         one random outcome
    outcomes(rules, after, …)      -> n                     all of them, with probabilities
    image(rules, state, which)     -> state                 a symmetric image
    largest(rules, state)          -> code                  the largest tile's code
    total(rules, state)            -> sum                   of the numbers on the tiles
    lowered(rules, state, code)    -> state                 the same with smaller tiles, if one is above that code
    hint_of(rules, state)          -> hint                  what is known of the next tile; 0 is nothing
    fifth_bits(rules, state)       -> set                   the cells whose code has a fifth bit

A score is the sum of the rewards of all three. In 2048 only `slide` earns; in Threes a new tile has points as well.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, Word, inline
from tilewright.rng import Stream

__all__ = [
    "ACTIONS",
    "DOWN",
    "ILLEGAL",
    "LARGEST_NIBBLE",
    "LEFT",
    "RIGHT",
    "UP",
    "Outcomes",
    "Rules",
    "State",
    "downgrade_to",
    "downgraded_cells",
    "high_bits",
    "hint_of",
    "largest",
    "outcomes",
    "slide",
    "spawn",
    "start",
    "symmetry",
    "total",
]

u64 = np.uint64
UP, RIGHT, DOWN, LEFT = 0, 1, 2, 3
ACTIONS = ("up", "right", "down", "left")
ILLEGAL = -1  # the reward of a move that changes nothing
LARGEST_NIBBLE = 15  # the largest code that four bits hold

Rules: TypeAlias = Any  # a NamedTuple type of some game


class State(NamedTuple):
    """A state or afterstate. What `extra` holds beside the sixteen nibbles is the game's own affair."""

    cells: Word
    extra: Word


class Outcomes(NamedTuple):
    """Room for the outcomes of one afterstate, filled by the verb `outcomes`."""

    cells: NDArray[np.uint64]
    extra: NDArray[np.uint64]
    probability: NDArray[np.float64]
    reward: NDArray[np.int64]


def _in_kernels_only(verb: str) -> TypeError:
    return TypeError(f"{verb} is a verb for kernels; from Python use the methods of a Game")


def start(rules: Rules, stream: Stream) -> tuple[State, Int]:
    raise _in_kernels_only("start")


def slide(rules: Rules, state: State, action: Int) -> tuple[State, Int]:
    raise _in_kernels_only("slide")


def spawn(rules: Rules, after: State, stream: Stream) -> tuple[State, Int]:
    raise _in_kernels_only("spawn")


def outcomes(rules: Rules, after: State, into: Outcomes) -> Int:
    raise _in_kernels_only("outcomes")


def symmetry(rules: Rules, state: State, which: Int) -> State:
    raise _in_kernels_only("symmetry")


def largest(rules: Rules, state: State) -> Int:
    raise _in_kernels_only("largest")


def total(rules: Rules, state: State) -> Int:
    raise _in_kernels_only("total")


def downgrade_to(rules: Rules, state: State, largest_code: Int) -> State:
    raise _in_kernels_only("downgrade_to")


@inline
def downgraded_cells(rules: Rules, state: State, largest_code: Int) -> Word:
    """The nibbles, none above a code: what one sees who knows no larger tile."""
    return downgrade_to(rules, state, largest_code).cells


def hint_of(rules: Rules, state: State) -> Int:
    raise _in_kernels_only("hint_of")


def high_bits(rules: Rules, state: State) -> Word:
    raise _in_kernels_only("high_bits")
