"""Listings of games and agents, with the meaning and the default of every option."""

import inspect
import re
from typing import TypeVar

from tilewright._core.options import Range, options_of
from tilewright._core.registry import Registry
from tilewright.cli import output

__all__ = ["list_registry", "option_defaults", "option_meanings"]

T = TypeVar("T")


def list_registry(registry: Registry[T], name: str | None, as_json: bool) -> None:
    """Print all entries of a registry, or the options of one.

    Args:
        registry: The games, or the agents.
        name: The entry to describe; None for a list of all.
        as_json: Whether to print JSON.
    """
    if name is None:
        _print_entries(registry, as_json)
    else:
        _print_options(registry, name, as_json)


def _print_entries(registry: Registry[T], as_json: bool) -> None:
    summaries = {name: entry.summary for name, entry in registry.entries.items()}
    if as_json:
        output.print_json(summaries)
        return
    output.print_table((registry.kind, "summary"), list(summaries.items()))
    print(f"\noptions: tilewright {registry.kind}s NAME; a spec is NAME:OPTION=VALUE,…")


def _print_options(registry: Registry[T], name: str, as_json: bool) -> None:
    cls = registry.load(name)
    defaults, meanings, ranges = option_defaults(cls), option_meanings(cls), _ranges(cls)
    summary = registry.summary(name)
    if as_json:
        limits = {option: [found.least, found.largest] for option, found in ranges.items()}
        described = {"name": name, "summary": summary, "options": defaults, "ranges": limits, "meanings": meanings}
        output.print_json(described)
        return
    print(f"{name}: {summary}")
    if not defaults:
        print("it has no options")
        return
    rows = [
        (option, _text(default), _range_text(ranges.get(option)), meanings.get(option, ""))
        for option, default in defaults.items()
    ]
    if ranges:
        output.print_table(("option", "default", "allowed", "meaning"), rows)
    else:
        output.print_table(("option", "default", "meaning"), [(row[0], row[1], row[3]) for row in rows])


def option_defaults(cls: type) -> dict[str, object]:
    """Return the defaults of all options; a class says in `default_OPTION` what None stands for."""
    defaults: dict[str, object] = {}
    for name, option in options_of(cls).items():
        is_derived = option.default is None and not option.is_required
        defaults[name] = getattr(cls, f"default_{name}", None) if is_derived else option.default
    return defaults


def _ranges(cls: type) -> dict[str, Range]:
    """Return the least and the largest values of the options that have them."""
    return {name: option.range for name, option in options_of(cls).items() if option.range is not None}


def _range_text(found: Range | None) -> str:
    return "–" if found is None else f"{found.least:,} to {found.largest:,}"


def _text(default: object) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return "–" if default is None or default == "" else str(default)


def option_meanings(cls: type) -> dict[str, str]:
    """Return the meanings of the options of a class: the Attributes in its docstring and in those of its bases.

    >>> from tilewright.agents.uct import UctAgent
    >>> option_meanings(UctAgent)["rollouts"]
    'The number of rollouts.'
    """
    meanings: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        section = re.search(r"^Attributes:\n((?:[ \t]+.*\n?|\n)+)", inspect.cleandoc(base.__doc__ or ""), re.MULTILINE)
        entries = re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", section[1] if section else "", re.MULTILINE)
        meanings |= {name: " ".join(text.split()) for name, text in entries}
    return {name: meanings[name] for name in options_of(cls) if name in meanings}
