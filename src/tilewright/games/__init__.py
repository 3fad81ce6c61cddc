"""The games: rules as exact fast kernels, and the boards, moves and outcomes that Python code works with."""

from typing import TYPE_CHECKING, Any

from tilewright._core.registry import Entry, Registry
from tilewright.errors import UsageError

if TYPE_CHECKING:
    from tilewright.games.base import Game

__all__ = ["GAMES", "game_of", "make_game"]

GAMES: "Registry[Game]" = Registry(
    "game",
    {
        "2048": Entry("tilewright.games.twenty48:Twenty48", "slide and merge equal tiles; boards from 2x2 to 4x4"),
        "threes": Entry("tilewright.games.threes:Threes", "1 + 2 = 3, then equal tiles; hint, bag and bonus tiles"),
    },
)


def make_game(spec: str = "2048", **options: Any) -> "Game":
    """A game by its spec, options in the text or as keywords.

    >>> make_game("2048", rows=3, columns=3) == make_game("2048:rows=3,columns=3")
    True
    """
    return GAMES.make(spec, **options)


def game_of(game: "Game | str") -> "Game":
    """Return a game as it is, and make one of a spec.

    Raises:
        UsageError: It is neither.
    """
    from tilewright.games.base import Game
    from tilewright.games.notation import excerpt

    if isinstance(game, Game):
        return game
    if isinstance(game, str):
        return make_game(game)
    raise UsageError(f"{excerpt(game)} is no game: give a Game, or a spec such as '2048:rows=3'")
