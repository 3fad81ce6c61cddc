"""The games of the server: specs of requests, and descriptions for the page."""

from functools import lru_cache

from tilewright.errors import UsageError
from tilewright.games import GAMES
from tilewright.games.base import Game
from tilewright.web.registration import parse_registered
from tilewright.web.schemas import JsonObject

__all__ = ["describe_game", "describe_games", "read_game"]

_HINTS = ("1", "2", "3", "+")  # what a board can say of the next tile


@lru_cache(maxsize=256)
def read_game(spec: str, max_length: int) -> Game:
    """Return the game of a request's spec.

    Raises:
        SpecError: There is no such game or option, or the spec has more than `max_length` characters.
    """
    name, words = parse_registered(GAMES, spec, max_length)
    return GAMES.make(name, **words)


def describe_games() -> list[JsonObject]:
    """Describe all games that can be played without further options; a broken plug-in is left out."""
    return [_describe(name, game) for name in GAMES.available() if (game := _make_default(name)) is not None]


def describe_game(game: Game) -> JsonObject:
    """Describe one game as it is played, with its options: the fields of `GameDetails`."""
    _, options = GAMES.parse(game.spec)
    return {
        "spec": game.spec,
        "name": game.name,
        "title": game.name[:1].upper() + game.name[1:],
        "variant": ", ".join(f"{name}={value}" for name, value in options.items()),
        "rows": game.rows,
        "columns": game.columns,
        "hints": list(_HINTS) if game.has_hints else [],
        "example": game.text(game.start(0)),
        **_look(game),
    }


def _make_default(name: str) -> Game | None:
    try:
        return GAMES.make(name)
    except UsageError:
        return None


def _describe(name: str, game: Game) -> JsonObject:
    options = [
        {"name": option.name, "default": _shown(option.default), "kind": _kind(option.kinds)}
        for option in GAMES.options(name).values()
        if option.kinds
    ]
    return {
        "name": name,
        "summary": GAMES.summary(name),
        "options": options,
        **_look(game),
    }


def _look(game: Game) -> JsonObject:
    return {
        "tiles": game.tile_values,
        "win_tile": None if game.win_code is None else game.value(game.win_code),
        "colours": [game.palette.background(code) for code in range(len(game.tile_values))],
    }


def _shown(default: object) -> object:
    return default if isinstance(default, bool | int | float | str | None) else str(default)


def _kind(kinds: tuple[type, ...]) -> str:
    """Return the name of the type that the page asks for: text where it is none of bool, int and float."""
    found = [kind for kind in kinds if kind is not type(None)]
    return found[0].__name__ if len(found) == 1 and found[0] in (bool, int, float) else "str"
