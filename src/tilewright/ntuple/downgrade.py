"""Up to which tile a network knows boards: others are played as smaller ones (Guei, Chen & Wu 2021: tile-downgrading).

Many games of learning make an 8192, few a 16384, and hardly one anything beside it. But a board with a 16384 and no
8192 is to be played as one with an 8192 and no 4096, which the network has seen much more often. So the whole board is
lowered before a move is thought about, and the move is then made on the true one.

Where a network has stages, boards of the last one are played as they are, up to the largest tile that begins it: it
was learned from nothing else. Those with larger tiles are first lowered to that, and may then be in any stage.
"""

from typing import NamedTuple

from tilewright._core.jit import Int, inline
from tilewright.games.base import Game
from tilewright.games.rules import LARGEST_NIBBLE, Rules, State, downgrade_to, downgraded_cells, largest
from tilewright.games.twenty48 import LARGEST_CODE
from tilewright.ntuple.stages import Stages, condition_codes, parse_stages, stage_of

__all__ = ["Downgrading", "downgrade", "make_downgrading"]


class Downgrading(NamedTuple):
    largest_code: Int  # of tiles on boards that are known
    stages: Stages
    last: Int  # the stage whose boards are known with larger tiles, too; 0: there is but one
    largest_in_last: Int  # of these tiles; without stages the same as largest_code


def make_downgrading(game: Game, tile: int, stages: tuple[str, ...] = ()) -> Downgrading:
    """What a network with such stages knows that knows boards up to `tile`; 0: it knows all."""
    code = game.code(tile) if tile else len(game.tile_values)
    in_last = max(code, condition_codes(stages[-1], game)[0]) if stages else code
    return Downgrading(code, parse_stages(stages, game), len(stages), in_last)


@inline
def downgrade(downgrading: Downgrading, rules: Rules, state: State) -> State:
    """The state to think about. One with a 131072 is left alone: two of those do not merge, but lowered ones would."""
    if downgrading.largest_code > LARGEST_NIBBLE:
        return state
    seen = downgrade_to(rules, state, downgrading.largest_in_last)
    if (
        downgrading.last > 0
        and stage_of(downgrading.stages, downgraded_cells(rules, seen, LARGEST_NIBBLE)) != downgrading.last
    ):
        seen = downgrade_to(rules, seen, downgrading.largest_code)
    return state if seen.cells != state.cells and largest(rules, state) == LARGEST_CODE else seen
