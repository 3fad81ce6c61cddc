"""Images of grids and actions are those of the game."""

import numpy as np
import pytest

from tests.envs import twins
from tilewright import make_game
from tilewright.deep.symmetry import Symmetries
from tilewright.games.rules import ACTIONS


@pytest.mark.parametrize("spec", ["2048", "threes", "2048:rows=3,columns=2"])
def test_an_image_of_a_grid_is_the_grid_of_the_image_and_moves_go_with_it(spec: str) -> None:
    game = make_game(spec)
    symmetries = Symmetries(game)
    for seed in range(5):
        board = game.start(seed)
        boards = game.symmetries(board)
        assert symmetries.count == len(boards)
        which = np.arange(len(boards))
        turned = symmetries.of_grids(np.repeat(twins.grid(board)[None], len(boards), axis=0), which)
        assert np.array_equal(turned, [twins.grid(image) for image in boards])
        for action in game.legal(board):
            after = game.slide(board, action)[0]
            moved = symmetries.of_actions(np.full(len(boards), ACTIONS.index(action)), which)
            for number, image in enumerate(boards):
                assert game.slide(image, ACTIONS[moved[number]])[0] == game.symmetries(after)[number]
