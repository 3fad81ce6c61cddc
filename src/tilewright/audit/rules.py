"""The rules of 2048 in plain Python, and the wrong rules that engines are often found to follow.

They are written for reading, not for speed; `tests/audit` compares them with the kernels.
"""

import functools
from collections.abc import Callable
from typing import TypeAlias

from tilewright.games.rules import ACTIONS

__all__ = [
    "ALL_RULES",
    "WRONG_RULES",
    "Line",
    "Tiles",
    "added_tiles",
    "empty_cells",
    "lanes",
    "legal_moves",
    "move_line",
    "slide",
    "write_tiles",
]

Line: TypeAlias = tuple[int, ...]
Tiles: TypeAlias = tuple[Line, ...]  # the tile values, row by row; 0 is an empty cell
LineRule: TypeAlias = Callable[[Line], tuple[Line, int]]


@functools.cache
def move_line(line: Line) -> tuple[Line, int]:
    """Move one line to its front.

    >>> move_line((2, 2, 4, 0))
    ((4, 4, 0, 0), 4)

    Returns:
        The line after the move, and the points: the sum of the merged tiles.
    """
    return _move(line, cascade=False)


def _move(line: Line, *, cascade: bool) -> tuple[Line, int]:
    moved: list[int] = []
    points, may_merge = 0, False
    for tile in filter(None, line):
        if may_merge and moved[-1] == tile:
            moved[-1] *= 2
            points += moved[-1]
            may_merge = cascade
        else:
            moved.append(tile)
            may_merge = True
    return _pad(moved, len(line)), points


def _pad(tiles: list[int], length: int) -> Line:
    return tuple(tiles + [0] * (length - len(tiles)))


def _merge_again(line: Line) -> tuple[Line, int]:
    return _move(line, cascade=True)


def _merge_nothing(line: Line) -> tuple[Line, int]:
    return _pad([tile for tile in line if tile], len(line)), 0


def _merge_from_the_rear(line: Line) -> tuple[Line, int]:
    moved, points = move_line(line[::-1])
    return _pad([tile for tile in moved[::-1] if tile], len(line)), points


def _merge_once(line: Line) -> tuple[Line, int]:
    tiles = [tile for tile in line if tile]
    for i in range(len(tiles) - 1):
        if tiles[i] == tiles[i + 1]:
            return _pad([*tiles[:i], 2 * tiles[i], *tiles[i + 2 :]], len(line)), 2 * tiles[i]
    return _pad(tiles, len(line)), 0


def _leave_gaps(line: Line) -> tuple[Line, int]:
    tiles = list(_merge_nothing(line)[0])
    points = 0
    for i in range(len(tiles) - 1):
        if tiles[i] and tiles[i] == tiles[i + 1]:
            tiles[i], tiles[i + 1] = 2 * tiles[i], 0
            points += tiles[i]
    return tuple(tiles), points


def _merge_neighbours_only(line: Line) -> tuple[Line, int]:
    """Merge before the gaps are closed: 2 . 2 does not merge."""
    tiles = list(line)
    points = 0
    for i in range(len(tiles) - 1):
        if tiles[i] and tiles[i] == tiles[i + 1]:
            tiles[i], tiles[i + 1] = 2 * tiles[i], 0
            points += tiles[i]
    return _pad([tile for tile in tiles if tile], len(tiles)), points


# what is wrong -> (the check that finds it, the rule)
WRONG_RULES: dict[str, tuple[str, LineRule]] = {
    "a merged tile merges again in the same move": ("merges", _merge_again),
    "equal tiles do not merge": ("merges", _merge_nothing),
    "tiles merge from the rear: 2 2 2 becomes 2 4, not 4 2": ("merges", _merge_from_the_rear),
    "only one pair of a line merges": ("merges", _merge_once),
    "equal tiles with a gap between them do not merge": ("merges", _merge_neighbours_only),
    "the gap that a merge leaves is not closed": ("slides", _leave_gaps),
}

ALL_RULES: list[LineRule] = [move_line, *(rule for _, rule in WRONG_RULES.values())]


def lanes(tiles: Tiles, direction: str) -> list[Line]:
    """The lines of a board, each from the side to which its tiles move."""
    lines = list(tiles) if direction in ("left", "right") else [tuple(column) for column in zip(*tiles, strict=True)]
    return [line[::-1] for line in lines] if direction in ("right", "down") else lines


def _from_lanes(lines: list[Line], direction: str) -> Tiles:
    turned = [line[::-1] for line in lines] if direction in ("right", "down") else lines
    return tuple(turned) if direction in ("left", "right") else tuple(zip(*turned, strict=True))


def slide(tiles: Tiles, direction: str, rule: LineRule = move_line) -> tuple[Tiles, int]:
    """Slide all tiles.

    >>> slide(((2, 2), (4, 0)), "right")
    (((0, 4), (0, 4)), 4)

    Returns:
        The board without a new tile, and the points.
    """
    moved = [rule(line) for line in lanes(tiles, direction)]
    return _from_lanes([line for line, _ in moved], direction), sum(points for _, points in moved)


@functools.lru_cache(maxsize=100_000)
def legal_moves(tiles: Tiles) -> tuple[str, ...]:
    """List the moves that change the board."""
    return tuple(direction for direction in ACTIONS if slide(tiles, direction)[0] != tiles)


def added_tiles(before: Tiles, after: Tiles) -> list[int] | None:
    """The tiles that are new in empty cells; None if another cell differs."""
    added = []
    for old_row, new_row in zip(before, after, strict=True):
        for old, new in zip(old_row, new_row, strict=True):
            if old != new:
                if old:
                    return None
                added.append(new)
    return added


def empty_cells(tiles: Tiles) -> list[tuple[int, int]]:
    """List the empty cells as (row, column)."""
    return [(r, c) for r, row in enumerate(tiles) for c, tile in enumerate(row) if tile == 0]


def write_tiles(tiles: Tiles) -> str:
    """Write a board on one line, as `Game.parse` reads it."""
    return " / ".join(" ".join(map(str, row)) for row in tiles)
