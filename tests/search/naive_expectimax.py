"""Expectimax written a second time, as the formula says: no kernels, no table, boards of the Python API."""

from collections.abc import Callable

import numpy as np

from tests.learning.plain import gain
from tilewright.games.board import Board

Evaluator = Callable[[Board], dict[str, float]]  # what each legal move is worth without search
ANY = 1 << 31


def rarity_of(probability: float) -> int:
    return int(np.rint(-8 * np.log2(probability)))


def moves(board: Board, evaluator: Evaluator, depth: int, rarity: int = ANY) -> dict[str, float]:
    """What each legal move is worth, searched so many plies deep."""
    if depth == 1:
        return evaluator(board)
    game, q_values = board.game, {}
    for action in game.legal(board):
        after, reward = game.slide(board, action)
        q_values[action] = float(reward)
        for following, probability in game.outcomes(after):
            left = rarity - rarity_of(probability) if rarity < ANY else rarity
            deeper = moves(following, evaluator, depth - 1 if left >= 0 else 1, left)
            q_values[action] += probability * (gain(after, following) + max(deeper.values(), default=0.0))
    return q_values
