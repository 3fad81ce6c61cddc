"""Images of boards, for `render_mode="rgb_array"`."""

import functools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tilewright.games.board import Board
from tilewright.games.palette import BOARD_COLOUR

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont, ImageFont

__all__ = ["render_rgb"]

TILE_SIZE, GAP, CORNER_RADIUS = 96, 10, 6  # pixels
FONT_SIZES = {1: 44, 2: 44, 3: 36, 4: 28, 5: 24, 6: 20}  # by the number of digits
SMALLEST_FONT = 14  # of longer numbers, which games of your own may have
NOTES_HEIGHT, NOTES_FONT_SIZE = 30, 18


@functools.cache
def _font(size: int) -> "FreeTypeFont | ImageFont":
    from PIL import ImageFont

    return ImageFont.load_default(size)


def render_rgb(board: Board) -> NDArray[np.uint8]:
    """Draw a board as an image, in Threes with its hint below the tiles.

    Returns:
        uint8[height, width, 3].

    >>> render_rgb(make_game("2048").start(seed=1)).shape
    (434, 434, 3)
    """
    from PIL import Image, ImageDraw

    game = board.game
    notes = " ".join(f"{name}={text}" for name, text in board.notes.items())
    width, height = (GAP + count * (TILE_SIZE + GAP) for count in (game.columns, game.rows))
    image = Image.new("RGB", (width, height + (NOTES_HEIGHT if game.has_hints else 0)), BOARD_COLOUR)
    draw = ImageDraw.Draw(image)
    for r, row in enumerate(board.codes):
        for c, code in enumerate(row):
            left, top = (GAP + index * (TILE_SIZE + GAP) for index in (c, r))
            box = (left, top, left + TILE_SIZE - 1, top + TILE_SIZE - 1)
            draw.rounded_rectangle(box, CORNER_RADIUS, game.palette.background(code))
            if code:
                number = str(game.value(code))
                centre = (left + TILE_SIZE / 2, top + TILE_SIZE / 2)
                font = _font(FONT_SIZES.get(len(number), SMALLEST_FONT))
                draw.text(centre, number, game.palette.text(code), font, anchor="mm")
    if game.has_hints:
        draw.text((GAP, height + NOTES_HEIGHT / 2 - GAP / 2), notes, "#ffffff", _font(NOTES_FONT_SIZE), anchor="lm")
    return np.asarray(image, np.uint8)
