"""Names to classes: one way to register, to look up, to suggest, and to read `name:key=value,…` specs.

An entry is `"module:Class"` text, imported when it is first used. A spec's options are the fields of that class, a
frozen dataclass: their types say how the text is read, and the class itself refuses values that cannot be.
"""

import dataclasses
import difflib
import importlib
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Generic, TypeVar

from tilewright.errors import MissingExtraError, SpecError

__all__ = ["Entry", "Registry", "did_you_mean", "load_object", "option_spec"]

T = TypeVar("T")
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class Entry:
    """Where a class lives and what it does; `extra` names the optional dependencies that it needs."""

    target: str  # "module:Class"
    summary: str
    extra: str = ""


def load_object(target: str, extra: str = "") -> Any:
    """Import `module:attribute`.

    Raises:
        MissingExtraError: A third-party module of the optional dependencies `extra` is not installed.
    """
    module, _, attribute = target.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        if not extra or (error.name or "").partition(".")[0] == "tilewright":
            raise
        raise MissingExtraError(f"{error.name} is not installed: pip install 'tilewright[{extra}]'") from None


class Registry(Generic[T]):
    """The games, or the agents, by name."""

    def __init__(self, kind: str, entries: Mapping[str, Entry]) -> None:
        self.kind = kind
        self.entries = dict(entries)

    def __iter__(self) -> typing.Iterator[str]:
        return iter(self.entries)

    def register(self, name: str, target: str, summary: str) -> None:
        """Add a game or an agent: `register("mine", "my_module:MyAgent", "what it does")`."""
        if name in self.entries and self.entries[name].target != target:
            raise SpecError(f"the {self.kind} {name!r} is registered already")
        self.entries[name] = Entry(target, summary)

    def load(self, name: str) -> type[T]:
        """The class of that name."""
        if name not in self.entries:
            hint = did_you_mean(name, self.entries)
            raise SpecError(f"there is no {self.kind} {name!r}{hint}; there are: {', '.join(self.entries)}")
        loaded: type[T] = load_object(self.entries[name].target, self.entries[name].extra)
        return loaded

    def make(self, spec: str, **options: Any) -> T:
        """Make what a spec describes; keyword options are added to those of the text."""
        name, given = self.words(spec)
        found = self.load(name)
        for key, value in options.items():
            if key in given:
                raise SpecError(f"{self.kind} {name}: option {key} is given twice")
            given[key] = str(value)
        fields = [field.name for field in dataclasses.fields(found) if field.init]  # type: ignore[arg-type]
        for key in given:
            if key not in fields:
                known = f"it has: {', '.join(fields)}" if fields else "it has none"
                raise SpecError(f"{self.kind} {name} has no option {key!r}{did_you_mean(key, fields)}; {known}")
        types = typing.get_type_hints(found)
        return found(**{key: self._read(name, key, value, types[key]) for key, value in given.items()})

    def words(self, spec: str) -> tuple[str, dict[str, str]]:
        """The name and the options of a spec, as they are written."""
        name, _, text = spec.strip().partition(":")
        given: dict[str, str] = {}
        for word in filter(None, text.split(",")):
            key, equals, value = word.partition("=")
            if not equals:
                raise SpecError(f"{self.kind} {name}: {word!r} is not of the form key=value")
            if key.strip() in given:
                raise SpecError(f"{self.kind} {name}: option {key.strip()} is given twice")
            given[key.strip()] = value.strip()
        return name, given

    def _read(self, name: str, key: str, text: str, wanted: Any) -> Any:
        """Text to the type of the field, the first of a union that fits."""
        for kind in typing.get_args(wanted) or (wanted,):
            if kind is str:
                return text
            if kind is bool and text.lower() in _TRUTH:
                return _TRUTH[text.lower()]
            if kind in (int, float):
                try:
                    return kind(text)
                except ValueError:
                    continue
        noun = {int: "a whole number", float: "a number", bool: "true or false"}.get(wanted, "a number")
        raise SpecError(f"{self.kind} {name}, option {key}={text}: must be {noun}")


def option_spec(made: Any) -> str:
    """The spec that makes an equal object: its name and the options that are not the default."""
    changed = []
    for field in dataclasses.fields(made):
        value = getattr(made, field.name)
        if value != field.default and isinstance(value, str | int | float | PurePath):  # others have no text
            changed.append(f"{field.name}={str(value).lower() if isinstance(value, bool) else value}")
    return f"{made.name}:{','.join(changed)}" if changed else str(made.name)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'greedy'?)`, or nothing."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""
