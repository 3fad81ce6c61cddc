"""Endgames: the largest tiles stand as walls, and a tile is to be made in the cells that are left.

A pattern says where the walls are. It has a name, or is given by four hexadecimal digits, one for each row, in which
the bits of the cells with walls are set: `0077` is the pattern L3,

    . . . .
    . . . .
    . # # #
    . # # #

Options of the game may follow the tile: `endgame:e000-512,rows=3` is the 3x4 board with three walls in the first row.
The digits of a pattern stand for the rows of 4x4; cells that a smaller board does not have are 0, and the named
patterns fit no other board.

A table has the probability of making the tile from every board of the free cells, without a wall being displaced.
"""

import re

from tilewright._core.text import did_you_mean
from tilewright.errors import UsageError
from tilewright.exact.problem import Problem, as_twenty48, rules_spec
from tilewright.games import make_game

__all__ = ["PATTERNS", "PREFIX", "endgame_problem"]

PREFIX = "endgame:"
PATTERNS = {  # by the names that players use
    "L3": 0x0077,  # 10 free cells
    "442": 0x003F,
    "t": 0x00BB,
    "2x4": 0x00FF,  # 8 free cells
    "444": 0x000F,  # 12 free cells
    "LL": 0x0033,
    "4431": 0x0017,
}
_GOALS = (16, 32, 64, 128, 256, 512, 1024)
_MIN_FREE_CELLS, _MAX_FREE_CELLS = 4, 13


def endgame_problem(spec: str) -> Problem:
    """Return the problem of an endgame.

    >>> endgame_problem("endgame:L3-256").title
    'endgame:L3-256'

    Args:
        spec: `endgame:PATTERN-TILE`, as `endgame:L3-256` or `endgame:0077-256`, and then options of 2048.

    Raises:
        UsageError: There is no such pattern, it does not fit the board, or it cannot be solved for this tile.
        SpecError: An option is wrong.
    """
    pattern, comma, options = spec.removeprefix(PREFIX).partition(",")
    game = as_twenty48(make_game(f"2048:{options}" if comma else "2048"))
    name, dash, tile = pattern.rpartition("-")
    if not dash or not tile.isdecimal():
        raise UsageError(f"{spec}: give a pattern and a tile, such as {PREFIX}L3-256")
    if tile not in map(str, _GOALS):
        raise UsageError(f"{spec}: the tile must be one of {', '.join(map(str, _GOALS))}")
    walls = PATTERNS.get(name)
    if walls is None:
        if not re.fullmatch("[0-9a-fA-F]{4}", name):
            hint = did_you_mean(name, PATTERNS)
            raise UsageError(
                f"{spec}: there is no pattern {name!r}{hint}; there are: {', '.join(PATTERNS)}, and any as four "
                "hexadecimal digits, such as 0077"
            )
        walls = int(name, 16)
    cells = [4 * row + column for row in range(game.rows) for column in range(game.columns)]
    if walls & ~sum(1 << 15 - cell for cell in cells):
        raise UsageError(f"{spec}: the walls do not fit on a board of {game.rows}x{game.columns}")
    least, most = max(1, len(cells) - _MAX_FREE_CELLS), len(cells) - _MIN_FREE_CELLS
    if not least <= walls.bit_count() <= most:
        raise UsageError(f"{spec}: {walls.bit_count()} walls; there must be {least} to {most}")
    if game.start_tiles > len(cells) - walls.bit_count():
        free = len(cells) - walls.bit_count()
        raise UsageError(f"{spec}: start_tiles={game.start_tiles} do not fit on {free} free cells")
    options = rules_spec(game).partition(":")[2]
    return Problem(game, int(tile), walls, f"{PREFIX}{name}-{tile}{options and ','}{options}")
