"""The options of agents and games."""

from typing import TypeVar

from _reference.markdown import code, table
from tilewright import AGENTS, GAMES
from tilewright._core.options import Option, options_of
from tilewright._core.registry import Registry
from tilewright.cli.listing import option_defaults, option_meanings

__all__ = ["agents", "games"]

T = TypeVar("T")
_TYPES = {int: "integer", float: "number", bool: "boolean", str: "text"}


def agents() -> str:
    """Return a section for every agent of the package."""
    return _sections(AGENTS)


def games() -> str:
    """Return a section for every game of the package."""
    return _sections(GAMES)


def _sections(registry: Registry[T]) -> str:
    return "\n".join(_section(registry, name) for name in registry.available())


def _section(registry: Registry[T], name: str) -> str:
    cls = registry.load(name)
    defaults, meanings = option_defaults(cls), option_meanings(cls)
    rows = [
        (code(option.name), _type(option), _default(defaults[option.name]), _allowed(option), meanings[option.name])
        for option in options_of(cls).values()
    ]
    body = table(("option", "type", "default", "allowed", "meaning"), rows) if rows else "It has no options.\n"
    return f"## `{name}`\n\n{_sentence(registry.summary(name))}\n\n{body}"


def _sentence(text: str) -> str:
    return f"{text[0].upper() if text[0].isascii() else text[0]}{text[1:]}."


def _type(option: Option) -> str:
    kinds = [_TYPES[kind] for kind in option.kinds if kind in _TYPES]
    objects = [f"`{kind.__name__}`" for kind in option.objects]
    return " or ".join(dict.fromkeys([*kinds, *objects])) or "an object"


def _default(value: object) -> str:
    if isinstance(value, bool):
        return code(str(value).lower())
    return "none" if value is None or value == "" else code(value)


def _allowed(option: Option) -> str:
    return "" if option.range is None else f"{option.range.least:,} to {option.range.largest:,}"
