"""Expectimax written a second time, as the formula says: no kernels, no table, boards of the Python API."""

from collections.abc import Callable

import numpy as np

from tests.learning.plain import gain
from tilewright.games.board import Board

Evaluator = Callable[[Board], dict[str, float]]  # what each legal move is worth without search
ANY = 1 << 31


def rarity_of(probability: float) -> int:
    return int(np.rint(-8 * np.log2(probability)))


def moves(
    board: Board, evaluator: Evaluator, depth: int, rarity: int = ANY, *, skip_rare_leaves: bool = False
) -> dict[str, float]:
    """What each legal move is worth, searched so many plies deep.

    With `skip_rare_leaves`, where no outcome of a move is searched further, those that are less than a quarter as
    probable as the most probable one do not count.
    """
    if depth == 1:
        return evaluator(board)
    game, q_values = board.game, {}
    for action in game.legal(board):
        after, reward = game.slide(board, action)
        outcomes = game.outcomes(after)
        most = max(probability for _, probability in outcomes)
        if skip_rare_leaves and (depth == 2 or rarity_of(most) > rarity):
            outcomes = [(following, probability) for following, probability in outcomes if probability >= most / 4]
        total = 0.0
        for following, probability in outcomes:
            left = rarity - rarity_of(probability) if rarity < ANY else rarity
            plies = depth - 1 if left >= 0 else 1
            deeper = moves(following, evaluator, plies, left, skip_rare_leaves=skip_rare_leaves)
            total += probability * (gain(after, following) + max(deeper.values(), default=0.0))
        q_values[action] = reward + total / sum(probability for _, probability in outcomes)
    return q_values
