"""Symmetries of boards, applied to batches of grids and actions."""

import numpy as np
from numpy.typing import NDArray

from tilewright.games.base import Game
from tilewright.games.rules import DOWN, LEFT, RIGHT, UP

__all__ = ["Symmetries"]

_MIRROR = {LEFT: RIGHT, RIGHT: LEFT, UP: UP, DOWN: DOWN}
_FLIP = {UP: DOWN, DOWN: UP, LEFT: LEFT, RIGHT: RIGHT}
_TRANSPOSE = {UP: LEFT, LEFT: UP, RIGHT: DOWN, DOWN: RIGHT}


class Symmetries:
    """The symmetries of a game's board, in the order of `Game.symmetries`.

    Bit 2 of a symmetry's number transposes the board, then bit 0 mirrors it (left and right change places), then bit 1
    flips it (top and bottom change places).

    Attributes:
        count: 8 for a square board, 4 for others.

    >>> Symmetries(make_game("2048")).transform_actions(np.array([0, 1]), np.array([2, 2])).tolist()
    [2, 1]
    """

    def __init__(self, game: Game) -> None:
        """Compute the tables of a game's board."""
        self.count = 8 if game.rows == game.columns else 4
        rows = game.rows + game.has_hints
        self._sources = np.empty((self.count, rows * game.columns), np.int64)  # the cell that moves to each cell
        self._actions = np.empty((self.count, 4), np.int64)  # the action that each action becomes
        cells = np.arange(rows * game.columns).reshape(rows, game.columns)
        steps = ((4, np.transpose, _TRANSPOSE), (1, np.fliplr, _MIRROR), (2, np.flipud, _FLIP))
        for symmetry in range(self.count):
            board, actions = cells[: game.rows], list(range(4))
            for bit, turn, change in steps:
                if symmetry & bit:
                    board, actions = turn(board), [change[action] for action in actions]
            self._sources[symmetry] = np.concatenate((board, cells[game.rows :])).reshape(-1)
            self._actions[symmetry] = actions

    def transform_grids(self, grids: NDArray[np.uint8], symmetries: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Apply symmetry number symmetries[i] to grids[i]; a row with the hint stays as it is.

        Args:
            grids: uint8[n, rows, columns].
            symmetries: int64[n], from 0 to `count` - 1.
        """
        flat = grids.reshape(len(grids), -1)
        found: NDArray[np.uint8] = np.take_along_axis(flat, self._sources[symmetries], axis=1).reshape(grids.shape)
        return found

    def transform_actions(self, actions: NDArray[np.int64], symmetries: NDArray[np.int64]) -> NDArray[np.int64]:
        """Apply symmetry number symmetries[i] to actions[i].

        Args:
            actions: int64[n].
            symmetries: int64[n], from 0 to `count` - 1.
        """
        found: NDArray[np.int64] = self._actions[symmetries, actions]
        return found
