"""Images of boards show every tile in its colour."""

import numpy as np
import pytest

from tilewright import make_game
from tilewright.envs.render import GAP, NOTES_HEIGHT, TILE_SIZE, render_rgb
from tilewright.games.palette import BOARD_COLOUR


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


@pytest.mark.parametrize("spec", ["2048", "threes", "2048:rows=2,columns=3"])
def test_cells_have_the_colours_of_their_tiles(spec: str) -> None:
    game = make_game(spec)
    board = game.start(seed=3)
    image = render_rgb(board)
    assert image.dtype == np.uint8
    assert image.shape == (
        GAP + game.rows * (TILE_SIZE + GAP) + NOTES_HEIGHT * game.has_hints,
        GAP + game.columns * (TILE_SIZE + GAP),
        3,
    )
    assert tuple(image[0, 0]) == _rgb(BOARD_COLOUR)
    for r, row in enumerate(board.codes):
        for c, code in enumerate(row):
            top, left = (GAP + index * (TILE_SIZE + GAP) for index in (r, c))
            tile = image[top : top + TILE_SIZE, left : left + TILE_SIZE]
            assert tuple(tile[TILE_SIZE // 2, 2]) == _rgb(game.palette.background(code))
            colours = {tuple(pixel) for pixel in tile[20:-20, 10:-10].reshape(-1, 3)}
            assert (_rgb(game.palette.text(code)) in colours) == (code > 0), "only tiles have a number"


def test_every_tile_can_be_drawn() -> None:
    for spec in ("2048", "threes"):
        game = make_game(spec)
        for value in game.tile_values[1:]:
            rows = [[value, 0, 0, 0], *[[0] * 4] * 3]
            assert render_rgb(game.parse(rows)).any()


def test_the_hint_is_written_below_the_tiles() -> None:
    game = make_game("threes")
    images = {board.notes["hint"]: render_rgb(board)[-NOTES_HEIGHT:] for board in map(game.start, range(20))}
    assert {"1", "2", "3"} <= set(images)
    assert not np.array_equal(images["1"], images["2"])
