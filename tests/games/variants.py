"""Games of the package beside their naive twins, and random boards for them."""

import random
from itertools import product

from tests.games import naive
from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.threes import Threes
from tilewright.games.twenty48 import Twenty48

SHAPES = list(product((2, 3, 4), repeat=2))
VARIANTS_2048: list[Game] = [
    make_game("2048", rows=rows, columns=columns, cascade=cascade, four=0.5 if cascade else 0.1)
    for (rows, columns), cascade in product(SHAPES, (False, True))
]
VARIANTS_THREES: list[Game] = [
    make_game("threes", rows=rows, columns=columns, start_tiles=rows * columns // 2 + 1, max_tile=max_tile)
    for (rows, columns), max_tile in product(SHAPES, (6144, 12288))
]
VARIANTS = VARIANTS_2048 + VARIANTS_THREES


def twin(game: Game) -> naive.NaiveGame:
    """The naive game of the same rules."""
    if isinstance(game, Twenty48):
        return naive.Naive2048(game.four, game.cascade)
    assert isinstance(game, Threes)
    return naive.NaiveThrees(game.max_tile)


def naive_state(board: Board) -> naive.State:
    return naive.read(board.to_json())


def random_board(game: Game, rng: random.Random) -> Board:
    """A board of a few kinds of tiles, so that many merge, with every tile of the game among the kinds."""
    tiles = [tile for tile in game.tile_values[1:] if tile <= getattr(game, "max_tile", tile)]
    kinds = rng.sample(tiles, rng.randint(1, 4))
    filled = rng.choice((0.3, 0.6, 0.9, 1.0))
    rows = [[rng.choice(kinds) if rng.random() < filled else 0 for _ in range(game.columns)] for _ in range(game.rows)]
    if isinstance(game, Twenty48):
        return game.parse(rows)
    hints = ["1", "2", "3", "+6", "+96"] + ["+"] * (max(map(max, rows)) >= 48)
    form: dict[str, object] = {"board": rows}
    if rng.random() < 0.8:
        form["hint"] = rng.choice(hints)
    if rng.random() < 0.8:
        form["bag"] = f"{rng.randint(0, 4)}{rng.randint(0, 4)}{rng.randint(1, 4)}"
    return game.parse(form)
