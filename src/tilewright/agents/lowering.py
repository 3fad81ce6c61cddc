"""Boards with very large tiles, played as if these were smaller (Guei, Chen & Wu 2021: tile-downgrading).

Many games of learning make an 8192, few a 16384, and hardly one anything with both. But until the next tile of that
size is made, a board with a 16384 and no 8192 is played as one with an 8192 and no 4096, which the network has seen
more often. So the whole board is lowered before a move is thought about, and the move is then made on the true one.
"""

from typing import NamedTuple

from tilewright.games.board import Board
from tilewright.games.calls import typed_state
from tilewright.games.rules import Rules, State, largest, lowered, slide
from tilewright.games.twenty48 import LARGEST_CODE
from tilewright.jit import Int, implements, inline, kernel
from tilewright.playing import OVER, Policy, choose
from tilewright.rng import Stream

__all__ = ["as_known", "knowing"]


class Lowering(NamedTuple):
    policy: Policy
    largest_code: Int


@inline
def _seen(rules: Rules, state: State, largest_code: Int) -> State:
    """Boards with a 131072 are left alone: two of those do not merge, but the lowered ones would."""
    seen = lowered(rules, state, largest_code)
    return state if seen.cells != state.cells and largest(rules, state) == LARGEST_CODE else seen


@implements(choose, Lowering)
def choose_on_lowered(lowering: Lowering, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    seen = _seen(rules, state, lowering.largest_code)
    action, after, reward = choose(lowering.policy, rules, seen, stream)
    if action != OVER and seen.cells != state.cells:
        after, reward = slide(rules, state, action)
    return action, after, reward


@kernel
def lower_once(rules: Rules, state: State, largest_code: Int) -> State:
    """For one call from Python."""
    return _seen(rules, state, largest_code)


def knowing(policy: Policy, largest_code: int) -> Policy:
    """The policy, for boards with tiles up to a code; others it plays as lower ones."""
    return policy if largest_code > 15 else Lowering(policy, largest_code)


def as_known(board: Board, largest_code: int) -> State:
    """A board's state, lowered if it has a tile above that code."""
    state = typed_state(board.state)
    return state if largest_code > 15 else typed_state(lower_once(board.game.rules, state, largest_code))
