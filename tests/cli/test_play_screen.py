"""Screens fit their terminal, whatever its size, the game and what there is to tell."""

import io
import itertools

import pytest
from rich.console import Console
from rich.text import Text

from tilewright import Episode, make_agent, make_game
from tilewright.cli.play_screen import PlayScreen
from tilewright.cli.play_session import PlaySession
from tilewright.games.palette import TERMINAL_COLOURS

GAMES = {
    "2048": "65536 131072 32768 16384 / 65536 2 4 8 / 0 0 0 2 / 16 32 64 128",
    "threes": "12288 6144 3072 1536 / 768 384 192 96 / 48 24 12 6 / 3 0 2 1 hint=+ bag=143",
    "2048:rows=2,columns=3": "2 0 2 / 4 4 0",
}


def session(spec: str, *keys: str) -> PlaySession:
    game = make_game(spec)
    found = PlaySession(make_agent("greedy").player(game), Episode(game, 2**32 - 1, 999, game.parse(GAMES[spec])))
    for key in keys:
        found.press(key)
    return found


def screen(coloured: bool, plain_text: bool = False, colours: str = "truecolor") -> PlayScreen:
    console = Console(file=io.StringIO(), force_terminal=True, color_system=colours, width=300, highlight=False)  # type: ignore[arg-type]
    return PlayScreen(console, coloured, plain_text)


@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize("keys", [(), ("i",), ("?",), ("i", "+"), ("x" * 99,)])
@pytest.mark.parametrize("coloured", [True, False])
def test_no_screen_is_larger_than_its_terminal(spec: str, keys: tuple[str, ...], coloured: bool) -> None:
    shown = session(spec, *keys)
    for columns, rows in itertools.product((1, 10, 29, 30, 60, 79, 80, 200), (1, 2, 12, 15, 22, 24, 60)):
        lines = screen(coloured).draw(shown, columns, rows)
        assert len(lines) <= rows
        assert max(len(Text.from_ansi(line).plain) for line in lines) <= columns


@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize("size", [(80, 24), (40, 15)])
def test_every_tile_is_on_the_screen(spec: str, size: tuple[int, int]) -> None:
    shown = session(spec)
    for coloured in (True, False):
        text = "\n".join(Text.from_ansi(line).plain for line in screen(coloured).draw(shown, *size))
        for tile in (tile for row in shown.episode.board.tiles for tile in row if tile):
            assert f" {tile} " in text


@pytest.mark.parametrize("spec", GAMES)
def test_plain_text_is_ascii(spec: str) -> None:
    for size in ((80, 24), (40, 15), (10, 3)):
        assert all(line.isascii() for line in screen(False, plain_text=True).draw(session(spec, "i"), *size))


@pytest.mark.parametrize("spec", ["2048", "threes"])
@pytest.mark.parametrize("colours", ["truecolor", "256"])
def test_tiles_that_can_meet_can_be_told_apart(spec: str, colours: str) -> None:
    """Neighbours in size, and the empty cell, never share a background."""
    game = make_game(spec)
    drawn = screen(True, colours=colours)
    shades = [drawn._colour(game.palette.background(code)) for code in range(len(game.tile_values))]
    assert all(one != two for one, two in itertools.pairwise(shades))
    assert shades[0] not in shades[1:]


def test_the_256_colours_stand_for_colours_that_are_in_use() -> None:
    games = [make_game("2048"), make_game("threes")]
    used = {game.palette.background(code) for game in games for code in range(len(game.tile_values))}
    assert set(TERMINAL_COLOURS) - used == {"#bbada0"}
