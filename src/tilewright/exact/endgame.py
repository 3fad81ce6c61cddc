"""Endgames of 4x4: the largest tiles stand as walls, and a tile is to be made in the cells that are left.

A pattern says where the walls are. It has a name, or is given by four hexadecimal digits, one for each row, in which
the bits of the cells with walls are set: `0077` is the pattern L3,

    . . . .
    . . . .
    . # # #
    . # # #

A table has the probability of making the tile from every board of the free cells, without a wall being displaced.
"""

import re

from tilewright._core.text import did_you_mean
from tilewright.errors import UsageError
from tilewright.exact.problem import Problem
from tilewright.games.twenty48 import Twenty48

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
_GOALS = (64, 128, 256, 512)
_MIN_WALLS, _MAX_WALLS = 3, 12


def endgame_problem(spec: str) -> Problem:
    """Return the problem of an endgame.

    >>> endgame_problem("endgame:L3-256").title
    'endgame:L3-256'

    Args:
        spec: `endgame:PATTERN-TILE`, as `endgame:L3-256` or `endgame:0077-256`.

    Raises:
        UsageError: There is no such pattern, or it cannot be solved for this tile.
    """
    name, dash, tile = spec.removeprefix(PREFIX).rpartition("-")
    if not dash or not tile.isdecimal():
        raise UsageError(f"{spec}: give a pattern and a tile, such as {PREFIX}L3-256")
    if int(tile) not in _GOALS:
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
    if not _MIN_WALLS <= walls.bit_count() <= _MAX_WALLS:
        raise UsageError(f"{spec}: {walls.bit_count()} walls; there must be {_MIN_WALLS} to {_MAX_WALLS}")
    return Problem(Twenty48(), int(tile), walls, f"{PREFIX}{name}-{tile}")
