"""The games: exact and fast rules as kernels, and the boards, moves and outcomes that Python code uses."""

from typing import TYPE_CHECKING

from tilewright._core.registry import Entry, Registry

if TYPE_CHECKING:
    from tilewright.games.base import Game

__all__ = ["GAMES", "make_game", "make_known_game"]

GAMES: "Registry[Game]" = Registry(
    "game",
    {
        "2048": Entry("tilewright.games.twenty48:Twenty48", "slide and merge equal tiles; boards from 2x2 to 4x4"),
        "threes": Entry("tilewright.games.threes:Threes", "1 + 2 = 3, then equal tiles; hint, bag and bonus tiles"),
    },
    base="tilewright.games.base:Game",
)


def make_game(spec: "str | Game" = "2048", **options: object) -> "Game":
    """Make a game from its spec; a Game is returned as it is.

    >>> make_game("2048", rows=3, columns=3) == make_game("2048:rows=3,columns=3")
    True

    Args:
        spec: A registered name with options, such as `2048:rows=3,columns=3`, or your own class, such as
            `my_module:MyGame,rows=3`.
        options: Options in addition to those of the spec.

    Raises:
        SpecError: There is no such game or option, or an option has an impossible value.
    """
    return GAMES.make(spec, **options)


def make_known_game(spec: str) -> "Game":
    """Make a game from a spec that a file names: nothing is imported on its word.

    Raises:
        SpecError: As `make_game`, and if the spec names a class of a module that is not imported yet.
    """
    GAMES.check_imported(spec)
    return GAMES.make(spec)
