"""Walls: tiles that stay where they are and never merge, as the largest tiles of a 4x4 endgame do.

A wall has the code 15. A move that would displace one is not allowed, so that the pattern of the walls never changes.
"""

import numpy as np

from tilewright.games.rules import LineOffsets, LineTable

__all__ = ["FORBIDDEN", "WALL_CODE", "wall_tables"]

WALL_CODE = 15
FORBIDDEN = 0xFFFF  # the high half of a line's entry where a wall would be displaced; no reward is as large


def wall_tables(moves: LineTable, offsets: LineOffsets) -> tuple[LineTable, LineOffsets]:
    """Return the tables of lines (see `line_tables`) with walls in place of tiles of code 15.

    Args:
        moves: uint32[tables * 65536], of a game without walls; not changed.
        offsets: Where the table of each action begins.
    """
    with_walls = moves.copy()
    lines = np.arange(1 << 16)
    has_wall = np.zeros(1 << 16, np.bool_)
    for shift in (0, 4, 8, 12):
        has_wall |= lines >> shift & 15 == WALL_CODE
    for table in range(len(moves) >> 16):
        first = bool(np.flatnonzero(offsets == table << 16)[0] in (0, 3))  # up and left move to the first cell
        for line in lines[has_wall]:
            with_walls[(table << 16) + line] = _move_with_walls(int(line), first)
    return with_walls, offsets


def _move_with_walls(line: int, first: bool) -> int:
    """The entry of a line with walls: 2 2 # . -> forbidden, because the wall would follow; . 2 2 # -> 4 . . #, too."""
    codes = [line >> shift & 15 for shift in (12, 8, 4, 0)]
    codes = codes if first else codes[::-1]
    moved: list[int] = []
    reward, may_merge = 0, False
    for code in codes:
        if code == 0:
            continue
        if may_merge and code == moved[-1] and code != WALL_CODE:
            moved[-1] = code + 1
            reward += 2 << code
            may_merge = False
        else:
            moved.append(code)
            may_merge = True
    moved += [0] * (4 - len(moved))
    if any((old == WALL_CODE) != (new == WALL_CODE) for old, new in zip(codes, moved, strict=True)):
        return FORBIDDEN << 16 | line
    moved = moved if first else moved[::-1]
    return reward >> 2 << 16 | moved[0] << 12 | moved[1] << 8 | moved[2] << 4 | moved[3]
