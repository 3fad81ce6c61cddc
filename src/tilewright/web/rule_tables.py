"""The rules of a game as data: tables from which the page makes a move at once, before the server confirms it.

A line is four tile codes as one number of 16 bits, the cell at the wall first. The tables say what becomes of a line,
and which reward that earns. New tiles are data, too: the odds of 2048 and of games like it, and the deck of Threes.
"""

import base64
from functools import lru_cache

import numpy as np

from tilewright.games.base import Game
from tilewright.games.line_game import LineRules
from tilewright.games.line_tables import LINES
from tilewright.games.rules import ACTIONS, ILLEGAL, Rules, State, typed_state
from tilewright.games.state_kernels import slide_one
from tilewright.games.threes import BONUS_CHANCE, BONUS_FROM, BONUS_STEP, FULL_BAG, ThreesRules
from tilewright.games.twenty48 import Twenty48Rules
from tilewright.web.schemas import JsonObject

__all__ = ["rule_tables"]

_NOT_IN_TABLE = -1  # the reward of a line that makes a tile without a hexadecimal digit


@lru_cache(maxsize=8)
def rule_tables(game: Game) -> JsonObject:
    """Return the fields of `RuleTables`; `lines` is null for a game whose moves are not made by tables."""
    rules = game.rules
    has_tables = hasattr(rules, "moves") and hasattr(rules, "offsets")
    lines = {"row": _line_table(game, "left"), "column": _line_table(game, "up")} if has_tables else None
    spawn = _spawn_table(rules) if has_tables else None
    return {"game": game.spec, "lines": lines, "spawn": spawn, "deck": _deck_table(rules)}


def _line_table(game: Game, action: str) -> JsonObject:
    """Return what becomes of every line that moves to its first cell: a row for left, a column for up."""
    number = ACTIONS.index(action)
    offset = int(game.rules.offsets[number])
    entries = game.rules.moves[offset : offset + LINES]
    kinds, examples, kind_of = np.unique(entries >> np.uint32(16), return_index=True, return_inverse=True)
    rewards = [_reward(game, int(line), number) for line in examples] if len(kinds) else []
    return {"after": _base64(entries & np.uint32(0xFFFF)), "reward_of": _base64(kind_of), "rewards": rewards}


def _reward(game: Game, line: int, action: int) -> int:
    """Slide a line alone on the board; all lines of one kind earn the same."""
    row = line << 48
    column = sum((line >> 12 - 4 * i & 15) << 60 - 16 * i for i in range(4))
    cells = row if ACTIONS[action] == "left" else column
    state, reward = slide_one(game.rules, typed_state(State(cells, 0)), action)
    if reward == ILLEGAL:
        return 0
    return _NOT_IN_TABLE if game.high_bits(State(*state)) else int(reward)


def _spawn_table(rules: Rules) -> JsonObject | None:
    """Return the codes of new tiles: the first whose limit is above 32 random bits is the new one."""
    if isinstance(rules, Twenty48Rules):
        return {"codes": [2, 1], "limits": [int(rules.fours), 2**32]}
    if isinstance(rules, LineRules):
        return {"codes": rules.spawn_codes.tolist(), "limits": rules.spawn_limits.tolist()}
    return None


def _deck_table(rules: Rules) -> JsonObject | None:
    """Return what the next tile of Threes is drawn from."""
    if not isinstance(rules, ThreesRules):
        return None
    return {
        "codes": [1, 2, 3],
        "copies": int(FULL_BAG) & 7,
        "bonus_limit": int(BONUS_CHANCE),
        "bonus_from": BONUS_FROM,
        "bonus_step": BONUS_STEP,
        "scores": rules.tile_scores.tolist(),
    }


def _base64(numbers: "np.typing.NDArray[np.generic]") -> str:
    return base64.b64encode(numbers.astype("<u2").tobytes()).decode()
