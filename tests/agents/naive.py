"""The moves of both games over rows of tile values, written as one would explain them; boards are 4x4."""

from collections.abc import Callable
from itertools import pairwise

Rows = list[list[int]]
LineMove = Callable[[list[int]], tuple[list[int], int]]

__all__ = ["LINE_MOVES", "Rows", "rewards"]


def move_2048(line: list[int]) -> tuple[list[int], int]:
    """Tiles close up; each pair of equal neighbours becomes one, from the front on."""
    tiles, out, reward = [tile for tile in line if tile], [], 0
    while tiles:
        tile = tiles.pop(0)
        if tiles and tiles[0] == tile:
            tile += tiles.pop(0)
            reward += tile
        out.append(tile)
    return out + [0] * (len(line) - len(out)), reward


def points(tile: int) -> int:
    return 3 ** (tile // 3).bit_length() if tile >= 3 else 0


def move_threes(line: list[int]) -> tuple[list[int], int]:
    """All tiles behind the first gap or merge go one cell; at most one pair merges."""
    for i, (near, far) in enumerate(pairwise(line)):
        batch_size = {near, far} == {1, 2} or (near == far >= 3)
        if near == 0 or batch_size:
            gain = points(near + far) - points(near) - points(far) if batch_size else 0
            return [*line[:i], near + far, *line[i + 2 :], 0], gain
    return line, 0


LINE_MOVES: dict[str, LineMove] = {"2048": move_2048, "threes": move_threes}


def rewards(move: LineMove, rows: Rows) -> dict[str, int]:
    """What each legal move earns."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    found = {}
    for action, lines in [
        ("up", columns),
        ("right", [row[::-1] for row in rows]),
        ("down", [column[::-1] for column in columns]),
        ("left", rows),
    ]:
        moved = [move(line) for line in lines]
        if [line for line, _ in moved] != lines:
            found[action] = sum(reward for _, reward in moved)
    return found
