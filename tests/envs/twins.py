"""An environment written a second time: boards and moves through the public methods of a Game, one at a time."""

import numpy as np
from numpy.typing import NDArray

from tilewright import Board, Game, IllegalMoveError
from tilewright.games.rules import ACTIONS

__all__ = ["Array", "ahead", "grid", "mask", "one_hot"]

Array = NDArray[np.uint8]


def grid(board: Board) -> Array:
    rows = [list(row) for row in board.codes]
    if board.game.name == "threes":
        hint = board.notes["hint"]
        rows.append([4 if hint.startswith("+") else int(hint)] * board.game.columns)
    return np.array(rows, np.uint8)


def one_hot(board: Board) -> Array:
    planes: Array = (grid(board)[None] == np.arange(16)[:, None, None]).astype(np.uint8)
    return planes


def ahead(board: Board, depth: int) -> Array:
    first = [_slid(board.game, board, action) for action in ACTIONS]
    found = [board, *first]
    if depth == 2:
        found += [after and _slid(board.game, after, action) for after in first for action in ACTIONS]
    return np.stack([np.zeros_like(grid(board)) if one is None else grid(one) for one in found])


def _slid(game: Game, board: Board, action: str) -> Board | None:
    try:
        return game.slide(board, action)[0]
    except IllegalMoveError:
        return None


def mask(board: Board) -> list[int]:
    return [int(action in board.game.legal(board)) for action in ACTIONS]
