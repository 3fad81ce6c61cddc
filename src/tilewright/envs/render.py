"""A board as a picture: what `render_mode="rgb_array"` gives."""

import functools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tilewright.games.board import Board
from tilewright.games.palette import BOARD_COLOUR

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont, ImageFont

__all__ = ["board_picture"]

TILE, GAP, ROUND = 96, 10, 6
FONT_SIZES = {1: 44, 2: 44, 3: 36, 4: 28, 5: 24, 6: 20}  # by digits
NOTE_HEIGHT = 30


@functools.cache
def _font(size: int) -> "FreeTypeFont | ImageFont":
    from PIL import ImageFont

    return ImageFont.load_default(size)


def board_picture(board: Board) -> NDArray[np.uint8]:
    """uint8[height, width, 3]: the tiles in their colours, and under them what else is known."""
    from PIL import Image, ImageDraw

    game = board.game
    note = " ".join(f"{name}={text}" for name, text in board.notes.items())
    width, height = (GAP + count * (TILE + GAP) for count in (game.columns, game.rows))
    picture = Image.new("RGB", (width, height + (NOTE_HEIGHT if game.has_hints else 0)), BOARD_COLOUR)
    pen = ImageDraw.Draw(picture)
    for r, row in enumerate(board.codes):
        for c, code in enumerate(row):
            left, top = (GAP + place * (TILE + GAP) for place in (c, r))
            box = (left, top, left + TILE - 1, top + TILE - 1)
            pen.rounded_rectangle(box, ROUND, game.palette.background(code))
            if code:
                number = str(game.value(code))
                middle = (left + TILE / 2, top + TILE / 2)
                pen.text(middle, number, game.palette.text(code), _font(FONT_SIZES[len(number)]), anchor="mm")
    if game.has_hints:
        pen.text((GAP, height + NOTE_HEIGHT / 2 - GAP / 2), note, "#ffffff", _font(18), anchor="lm")
    return np.asarray(picture, np.uint8)
