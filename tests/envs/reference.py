"""Observations written a second time: one board at a time, through the public methods of a Game."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tilewright import Board, Game, IllegalMoveError
from tilewright.games.rules import ACTIONS

__all__ = ["OBSERVATIONS", "action_mask", "grid", "lookahead", "one_hot"]

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


def lookahead(board: Board, depth: int) -> Array:
    first = [_slide(board.game, board, action) for action in ACTIONS]
    boards = [board, *first]
    if depth == 2:
        boards += [after and _slide(board.game, after, action) for after in first for action in ACTIONS]
    return np.stack([np.zeros_like(grid(board)) if one is None else grid(one) for one in boards])


def _slide(game: Game, board: Board, action: str) -> Board | None:
    try:
        return game.slide(board, action)[0]
    except IllegalMoveError:
        return None


def action_mask(board: Board) -> list[int]:
    return [int(action in board.game.legal(board)) for action in ACTIONS]


OBSERVATIONS: dict[str, Callable[[Board], Array]] = {
    "grid": grid,
    "onehot": one_hot,
    "lookahead1": lambda board: lookahead(board, 1),
    "lookahead2": lambda board: lookahead(board, 2),
}
