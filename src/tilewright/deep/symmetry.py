"""Symmetric images of grids and actions, for whole batches: a board learned from any side."""

import numpy as np
from numpy.typing import NDArray

from tilewright.games.base import Game
from tilewright.games.rules import DOWN, LEFT, RIGHT, UP

__all__ = ["Symmetries"]

_MIRRORED, _FLIPPED, _TRANSPOSED = (
    {LEFT: RIGHT, RIGHT: LEFT, UP: UP, DOWN: DOWN},
    {UP: DOWN, DOWN: UP, LEFT: LEFT, RIGHT: RIGHT},
    {UP: LEFT, LEFT: UP, RIGHT: DOWN, DOWN: RIGHT},
)


class Symmetries:
    """The images of a game's board, numbered as in `games.grid`: bit 2 transposes first, bit 0 mirrors, bit 1 flips."""

    def __init__(self, game: Game) -> None:
        self.count = 8 if game.rows == game.columns else 4
        rows = game.rows + game.has_hints
        self.cells = np.empty((self.count, rows * game.columns), np.int64)  # where a cell of the image comes from
        self.actions = np.empty((self.count, 4), np.int64)  # what an action is in the image
        places = np.arange(rows * game.columns).reshape(rows, game.columns)
        for which in range(self.count):
            board, moves = places[: game.rows], dict(zip(range(4), range(4), strict=True))
            for bit, turn, move in (
                (4, np.transpose, _TRANSPOSED),
                (1, np.fliplr, _MIRRORED),
                (2, np.flipud, _FLIPPED),
            ):
                if which & bit:
                    board, moves = turn(board), {old: move[new] for old, new in moves.items()}
            self.cells[which] = np.concatenate((board, places[game.rows :])).reshape(-1)
            self.actions[which] = [moves[action] for action in range(4)]

    def of_grids(self, grids: NDArray[np.uint8], which: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Image number which[i] of grids[i]."""
        flat = grids.reshape(len(grids), -1)
        orient: NDArray[np.uint8] = np.take_along_axis(flat, self.cells[which], axis=1).reshape(grids.shape)
        return orient

    def of_actions(self, actions: NDArray[np.int64], which: NDArray[np.int64]) -> NDArray[np.int64]:
        orient: NDArray[np.int64] = self.actions[which, actions]
        return orient
