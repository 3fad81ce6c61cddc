"""Options of games and agents: the annotated attributes of a class, read from text and written back.

    class Corner(Agent):                                    make_agent("my_agents:Corner,weight=2")
        weight: float = 1.0
        depth: Annotated[int, Range(1, 12)] = 3             a number with a least and a largest value

A class may be decorated as a frozen dataclass, but need not be: `Configurable` completes it on first use.
"""

import inspect
import os
import re
import threading
import types
import typing
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Number
from pathlib import Path
from typing import ClassVar, Self, TypeVar

from tilewright._core.checks import Range
from tilewright._core.text import excerpt
from tilewright.errors import UsageError

__all__ = ["Configurable", "Option", "Range", "check_ranges", "complete_class", "option_words", "options_of"]

T = TypeVar("T")
_COMPLETING = threading.RLock()  # two threads may use a class for the first time
Value = bool | int | float | str | Path | None
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_NOUNS: dict[type, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    Path: "a path",
}
_READABLE = (*_NOUNS, type(None))
_LIMITED: "weakref.WeakKeyDictionary[type, tuple[Option, ...]]" = weakref.WeakKeyDictionary()  # games are made often


@typing.dataclass_transform(frozen_default=True)
class Configurable:
    """Base of classes whose options are their annotated attributes.

    A subclass without the dataclass decorator becomes a frozen dataclass when it is first used, unless it has an
    `__init__` of its own. A subclass without a `name` is called as its class.
    """

    name: ClassVar[str]

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        for base in reversed(cls.__mro__[1:]):
            if base is not Configurable and issubclass(base, Configurable):
                complete_class(base)
        _complete_annotations(cls)
        given = [base for base in cls.__mro__ if "name" in vars(base) and not vars(base).get("_name_is_derived")]
        if not given:
            cls.name = cls.__name__
            cls._name_is_derived = True  # type: ignore[attr-defined]

    def __new__(cls, *arguments: object, **options: object) -> Self:  # noqa: ARG004  (they are for __init__)
        complete_class(cls)
        return super().__new__(cls)


def _complete_annotations(cls: type) -> None:
    """Annotate what the class overrides, so that a dataclass decorator sees it.

    `rows = 3` changes the default of the option `rows`, and `name: str = "mine"` stays an attribute of the class.
    """
    own = inspect.get_annotations(cls)
    inherited: dict[str, object] = {}
    for base in reversed(cls.__mro__[1:]):
        inherited.update(inspect.get_annotations(base))
    for name, annotation in inherited.items():
        if _is_class_variable(annotation):
            if name in own:
                own[name] = ClassVar
        elif name in vars(cls) and name not in own:
            own[name] = annotation
    cls.__annotations__ = own


def _is_class_variable(annotation: object) -> bool:
    text = annotation if isinstance(annotation, str) else ""
    is_text = re.match(r"(typing\.)?ClassVar\b", text) is not None
    return is_text or annotation is ClassVar or typing.get_origin(annotation) is ClassVar


def complete_class(cls: type[T]) -> type[T]:
    """Make a frozen dataclass of a `Configurable` class that is not one yet.

    A class with an `__init__` of its own stays as it is; its objects are then equal only to themselves.
    """
    with _COMPLETING:
        if "__dataclass_fields__" in vars(cls):
            return cls
        if "__init__" not in vars(cls):
            return dataclass(frozen=True)(cls)
        for method in ("__eq__", "__hash__"):
            if method not in vars(cls):
                setattr(cls, method, getattr(object, method))
        return cls


@dataclass(frozen=True)
class Option:
    """One option of a class."""

    name: str
    kinds: tuple[type, ...]  # the types that text can express, in the order in which they are tried
    allows_objects: bool  # whether it has other types, too
    default: object
    is_required: bool
    range: Range | None = None  # of a number
    objects: tuple[type, ...] = ()  # these other types; empty if they cannot be told from each other

    @property
    def noun(self) -> str:
        """What a value must be, for messages."""
        nouns = dict.fromkeys(_NOUNS[kind] for kind in self.kinds if kind in _NOUNS)
        nouns |= dict.fromkeys(f"a {kind.__name__}" for kind in self.objects)
        if not nouns:
            return "given in Python, not as text"
        if self.range is not None and float in self.kinds:
            nouns = {_NOUNS[float]: None}  # a whole number is one, too
        return " or ".join(nouns) + ("" if self.range is None else f" {self.range}")

    def check(self, value: object) -> None:
        """Check the value of an option that has a range.

        Raises:
            ValueError: It is outside, or no number at all; the message says what is allowed.
        """
        if self.range is None or (value is None and type(None) in self.kinds):
            return
        is_right_kind = isinstance(value, Integral) or float in self.kinds
        if value not in self.range or not is_right_kind:
            raise ValueError(f"must be {self.noun}")

    def read(self, text: str) -> Value:
        """Convert text to the first type that fits.

        Raises:
            ValueError: No type fits; the message says what is allowed.
        """
        for kind in self.kinds:
            if kind in (str, Path):
                return Path(text) if kind is Path else text
            if kind is type(None) and text.lower() == "none":
                return None
            if kind is bool and text.lower() in _TRUTH:
                return _TRUTH[text.lower()]
            if kind in (int, float):
                try:
                    return int(text) if kind is int else float(text)
                except ValueError:
                    continue
        raise ValueError(f"must be {self.noun}")

    def convert(self, value: object) -> object:
        """Convert the value of a keyword argument; numbers, truth values and paths are treated as their text.

        Raises:
            ValueError: It has the wrong type, or is out of range; the message says what is allowed.
        """
        converted = self._convert(value)
        self.check(converted)
        return converted

    def _convert(self, value: object) -> object:
        if value is None and type(None) in self.kinds:
            return None
        if self.allows_objects and not isinstance(value, Number | str | os.PathLike):
            if self.objects and not isinstance(value, self.objects):
                raise ValueError(f"must be {self.noun}")
            return value
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        elif isinstance(value, Number):
            try:
                value = str(value)
            except ValueError:  # Python writes no number of more than some thousand digits
                raise ValueError(f"must be {self.noun} of fewer digits") from None
        if not isinstance(value, str):
            raise ValueError(f"must be {self.noun}")
        return self.read(value)


def options_of(cls: type) -> dict[str, Option]:
    """The options of a class: the parameters of its `__init__`, in order.

    The type of an option is its annotation or, without one, that of its default.
    """
    if issubclass(cls, Configurable):
        complete_class(cls)
    initialise: Callable[..., None] = getattr(cls, "__init__")  # noqa: B009  (mypy suspects an instance)
    hints = _type_hints(cls, initialise)
    found = {}
    for parameter in list(inspect.signature(initialise).parameters.values())[1:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        required = parameter.default is parameter.empty
        default = None if required else parameter.default
        hint, allowed = _range_of(hints.get(parameter.name, str if required else type(default)))
        choices = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
        kinds = tuple(kind for kind in choices if kind in _READABLE)
        others = tuple(kind for kind in choices if kind not in _READABLE)
        objects = others if all(map(_is_plain_class, others)) else ()
        found[parameter.name] = Option(parameter.name, kinds, bool(others), default, required, allowed, objects)
    return found


def _is_plain_class(kind: object) -> bool:
    """Whether `isinstance` can tell its objects: not for `Any`, `list[int]` or a protocol."""
    return isinstance(kind, type) and kind is not typing.Any and not getattr(kind, "_is_protocol", False)


def _range_of(hint: object) -> tuple[object, Range | None]:
    """`Annotated[int, Range(1, 12)]` -> `int`, `Range(1, 12)`."""
    if typing.get_origin(hint) is not typing.Annotated:
        return hint, None
    bare, *notes = typing.get_args(hint)
    return bare, next((note for note in notes if isinstance(note, Range)), None)


def _type_hints(cls: type, initialise: Callable[..., None]) -> dict[str, object]:
    try:
        return typing.get_type_hints(cls, include_extras=True) | typing.get_type_hints(initialise, include_extras=True)
    except (NameError, TypeError):  # annotations that only a type checker can resolve
        return {}


def check_ranges(made: Configurable, kind: str, error: type[UsageError] = UsageError) -> None:
    """Check the ranges of all options of an object, which need not have been made from a spec.

    Args:
        made: The object, whose options are set.
        kind: What the message begins with: `agent` or `game`.
        error: The class to raise.

    Raises:
        UsageError: An option is out of its range.
    """
    cls = type(made)
    if cls not in _LIMITED:
        _LIMITED[cls] = tuple(option for option in options_of(cls).values() if option.range is not None)
    for option in _LIMITED[cls]:
        value = getattr(made, option.name, option.default)
        try:
            option.check(value)
        except ValueError as wrong:
            shown = str(value) if isinstance(value, float) else excerpt(value)
            raise error(f"{kind} {made.name}, option {option.name}={shown}: {wrong}") from None


def option_words(made: object) -> list[str]:
    """The options that differ from their defaults, as words `name=value` that read back.

    Values that text cannot express are left out.
    """
    words = []
    for option in options_of(type(made)).values():
        value = getattr(made, option.name, option.default)
        if not option.kinds or not isinstance(value, Number | str | os.PathLike | None):
            continue
        if option.is_required or value != option.default:
            text = str(value)
            words.append(f"{option.name}={text.lower() if isinstance(value, bool) or value is None else text}")
    return words
