"""Up to which tile a network knows boards: others are played as smaller ones (Guei, Chen & Wu 2021: tile-downgrading).

Many games of learning make an 8192, few a 16384, and hardly one anything beside it. But a board with a 16384 and no
8192 is to be played as one with an 8192 and no 4096, which the network has seen much more often. So the whole board is
lowered before a move is thought about, and the move is then made on the true one.

Where a network has stages, boards of the last one are played as they are: it was learned from nothing else.
"""

from typing import NamedTuple

from tilewright.games.rules import LARGEST_NIBBLE, Rules, State, largest, lowered, visible
from tilewright.games.twenty48 import LARGEST_CODE
from tilewright.jit import Int, inline
from tilewright.networks.stages import Staging, stage_of

__all__ = ["Knowledge", "as_known"]


class Knowledge(NamedTuple):
    largest_code: Int  # of tiles on boards that are known
    stages: Staging
    last: Int  # the stage whose boards are known whatever their tiles; 0: there is but one


@inline
def as_known(knowledge: Knowledge, rules: Rules, state: State) -> State:
    """The state to think about. One with a 131072 is left alone: two of those do not merge, but lowered ones would."""
    if knowledge.largest_code > 15:
        return state
    if knowledge.last > 0 and stage_of(knowledge.stages, visible(rules, state, LARGEST_NIBBLE)) == knowledge.last:
        return state
    seen = lowered(rules, state, knowledge.largest_code)
    return state if seen.cells != state.cells and largest(rules, state) == LARGEST_CODE else seen
