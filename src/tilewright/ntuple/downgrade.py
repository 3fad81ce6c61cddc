"""Up to which tile a network knows boards: others are played as smaller ones (Guei, Chen & Wu 2021: tile-downgrading).

Many games of learning make an 8192, few a 16384, and hardly one anything beside it. But a board with a 16384 and no
8192 is to be played as one with an 8192 and no 4096, which the network has seen much more often. So the whole board is
lowered before a move is thought about, and the move is then made on the true one.

Where a network has stages, boards of the last one are played as they are, up to the largest tile that begins it: it
was learned from nothing else. Those with larger tiles are first lowered to that, and may then be in any stage.
"""

from typing import NamedTuple

from tilewright.games.base import Game
from tilewright.games.rules import LARGEST_NIBBLE, Rules, State, largest, lowered, visible
from tilewright.games.twenty48 import LARGEST_CODE
from tilewright._core.jit import Int, inline
from tilewright.ntuple.stages import Staging, codes_of, read_stages, stage_of

__all__ = ["Knowledge", "as_known", "knowledge_of"]


class Knowledge(NamedTuple):
    largest_code: Int  # of tiles on boards that are known
    stages: Staging
    last: Int  # the stage whose boards are known with larger tiles, too; 0: there is but one
    largest_in_last: Int  # of these tiles; without stages the same as largest_code


def knowledge_of(game: Game, tile: int, stages: tuple[str, ...] = ()) -> Knowledge:
    """What a network with such stages knows that knows boards up to `tile`; 0: it knows all."""
    code = game.code(tile) if tile else len(game.tile_values)
    in_last = max(code, codes_of(stages[-1], game)[0]) if stages else code
    return Knowledge(code, read_stages(stages, game), len(stages), in_last)


@inline
def as_known(knowledge: Knowledge, rules: Rules, state: State) -> State:
    """The state to think about. One with a 131072 is left alone: two of those do not merge, but lowered ones would."""
    if knowledge.largest_code > LARGEST_NIBBLE:
        return state
    seen = lowered(rules, state, knowledge.largest_in_last)
    if knowledge.last > 0 and stage_of(knowledge.stages, visible(rules, seen, LARGEST_NIBBLE)) != knowledge.last:
        seen = lowered(rules, seen, knowledge.largest_code)
    return state if seen.cells != state.cells and largest(rules, state) == LARGEST_CODE else seen
