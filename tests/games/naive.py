"""Both games written a second time, slowly and plainly: what the tests hold the package against.

Nothing here is shared with the package, nor imported from it. Boards are rows of tile *values*, moves are made on
lists, and chances are dictionaries from a state to its probability.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

Grid = tuple[tuple[int, ...], ...]
Cell = tuple[int, int]  # row, column
Bag = tuple[int, ...]  # how many 1s, 2s and 3s are left; () where that is not known

DIRECTIONS = ("up", "right", "down", "left")
FULL_BAG: Bag = (4, 4, 4)


class State(NamedTuple):
    """A board and, in Threes, what is known beside it. In an afterstate `entry` says where a tile may enter."""

    board: Grid
    hint: int = 0  # 1, 2, 3, the largest bonus tile that may come, or 0 where it is not known
    bag: Bag = ()
    entry: frozenset[Cell] = frozenset()


class Slide(NamedTuple):
    after: State
    reward: int


def read(form: dict[str, Any]) -> State:
    """A state from its JSON form: {"board": [[…], …], "hint": "+24", "bag": "413", "entry": "37"}."""
    board = tuple(tuple(row) for row in form["board"])
    hint = form.get("hint", "0")
    if hint == "+":
        ceiling = largest(board) // 8
    else:
        ceiling = int(hint.removeprefix("+"))
    bag = tuple(int(count) for count in form.get("bag", ""))
    entry = frozenset(divmod(int(cell, 16), 4) for cell in form.get("entry", ""))
    return State(board, ceiling, bag, entry)


def largest(board: Grid) -> int:
    return max(max(row) for row in board)


def empty_cells(board: Grid) -> list[Cell]:
    return [(r, c) for r, row in enumerate(board) for c, tile in enumerate(row) if tile == 0]


def with_tile(board: Grid, cell: Cell, tile: int) -> Grid:
    """The board with a new tile; the cell must have been empty."""
    assert board[cell[0]][cell[1]] == 0
    return tuple(tuple(tile if (r, c) == cell else old for c, old in enumerate(row)) for r, row in enumerate(board))


def lanes(board: Grid, direction: str) -> list[list[Cell]]:
    """The cells of each line of the board, beginning at the wall that the tiles move to."""
    rows, columns = range(len(board)), range(len(board[0]))
    if direction == "left":
        return [[(r, c) for c in columns] for r in rows]
    if direction == "right":
        return [[(r, c) for c in reversed(columns)] for r in rows]
    if direction == "up":
        return [[(r, c) for r in rows] for c in columns]
    if direction == "down":
        return [[(r, c) for r in reversed(rows)] for c in columns]
    raise ValueError(direction)


class NaiveGame(ABC):
    """What the two games have in common: a move is made line by line."""

    @abstractmethod
    def move_line(self, line: list[int]) -> tuple[list[int], int]:
        """The line after a move to its first cell, and the reward."""

    @abstractmethod
    def outcomes(self, after: State) -> dict[State, float]:
        """Every state that may follow an afterstate, with its probability."""

    def slide(self, state: State, direction: str) -> Slide | None:
        """The afterstate and the reward, or None where nothing moves."""
        tiles: dict[Cell, int] = {}
        reward, trailing = 0, set()
        for lane in lanes(state.board, direction):
            line = [state.board[r][c] for r, c in lane]
            moved, gain = self.move_line(line)
            tiles.update(zip(lane, moved, strict=True))
            reward += gain
            if moved != line:
                trailing.add(lane[-1])
        if not trailing:
            return None
        board = tuple(tuple(tiles[r, c] for c in range(len(row))) for r, row in enumerate(state.board))
        return Slide(self.afterstate(state, board, frozenset(trailing)), reward)

    def afterstate(self, state: State, board: Grid, trailing: frozenset[Cell]) -> State:
        return State(board)

    def legal(self, state: State) -> list[str]:
        return [direction for direction in DIRECTIONS if self.slide(state, direction)]


@dataclass(frozen=True)
class Naive2048(NaiveGame):
    four: float = 0.1
    cascade: bool = False
    largest_tile: int = 131072

    def move_line(self, line: list[int]) -> tuple[list[int], int]:
        tiles = [tile for tile in line if tile]
        moved, reward = [], 0
        while tiles:
            tile = tiles.pop(0)
            while tiles and tiles[0] == tile != self.largest_tile:
                tile += tiles.pop(0)
                reward += tile
                if not self.cascade:
                    break
            moved.append(tile)
        return moved + [0] * (len(line) - len(moved)), reward

    def outcomes(self, after: State) -> dict[State, float]:
        cells = empty_cells(after.board)
        return {
            State(with_tile(after.board, cell, tile)): chance / len(cells)
            for cell in cells
            for tile, chance in ((2, 1 - self.four), (4, self.four))
            if chance
        }


def points(tile: int) -> int:
    """3, 6, 12, … are worth 3, 9, 27, …; a 1 and a 2 nothing."""
    if tile < 3:
        return 0
    return 3 if tile == 3 else 3 * points(tile // 2)


def score(board: Grid) -> int:
    """The score of a board of Threes."""
    return sum(points(tile) for row in board for tile in row)


@dataclass(frozen=True)
class NaiveThrees(NaiveGame):
    max_tile: int = 12288

    def move_line(self, line: list[int]) -> tuple[list[int], int]:
        for i, (near, far) in enumerate(pairwise(line)):
            equal = 3 <= near == far < self.max_tile
            if near == 0 or equal or {near, far} == {1, 2}:
                tile = near + far
                return [*line[:i], tile, *line[i + 2 :], 0], points(tile) - points(near) - points(far)
        return line, 0

    def afterstate(self, state: State, board: Grid, trailing: frozenset[Cell]) -> State:
        return State(board, state.hint, state.bag, trailing)

    def decisions(self, board: Grid, bag: Bag) -> dict[tuple[int, Bag], float]:
        """What the next hint may be, and the bag after it: bonus tiles leave the bag alone."""
        bonus = 1 / 21 if largest(board) >= 48 else 0.0
        counts = bag or (1, 1, 1)
        chances = {
            (tile, without(bag, tile)): (1 - bonus) * count / sum(counts)
            for tile, count in enumerate(counts, 1)
            if count
        }
        if bonus:
            chances[largest(board) // 8, bag] = bonus
        return chances

    def outcomes(self, after: State) -> dict[State, float]:
        decided = {(after.hint, after.bag): 1.0} if after.hint else self.decisions(after.board, after.bag)
        found: dict[State, float] = {}
        for (hint, bag), hint_chance in decided.items():
            tiles = [hint] if hint <= 3 else [tile for tile in bonus_tiles() if tile <= hint]
            for tile in tiles:
                for cell in after.entry:
                    board = with_tile(after.board, cell, tile)
                    for (next_hint, next_bag), chance in self.decisions(board, bag).items():
                        state = State(board, next_hint, next_bag)
                        here = hint_chance * chance / len(tiles) / len(after.entry)
                        found[state] = found.get(state, 0.0) + here
        return found


def bonus_tiles() -> list[int]:
    return [6 * 2**i for i in range(9)]


def without(bag: Bag, tile: int) -> Bag:
    """The bag after drawing a tile; an empty one is filled again at once, an unknown one stays unknown."""
    if not bag:
        return bag
    left = tuple(count - (number == tile) for number, count in enumerate(bag, 1))
    return left if any(left) else FULL_BAG
