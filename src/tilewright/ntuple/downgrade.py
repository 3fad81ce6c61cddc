"""Tile-downgrading: boards with larger tiles than a network has learned are played as smaller boards (Guei 2021).

Many training games make an 8192, few a 16384, and hardly any a tile besides that. But a board with a 16384 and no 8192
should be played like one with an 8192 and no 4096, which the network has seen much more often. So the move is chosen on
the downgraded board and made on the true one.

Boards of a network's last stage are not downgraded as far: that stage is trained on nothing but boards with its own
tiles. Boards with tiles beyond those are first downgraded to them, and may then belong to any stage.
"""

from typing import NamedTuple

from tilewright._core.jit import Int, implements, inline, linked
from tilewright.errors import SpecError
from tilewright.games.base import Game
from tilewright.games.policy import NO_ACTION, Policy, act
from tilewright.games.rules import (
    ILLEGAL,
    LARGEST_NIBBLE,
    Rules,
    State,
    downgrade_to,
    downgraded_cells,
    high_bits,
    largest,
    slide,
)
from tilewright.games.twenty48 import LARGEST_CODE
from tilewright.ntuple.stages import Stages, condition_codes, parse_stages, stage_of
from tilewright.rng import Stream

__all__ = ["Downgraded", "Downgrading", "check_downgrade_above", "downgrade", "make_downgrading"]

SMALLEST_CODE = 3  # the code of 8, the smallest tile that boards can be downgraded to


class Downgrading(NamedTuple):
    """Which boards are downgraded, and how far."""

    largest_code: Int  # on boards of all stages but the last
    stages: Stages
    last_stage: Int  # 0 where there is only one
    largest_code_of_last_stage: Int  # the same as `largest_code` where there is only one stage


def check_downgrade_above(tile: int, game: Game) -> None:
    """Raise SpecError unless boards of `game` with tiles above `tile` can be downgraded; 0 means no downgrading."""
    smallest = game.tile_values[min(SMALLEST_CODE, len(game.tile_values) - 1)]
    if tile and not game.can_downgrade:
        raise SpecError(f"downgrade_above={tile}: boards of {game.name} cannot be downgraded")
    if tile and (tile not in game.tile_values or tile < smallest):
        raise SpecError(f"downgrade_above={tile}: must be 0, or a tile from {smallest} on")


def make_downgrading(game: Game, tile: int, stages: tuple[str, ...] = ()) -> Downgrading:
    """Return how boards with tiles above `tile` are downgraded for a network with these stages; 0: never."""
    code = game.code(tile) if tile else len(game.tile_values)
    in_last = max(code, condition_codes(stages[-1], game)[0]) if stages else code
    return Downgrading(code, parse_stages(stages, game), len(stages), in_last)


@inline
def downgrade(downgrading: Downgrading, rules: Rules, state: State) -> State:
    """Return the state to choose a move on.

    A board with a 131072 stays as it is: two of those do not merge, but two smaller tiles would. So does a board of
    which no tile can be halved, where a 65536 would be read as a 32768, if that gives it other legal moves.
    """
    if downgrading.largest_code > LARGEST_NIBBLE:
        return state
    seen = downgrade_to(rules, state, downgrading.largest_code_of_last_stage)
    if downgrading.last_stage > 0:
        stage = stage_of(downgrading.stages, downgraded_cells(rules, seen, LARGEST_NIBBLE))
        if stage != downgrading.last_stage:
            seen = downgrade_to(rules, seen, downgrading.largest_code)
    if high_bits(rules, state) and (largest(rules, state) == LARGEST_CODE or not _same_legal_moves(rules, state, seen)):
        return state
    return seen


@linked
def _same_legal_moves(rules: Rules, one: State, other: State) -> bool:
    for action in range(4):
        if (slide(rules, one, action)[1] == ILLEGAL) != (slide(rules, other, action)[1] == ILLEGAL):
            return False
    return True


class Downgraded(NamedTuple):
    """A policy that chooses its moves on the downgraded board."""

    policy: Policy
    downgrading: Downgrading


@implements(act, Downgraded)
def act_on_downgraded_board(
    downgraded: Downgraded, rules: Rules, state: State, stream: Stream
) -> tuple[Int, State, Int]:
    """Choose on the downgraded board, move on the true one."""
    seen = downgrade(downgraded.downgrading, rules, state)
    action, after, reward = act(downgraded.policy, rules, seen, stream)
    if action != NO_ACTION and seen.cells != state.cells:
        after, reward = slide(rules, state, action)
    return action, after, reward
