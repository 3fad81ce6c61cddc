"""The verbs of a game, as kernels see them.

The rules of a game are a NamedTuple *type* whose fields are its tables. The verbs below are declarations only: each
game attaches its implementation with `jit.implements(verb, RulesType)`. A generic kernel that calls `slide(rules, …)`
is compiled for the type of `rules`, so that there are no function pointers and no tests at run time.

A move is split at the afterstate:

    start(rules, stream)            -> state, reward        a first state
    slide(rules, state, action)     -> afterstate, reward   reward is ILLEGAL if nothing moves
    spawn(rules, after, stream)     -> state, reward        one random outcome
    outcomes(rules, after, into)    -> n                    all outcomes, with their probabilities
    symmetry(rules, state, which)   -> state                a symmetric board
    largest(rules, state)           -> code                 the code of the largest tile
    tile_sum(rules, state)          -> sum                  the sum of the tile values
    downgrade_to(rules, state, c)   -> state                the state with no tile above code c (tile-downgrading)
    hint_of(rules, state)           -> hint                 the hint about the next tile; 0 for none
    high_bits(rules, state)         -> set                  the cells whose code has a fifth bit

The score of a game is the sum of the rewards of `start`, `slide` and `spawn`. In 2048 only `slide` has rewards; in
Threes every tile has a score of its own, so that `start` and `spawn` have rewards, too.
"""

from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, Word, inline
from tilewright.games.bitboard import largest_nibble
from tilewright.rng import Stream

__all__ = [
    "ACTIONS",
    "DOWN",
    "ILLEGAL",
    "LARGEST_NIBBLE",
    "LEFT",
    "MAX_OUTCOMES",
    "RIGHT",
    "UP",
    "LineOffsets",
    "LineTable",
    "Outcomes",
    "Rules",
    "State",
    "downgrade_to",
    "downgraded_cells",
    "high_bits",
    "hint_of",
    "largest",
    "largest_of_nibbles",
    "make_outcomes",
    "no_high_bits",
    "no_hint",
    "not_downgraded",
    "outcomes",
    "slide",
    "spawn",
    "start",
    "start_with_tiles",
    "symmetry",
    "tile_sum",
    "typed_state",
]

u64 = np.uint64
UP, RIGHT, DOWN, LEFT = 0, 1, 2, 3
ACTIONS = ("up", "right", "down", "left")
ILLEGAL = -1  # the reward of a move that changes nothing
MAX_OUTCOMES = 256  # the room for outcomes: `Game.max_outcomes` is checked against it before a game is played
LARGEST_NIBBLE = 15  # the largest code that four bits hold

LineTable: TypeAlias = NDArray[np.uint32]  # uint32[tables * 65536], see `line_tables`
LineOffsets: TypeAlias = NDArray[np.uint64]  # uint64[4]: where the table of each action begins


class Rules(Protocol):
    """What the rules of all games have in common; each game adds tables of its own."""

    @property
    def moves(self) -> LineTable:
        """The lines after a move, in the low 16 bits of each entry."""

    @property
    def offsets(self) -> LineOffsets:
        """Where the table of each action begins."""

    @property
    def board(self) -> Word:
        """The lowest bit of every nibble that is a cell of the board."""

    @property
    def rows(self) -> int:
        """The number of rows."""

    @property
    def columns(self) -> int:
        """The number of columns."""


class State(NamedTuple):
    """A state or afterstate: sixteen nibbles (see `bitboard`), and what else the game has to remember."""

    cells: Word
    extra: Word


def typed_state(state: State) -> State:
    """Convert a state to NumPy's types, which kernels require; they return states as plain integers."""
    return State(np.uint64(state.cells), np.uint64(state.extra))


class Outcomes(NamedTuple):
    """Arrays that the verb `outcomes` fills, one entry for each outcome of an afterstate."""

    cells: NDArray[np.uint64]
    extra: NDArray[np.uint64]
    probability: NDArray[np.float64]
    reward: NDArray[np.int64]


def make_outcomes(n: int = MAX_OUTCOMES) -> Outcomes:
    """Return room for n outcomes; one afterstate has at most MAX_OUTCOMES."""
    return Outcomes(np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(n, np.float64), np.empty(n, np.int64))


def _for_kernels_only(verb: str) -> TypeError:
    return TypeError(f"{verb} is a verb for kernels; from Python use the methods of a Game")


def start(rules: Rules, stream: Stream) -> tuple[State, Int]:
    """Draw a first state from `stream`, and its reward."""
    raise _for_kernels_only("start")


def slide(rules: Rules, state: State, action: Int) -> tuple[State, Int]:
    """Slide all tiles: the afterstate and the reward, or the state itself and ILLEGAL if nothing moves."""
    raise _for_kernels_only("slide")


def spawn(rules: Rules, after: State, stream: Stream) -> tuple[State, Int]:
    """Draw one outcome of an afterstate from `stream`, and its reward. The afterstate must have an empty cell."""
    raise _for_kernels_only("spawn")


def outcomes(rules: Rules, after: State, into: Outcomes) -> Int:
    """Write all outcomes of an afterstate to `into`; returns their number."""
    raise _for_kernels_only("outcomes")


def symmetry(rules: Rules, state: State, which: Int) -> State:
    """The symmetric state number `which`, 0 to 7 (0 to 3 if the board is not square); 0 is the state itself."""
    raise _for_kernels_only("symmetry")


def largest(rules: Rules, state: State) -> Int:
    """The code of the largest tile."""
    raise _for_kernels_only("largest")


def tile_sum(rules: Rules, state: State) -> Int:
    """The sum of the values of all tiles."""
    raise _for_kernels_only("tile_sum")


def downgrade_to(rules: Rules, state: State, largest_code: Int) -> State:
    """Tile-downgrading (Guei 2021): the state with no tile above `largest_code`, where the game supports it."""
    raise _for_kernels_only("downgrade_to")


@inline
def downgraded_cells(rules: Rules, state: State, largest_code: Int) -> Word:
    """The nibbles of the downgraded state, which a network or a table of lines reads."""
    return downgrade_to(rules, state, largest_code).cells


def hint_of(rules: Rules, state: State) -> Int:
    """The hint about the next tile; 0 where there is none."""
    raise _for_kernels_only("hint_of")


def high_bits(rules: Rules, state: State) -> Word:
    """The set of cells whose code has a fifth bit, as a 16-bit mask (see `bitboard`)."""
    raise _for_kernels_only("high_bits")


# What verbs mean in several games. A game attaches them as `implements(largest, ItsRules)(largest_of_nibbles)`.


class RulesWithStart(Rules, Protocol):
    """Rules of a game that begins with some tiles on an empty board."""

    @property
    def start_tiles(self) -> int:
        """The number of tiles on the first board."""


def start_with_tiles(rules: RulesWithStart, stream: Stream) -> tuple[State, Int]:
    """`start`: add `start_tiles` tiles to the empty board."""
    state = State(u64(0), u64(0))
    for _ in range(rules.start_tiles):
        state, _reward = spawn(rules, state, stream)
    return state, 0


def largest_of_nibbles(rules: Rules, state: State) -> Int:
    """`largest`: the largest nibble, where every code is one."""
    return largest_nibble(state.cells)


def not_downgraded(rules: Rules, state: State, largest_code: Int) -> State:
    """`downgrade_to`, where all codes fit in a nibble and the game has no tile-downgrading."""
    return state


def no_hint(rules: Rules, state: State) -> Int:
    """`hint_of`, where there are no hints."""
    return 0


def no_high_bits(rules: Rules, state: State) -> Word:
    """`high_bits`, where no code has a fifth bit."""
    return u64(0)
