"""A small engine of 2048 in plain Python, and wrong ones with one bug each."""

from typing import Any

import numpy as np

from tilewright.audit.engines import View
from tilewright.audit.rules import WRONG_RULES, Tiles, empty_cells, legal_moves, move_line, slide
from tilewright.games.rules import ACTIONS


class RightEngine:
    """An engine without a bug. A wrong one overrides one method."""

    line_rule = staticmethod(move_line)

    def __init__(self) -> None:
        self.random = np.random.default_rng(0)
        self.tiles: Tiles = ()

    def reset(self, seed: int) -> View:
        self.seed(seed)
        self.tiles = ((0,) * 4,) * 4
        for _ in range(self.start_tiles()):
            self.tiles = self.spawn(self.tiles)
        return self.view()

    def step(self, action: int) -> tuple[View, float]:
        direction = ACTIONS[action]
        before = self.tiles
        after, points = slide(before, direction, self.line_rule)
        if after == before:
            self.tiles = self.after_illegal_move(before)
            return self.view(), 0.0
        self.tiles = self.add_tiles(before, after)
        return self.view(), self.reward(points, before)

    def view(self) -> View:
        return View(self.show(self.tiles), self.mask(self.tiles), self.is_over(self.tiles))

    def seed(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def start_tiles(self) -> int:
        return 2

    def new_value(self) -> int:
        return 4 if self.random.random() < 0.1 else 2

    def place(self, empty: list[tuple[int, int]]) -> tuple[int, int]:
        return empty[self.random.integers(len(empty))]

    def spawn(self, tiles: Tiles) -> Tiles:
        return put(tiles, self.place(empty_cells(tiles)), self.new_value())

    def add_tiles(self, before: Tiles, after: Tiles) -> Tiles:
        return self.spawn(after)

    def after_illegal_move(self, tiles: Tiles) -> Tiles:
        return tiles

    def reward(self, points: int, before: Tiles) -> float:
        return float(points)

    def mask(self, tiles: Tiles) -> tuple[bool, ...] | None:
        return tuple(direction in legal_moves(tiles) for direction in ACTIONS)

    def is_over(self, tiles: Tiles) -> bool:
        return not legal_moves(tiles)

    def show(self, tiles: Tiles) -> np.ndarray:
        return np.array(tiles)


def put(tiles: Tiles, cell: tuple[int, int], value: int) -> Tiles:
    rows = [list(row) for row in tiles]
    rows[cell[0]][cell[1]] = value
    return tuple(map(tuple, rows))


def with_rule(message: str) -> type[RightEngine]:
    return type("WrongRule", (RightEngine,), {"line_rule": staticmethod(WRONG_RULES[message][1])})


class RewardsTheNewTile(RightEngine):
    def reward(self, points: int, before: Tiles) -> float:
        return float(points) + (before[0][0] == 2 and points > 0)


class OmitsMerges(RightEngine):
    """Legal are only moves into an empty cell."""

    def mask(self, tiles: Tiles) -> tuple[bool, ...]:
        return tuple(slide(tiles, move, WRONG_RULES["equal tiles do not merge"][1])[0] != tiles for move in ACTIONS)


class ListsEverything(RightEngine):
    def mask(self, tiles: Tiles) -> tuple[bool, ...]:
        return (True,) * 4


class AddsATileAfterAnIllegalMove(RightEngine):
    def after_illegal_move(self, tiles: Tiles) -> Tiles:
        return self.spawn(tiles) if empty_cells(tiles) else tiles


class EndsOnAFullBoard(RightEngine):
    def is_over(self, tiles: Tiles) -> bool:
        return not empty_cells(tiles)


class NeverEnds(RightEngine):
    def is_over(self, tiles: Tiles) -> bool:
        return False


class AddsNothingToCrowdedBoards(RightEngine):
    def add_tiles(self, before: Tiles, after: Tiles) -> Tiles:
        return after if len(empty_cells(after)) == 5 else self.spawn(after)


class AddsTwoTilesNow(RightEngine):
    def add_tiles(self, before: Tiles, after: Tiles) -> Tiles:
        return self.spawn(self.spawn(after)) if len(empty_cells(after)) == 8 else self.spawn(after)


class AddsEights(RightEngine):
    def new_value(self) -> int:
        return 8 if self.random.random() < 0.01 else super().new_value()

    def start_tiles(self) -> int:
        return 2


class ManyFours(RightEngine):
    def new_value(self) -> int:
        return 4 if self.random.random() < 0.15 else 2


class StaleEmptyCells(RightEngine):
    """Draws the place among the cells that were empty before the move, where it can."""

    def add_tiles(self, before: Tiles, after: Tiles) -> Tiles:
        stale = [cell for cell in empty_cells(after) if cell in empty_cells(before)]
        return put(after, self.place(stale or empty_cells(after)), self.new_value())


class PrefersTheTop(RightEngine):
    def place(self, empty: list[tuple[int, int]]) -> tuple[int, int]:
        return min(super().place(empty), super().place(empty)) if self.random.random() < 0.3 else super().place(empty)


class FirstTilesInTheCorners(RightEngine):
    def reset(self, seed: int) -> View:
        self.seed(seed)
        self.tiles = put(put(((0,) * 4,) * 4, (0, 0), self.new_value()), (3, 3), self.new_value())
        return self.view()


class IgnoresTheSeed(RightEngine):
    count = 0

    def seed(self, seed: int) -> None:
        IgnoresTheSeed.count += 1
        super().seed(IgnoresTheSeed.count)


class AlwaysTheSameGame(RightEngine):
    def seed(self, seed: int) -> None:
        super().seed(0)


class SharesAGenerator(RightEngine):
    """Seeds one generator for all engines, as global ones are."""

    shared = np.random.default_rng(0)

    def seed(self, seed: int) -> None:
        SharesAGenerator.shared = np.random.default_rng(seed)

    @property
    def random(self) -> Any:
        return SharesAGenerator.shared

    @random.setter
    def random(self, value: Any) -> None:
        pass


class ReturnsItsOwnArray(RightEngine):
    def show(self, tiles: Tiles) -> np.ndarray:
        if not hasattr(self, "array"):
            self.array = np.zeros((4, 4), np.int64)
        self.array[:] = tiles
        return self.array


class Exponents(RightEngine):
    """Right, in another form: exponents in one row, actions in another order, no masks, rewards as logarithms."""

    ORDER = (2, 0, 3, 1)

    def step(self, action: int) -> tuple[View, float]:
        return super().step(self.ORDER[action])

    def mask(self, tiles: Tiles) -> None:
        return None

    def show(self, tiles: Tiles) -> np.ndarray:
        return np.array([tile.bit_length() - 1 if tile else 0 for row in tiles for tile in row])

    def reward(self, points: int, before: Tiles) -> float:
        return float(np.log2(points)) if points else 0.0


class Planes(RightEngine):
    """Right, in another form: planes without one for empty cells, and a tenth of the points."""

    def show(self, tiles: Tiles) -> np.ndarray:
        return np.array([[[tile == 2 << plane for plane in range(11)] for tile in row] for row in tiles], np.uint8)

    def reward(self, points: int, before: Tiles) -> float:
        return points / 10


class ShowsNoise(RightEngine):
    def show(self, tiles: Tiles) -> np.ndarray:
        return self.random.integers(0, 6, size=(4, 4))
