"""State values at play time: a board on which the game is over is worth nothing, whatever the network says of it."""

import numpy as np
import pytest

import tilewright as tw
from tilewright.ntuple.patterns import NTupleArchitecture

BOARD = "2 4 / 4 4"  # after most moves, some new tiles end the game


def test_a_finished_board_is_worth_0() -> None:
    game, architecture = tw.make_game("2048:rows=2,columns=2"), NTupleArchitecture(("0145",), symmetric=False)
    weights = np.full(architecture.table_size, 100, np.float32)
    agent = tw.make_agent("ntuple", model=tw.Model(game, architecture, "state", weights))
    board = game.parse(BOARD)
    expected, ends = {}, 0
    for move in game.legal(board):
        after, reward = game.slide(board, move)
        over = [game.is_over(following) for following, _ in game.outcomes(after)]
        chances = [probability for _, probability in game.outcomes(after)]
        expected[move] = reward + sum(100 * p for p, is_over in zip(chances, over, strict=True) if not is_over)
        ends += sum(over)
    assert ends
    assert agent.values(board) == pytest.approx(expected, rel=1e-5)
