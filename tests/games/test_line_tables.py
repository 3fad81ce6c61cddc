"""Every line of the move tables equals the naive rule, in both directions."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.games.naive import NaiveGame
from tests.games.variants import twin
from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.games.rules import DOWN, LEFT, RIGHT, UP

Entries = NDArray[np.uint32]
WIDE_TILE = 65536  # no nibble holds it: lines that make one are moved without the table
GAMES = ["2048", "2048:cascade=true", "threes:max_tile=6144", "threes:max_tile=12288"]


def square(spec: str, width: int) -> Game:
    return make_game(spec, rows=width, columns=width, start_tiles=2)


def lines(game: Game, width: int) -> list[tuple[int, list[int]]]:
    """Every line of that many cells: its number in the table, and its tiles."""
    top = game.tile_values.index(getattr(game, "max_tile", 32768))
    found = []
    for number in range(0, 65536, 16 ** (4 - width)):
        codes = [number >> 12 - 4 * i & 15 for i in range(width)]
        if max(codes) <= top:
            found.append((number, [game.tile_values[code] for code in codes]))
    return found


def table_of(game: Game, action: int) -> Entries:
    """The table of one action."""
    first = int(game.rules.offsets[action])
    return game.rules.moves[first : first + 65536]


def naive_move(naive: NaiveGame, line: list[int], backwards: bool) -> tuple[list[int], int]:
    if not backwards:
        return naive.move_line(line)
    moved, reward = naive.move_line(line[::-1])
    return moved[::-1], reward


@pytest.mark.parametrize("width", [2, 3, 4])
@pytest.mark.parametrize("spec", GAMES)
def test_every_line_moves_as_the_naive_rule_says(spec: str, width: int) -> None:
    game = square(spec, width)
    naive = twin(game)
    codes = {tile: code for code, tile in enumerate(game.tile_values)}
    merge_rewards = getattr(game.rules, "merge_rewards", None)
    for action in (LEFT, RIGHT):
        table = table_of(game, action).tolist()
        for number, line in lines(game, width):
            moved, reward = naive_move(naive, line, backwards=action == RIGHT)
            if max(moved) >= WIDE_TILE:
                continue
            entry = table[number]
            assert entry & 0xFFFF == sum(codes[tile] << 12 - 4 * i for i, tile in enumerate(moved)), line
            assert (4 * (entry >> 16) if merge_rewards is None else merge_rewards[entry >> 16]) == reward, line


@pytest.mark.parametrize("width", [2, 3, 4])
@pytest.mark.parametrize("spec", ["2048", "2048:cascade=true"])
def test_every_line_that_makes_65536_slides_as_the_naive_rule_says(spec: str, width: int) -> None:
    game = square(spec, width)
    naive = twin(game)
    wide = [line for _, line in lines(game, width) if line.count(32768) + line.count(16384) >= 2]
    checked = 0
    for line in wide:
        for action, backwards in (("left", False), ("right", True)):
            moved, reward = naive_move(naive, line, backwards)
            if max(moved) < WIDE_TILE:
                continue
            after, gain = game.slide(game.parse([line, *[[0] * width] * (width - 1)]), action)
            assert (list(after.tiles[0]), gain) == (moved, reward), line
            checked += 1
    assert checked >= 2


@pytest.mark.parametrize(("rows", "columns"), [(2, 3), (2, 4), (3, 2), (3, 4), (4, 2), (4, 3)])
@pytest.mark.parametrize("spec", GAMES)
def test_an_oblong_board_uses_the_tables_of_both_its_widths(spec: str, rows: int, columns: int) -> None:
    game = make_game(spec, rows=rows, columns=columns, start_tiles=2)
    for action, width, towards in (
        (UP, rows, LEFT),
        (RIGHT, columns, RIGHT),
        (DOWN, rows, RIGHT),
        (LEFT, columns, LEFT),
    ):
        assert np.array_equal(table_of(game, action), table_of(square(spec, width), towards))
