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


def moves_by_afterstates(board: Board, evaluator: Evaluator, depth: int, rarity: int) -> dict[str, float]:
    """The same with a memory of afterstates.

    What is known of an afterstate serves where it is met with the same depth, and with at most two bits (16 eighths)
    more to go. Where no outcome is searched further, those less than a quarter as probable as the likeliest are left
    out.
    """
    game = board.game
    known: dict[tuple[Board, int], tuple[int, float]] = {}

    def best(following: Board, plies: int, left: int) -> float:
        if plies == 1 or left < 0:
            return max(evaluator(following).values(), default=0.0)
        slid = [game.slide(following, action) for action in game.legal(following)]
        return max((reward + mean(after, plies - 1, left) for after, reward in slid), default=0.0)

    def mean(after: Board, plies: int, left: int) -> float:
        if (after, plies) in known and known[after, plies][0] + 16 >= left:
            return known[after, plies][1]
        outcomes = game.outcomes(after)
        most = max(probability for _, probability in outcomes)
        if plies == 1 or rarity_of(most) > left:
            outcomes = [(following, probability) for following, probability in outcomes if probability >= most / 4]
        total = sum(
            probability * (gain(after, following) + best(following, plies, left - rarity_of(probability)))
            for following, probability in outcomes
        )
        known[after, plies] = left, total / sum(probability for _, probability in outcomes)
        return known[after, plies][1]

    if depth == 1:
        return evaluator(board)
    slid = {action: game.slide(board, action) for action in game.legal(board)}
    return {action: reward + mean(after, depth - 1, rarity) for action, (after, reward) in slid.items()}
