"""Walls: tiles that stay where they are and never merge, as the largest tiles of an endgame do.

A wall has the code 15. A move that would displace one is not allowed, so that the pattern of the walls never changes.
"""

import numpy as np

from tilewright.games.rules import DOWN, LEFT, UP, LineOffsets, LineTable

__all__ = ["FORBIDDEN", "WALL_CODE", "wall_tables"]

WALL_CODE = 15
FORBIDDEN = 0xFFFF  # the high half of a line's entry where a wall would be displaced; no reward is as large


def wall_tables(
    moves: LineTable, offsets: LineOffsets, rows: int, columns: int, *, cascade: bool = False
) -> tuple[LineTable, LineOffsets]:
    """Return the tables of lines (see `line_tables`) with walls in place of tiles of code 15.

    Args:
        moves: uint32[tables * 65536], of a game without walls; not changed.
        offsets: Where the table of each action begins.
        rows: The number of rows of the board.
        columns: The number of columns of the board.
        cascade: Whether a merged tile may merge again in the same move.
    """
    with_walls = moves.copy()
    lines = np.arange(1 << 16)
    for table in range(len(moves) >> 16):
        action = int(np.flatnonzero(offsets == table << 16)[0])
        shifts = (12, 8, 4, 0)[: (columns, rows)[action in (UP, DOWN)]]
        has_wall = np.zeros(1 << 16, np.bool_)
        for shift in shifts:
            has_wall |= lines >> shift & 15 == WALL_CODE
        is_board_line = lines & (1 << shifts[-1]) - 1 == 0
        for line in lines[has_wall & is_board_line]:
            with_walls[(table << 16) + line] = _move_with_walls(
                int(line), shifts, to_first=action in (UP, LEFT), cascade=cascade
            )
    return with_walls, offsets


def _move_with_walls(line: int, shifts: tuple[int, ...], *, to_first: bool, cascade: bool) -> int:
    """The entry of a line with walls: 2 2 # . -> forbidden, because the wall would follow; . 2 2 # -> 4 . . #, too."""
    codes = [line >> shift & 15 for shift in shifts]
    codes = codes if to_first else codes[::-1]
    moved: list[int] = []
    reward, may_merge = 0, False
    for code in codes:
        if code == 0:
            continue
        if may_merge and code == moved[-1] and code != WALL_CODE:
            moved[-1] = code + 1
            reward += 2 << code
            may_merge = cascade
        else:
            moved.append(code)
            may_merge = True
    moved += [0] * (len(codes) - len(moved))
    if any((old == WALL_CODE) != (new == WALL_CODE) for old, new in zip(codes, moved, strict=True)):
        return FORBIDDEN << 16 | line
    moved = moved if to_first else moved[::-1]
    return reward >> 2 << 16 | sum(code << shift for code, shift in zip(moved, shifts, strict=True))
