"""Practice positions: boards of a table on which the second best move loses a given amount."""

import numpy as np

from tilewright._core.checks import check_integer
from tilewright._core.text import excerpt
from tilewright.errors import BoardError, UsageError
from tilewright.exact.table import ExactTable
from tilewright.games.board import Board
from tilewright.games.twenty48 import LARGEST_CODE

__all__ = ["practice_positions"]

MAX_COUNT = 100_000
_TRIES = 2_000  # for each position, in a row
_POSITIONS = 10  # for which tries are saved up


def practice_positions(
    table: ExactTable,
    count: int = 10,
    *,
    loss: tuple[float, float],
    value: tuple[float, float] = (0.0, float("inf")),
    seed: int = 0,
) -> list[Board]:
    """Draw boards by how much the second best move loses.

    >>> table = solve("2048:rows=2,columns=3", goal=64)
    >>> boards = practice_positions(table, 3, loss=(0.1, 0.2), seed=1)
    >>> [0.1 <= sorted(table.values(board).values())[-1] - sorted(table.values(board).values())[-2] <= 0.2
    ...  for board in boards]
    [True, True, True]

    Args:
        table: The table of a game or of an endgame.
        count: The number of boards, at most 100,000.
        loss: The smallest and the largest loss of the second best move, in the unit of the table. A small loss
            makes a difficult board; a large loss means that only one move is good.
        value: The smallest and the largest value of the best move.
        seed: The same seed gives the same boards.

    Returns:
        Different boards; fewer than `count` if they are rare.
    """
    check_integer(f"count={excerpt(count)}", count, 1, MAX_COUNT)
    check_integer(f"seed={excerpt(seed)}", seed, 0)
    for name, (low, high) in (("loss", loss), ("value", value)):
        if not low <= high:
            raise UsageError(f"{name}=({low}, {high}): the first number must not be above the second")
    random = np.random.default_rng(seed)
    found: dict[str, Board] = {}
    tries = allowed = _TRIES * min(count, _POSITIONS)
    while tries and len(found) < count:
        tries -= 1
        try:
            board = _random_board(table, random)
            values = sorted(table.values(board).values())
        except BoardError:
            continue
        text = table.game.text(board)
        if text in found or len(values) < 2:
            continue
        if loss[0] <= values[-1] - values[-2] <= loss[1] and value[0] <= values[-1] <= value[1]:
            found[text], tries = board, allowed
    return list(found.values())


def _random_board(table: ExactTable, random: np.random.Generator) -> Board:
    """A random afterstate of the table with a new 2, and large tiles of all sizes in place of the walls.

    Raises:
        BoardError: The table has a board that is not an afterstate.
    """
    cells, game = int(table.keys[random.integers(len(table.keys))]), table.game
    walls, free = int(table.problem.space.walls), int(table.problem.space.free)
    empty = [place for place in range(16) if free >> 4 * place & 1 and not cells >> 4 * place & 15]
    if not empty:
        raise BoardError("an afterstate without an empty cell")
    cells |= 1 << 4 * int(random.choice(empty))
    count = table.problem.walls.bit_count()
    largest = min(LARGEST_CODE, table.problem.space.goal + count)
    codes = [cells >> 4 * place & 15 for place in range(15, -1, -1)]
    for i in (i for i in range(16) if walls >> 4 * (15 - i) & 15):
        codes[i], largest = largest, largest - 1
    tiles = [game.value(code) for code in codes]
    return game.parse([tiles[4 * row : 4 * row + game.columns] for row in range(game.rows)])
