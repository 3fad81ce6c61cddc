"""Symmetries of grids and actions are those of the game."""

import numpy as np
import pytest

from tests.envs import reference
from tilewright import make_game
from tilewright.deep.symmetry import Symmetries
from tilewright.games.rules import ACTIONS


@pytest.mark.parametrize("spec", ["2048", "threes", "2048:rows=3,columns=2"])
def test_grids_and_actions_are_transformed_as_the_game_transforms_boards(spec: str) -> None:
    game = make_game(spec)
    symmetries = Symmetries(game)
    for seed in range(5):
        board = game.start(seed)
        boards = game.symmetries(board)
        assert symmetries.count == len(boards)
        every = np.arange(len(boards))
        grids = symmetries.transform_grids(np.repeat(reference.grid(board)[None], len(boards), axis=0), every)
        assert np.array_equal(grids, [reference.grid(symmetric) for symmetric in boards])
        for action in game.legal(board):
            after = game.slide(board, action)[0]
            actions = symmetries.transform_actions(np.full(len(boards), ACTIONS.index(action)), every)
            for number, symmetric in enumerate(boards):
                assert game.slide(symmetric, ACTIONS[actions[number]])[0] == game.symmetries(after)[number]
