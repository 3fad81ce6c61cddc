"""The plain rules of an audit are those of the kernels."""

import numpy as np
import pytest

from tilewright import IllegalMoveError, make_game
from tilewright.audit.rules import WRONG_RULES, Tiles, lanes, legal_moves, slide
from tilewright.games.rules import ACTIONS


def random_boards(count: int) -> list[Tiles]:
    choices = np.random.default_rng(0)
    boards = []
    for _ in range(count):
        codes = choices.integers(0, choices.integers(2, 15), size=(4, 4)) * (choices.random((4, 4)) < choices.random())
        boards.append(tuple(tuple(int(2**code) if code else 0 for code in row) for row in codes))
    return boards


def test_slides_and_legal_moves_are_those_of_the_game() -> None:
    game = make_game("2048")
    for tiles in random_boards(200):
        assert list(legal_moves(tiles)) == game.legal(tiles)
        for move in ACTIONS:
            try:
                after, reward = game.slide(tiles, move)
            except IllegalMoveError:
                assert slide(tiles, move) == (tiles, 0)
            else:
                assert slide(tiles, move) == (after.tiles, reward)


@pytest.mark.parametrize("message", WRONG_RULES)
def test_a_wrong_rule_differs_from_the_right_one(message: str) -> None:
    rule = WRONG_RULES[message][1]
    assert any(slide(tiles, "left", rule)[0] != slide(tiles, "left")[0] for tiles in random_boards(100))


def test_lanes_are_written_from_the_side_the_tiles_move_to() -> None:
    tiles = ((2, 4), (8, 16))
    assert [lanes(tiles, move) for move in ACTIONS] == [
        [(2, 8), (4, 16)],
        [(4, 2), (16, 8)],
        [(8, 2), (16, 4)],
        [(2, 4), (8, 16)],
    ]
