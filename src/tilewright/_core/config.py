"""Configurations: frozen dataclasses whose fields are the keys of a TOML file.

A key that is a Python keyword (`lambda`) is a field with a trailing underscore (`lambda_`).
"""

import dataclasses
import functools
import json
import numbers
import textwrap
import tomllib
import typing
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import NamedTuple, Self, TypeAlias, TypeVar, cast

from tilewright._core.checks import Range, check_choice
from tilewright._core.files import write_text
from tilewright._core.inputs import modified_at, read_text, shown
from tilewright._core.text import did_you_mean, excerpt
from tilewright.errors import ConfigError

__all__ = [
    "MAX_COUNT",
    "MAX_SEED",
    "MINUTES",
    "Config",
    "ConfigKey",
    "Value",
    "config_from_toml",
    "describe_config",
    "key",
    "presets_in",
    "read_source",
]

C = TypeVar("C", bound="Config")
T = TypeVar("T")
Value: TypeAlias = str | int | float | bool | tuple[str, ...]

MAX_COUNT = 10**12  # games or steps: more than a machine plays in its life, and game numbers stay below 2**40
MAX_SEED = 2**63 - 1  # the largest whole number of TOML
MINUTES = Range(0, 10_000_000)  # nineteen years
_COMMENT_WIDTH = 100
# Type of a field -> (its name in tables, how an error message asks for it).
_TYPES: dict[object, tuple[str, str]] = {
    str: ("string", "text"),
    int: ("integer", "a whole number"),
    float: ("number", "a number"),
    bool: ("boolean", "true or false"),
    tuple[str, ...]: ("list of strings", 'a list of texts, as ["first", "second"]'),
}


def key(default: T, meaning: str, limits: Range | None = None) -> T:
    """Declare a key of a configuration.

    Args:
        default: The value of a key that is left out.
        meaning: What the key means, in one or a few sentences of plain text.
        limits: The allowed values of a number; every number needs them.
    """
    return dataclasses.field(default=default, metadata={"meaning": meaning, "limits": limits})


@dataclass(frozen=True)
class Config:
    """Base of all configurations: types, checks that name the key, and TOML that reads back."""

    def __post_init__(self) -> None:
        """Check every value; whole numbers become floats, and lists tuples, where the field wants them."""
        types = _field_types(type(self))
        for field in dataclasses.fields(self):
            name, limits = _key(field.name), field.metadata.get("limits")
            value = _typed(name, getattr(self, field.name), types[field.name])
            if limits is not None:
                limits.check(f"{name} = {excerpt(value)}", value, error=ConfigError)
            object.__setattr__(self, field.name, value)

    def _one_of(self, name: str, allowed: Collection[str]) -> None:
        value = getattr(self, name)
        check_choice(f"{_key(name)} = {value!r}", value, allowed, ConfigError)

    def to_dict(self) -> dict[str, Value]:
        """All keys with their values."""
        return {_key(field.name): getattr(self, field.name) for field in dataclasses.fields(self)}

    def to_toml(self, *, comments: bool = False) -> str:
        """The TOML that reads back as this configuration.

        Args:
            comments: Whether the meaning of every key, and what it allows, stands above it.
        """
        meanings = {entry.key: entry.comment for entry in describe_config(type(self))} if comments else {}
        lines = []
        for name, value in self.to_dict().items():
            wrapped = textwrap.wrap(meanings.get(name, ""), _COMMENT_WIDTH, break_on_hyphens=False)
            lines += [f"# {line}" for line in wrapped]
            lines.append(f"{name} = {_toml(value)}")
            if comments:
                lines.append("")
        return "\n".join(lines).rstrip("\n") + "\n"

    def chosen(self) -> dict[str, Value]:
        """The keys whose values differ from the defaults."""
        defaults = {_key(field.name): field.default for field in dataclasses.fields(self)}
        return {name: value for name, value in self.to_dict().items() if value != defaults[name]}

    def replace(self, **changes: object) -> Self:
        """The same configuration with some keys changed; `lambda_` stands for `lambda`.

        Raises:
            ConfigError: A key is unknown, or a value is not allowed.
        """
        return _from_entries(type(self), {**self.to_dict(), **_keys(changes)})

    def save(self, path: Path) -> None:
        """Write the TOML to a file."""
        write_text(path, self.to_toml())


class ConfigKey(NamedTuple):
    """One row of the table of a configuration's keys."""

    key: str
    type: str  # string, integer, number, boolean or list of strings
    default: str  # as TOML
    allowed: str  # the limits of a number, such as `from 0 to 1`; empty for anything else
    meaning: str

    @property
    def comment(self) -> str:
        """The meaning with the limits."""
        return f"{self.meaning} Allowed: {self.allowed}." if self.allowed else self.meaning


def describe_config(kind: type[Config]) -> list[ConfigKey]:
    """The table of a configuration's keys, in the order of the file."""
    types = _field_types(kind)
    return [
        ConfigKey(
            _key(field.name),
            _TYPES[types[field.name]][0],
            _toml(cast(Value, field.default)),
            str(field.metadata.get("limits") or ""),
            field.metadata.get("meaning", ""),
        )
        for field in dataclasses.fields(kind)
    ]


@functools.cache
def presets_in(folder: str) -> dict[str, str]:
    """The presets in a folder of the package: the first line of each file by the preset's name."""
    files = sorted(resources.files("tilewright").joinpath(folder).iterdir(), key=lambda file: file.name)
    texts = {file.name.removesuffix(".toml"): file.read_text("utf-8") for file in files if file.name.endswith(".toml")}
    return {name: text.splitlines()[0].lstrip("# ") for name, text in texts.items()}


def read_source(source: str | Path, *folders: str) -> str:
    """Read the text of a preset or a file.

    Args:
        source: The name of a preset in one of `folders`, or the path of a file. A `Path` is always a file.
        folders: Folders of the package with presets.

    Raises:
        ConfigError: `source` is neither.
        FileError: The file cannot be read.
    """
    presets = {name: folder for folder in folders for name in presets_in(folder)}
    if isinstance(source, str) and source in presets:
        return resources.files("tilewright").joinpath(f"{presets[source]}/{source}.toml").read_text("utf-8")
    path = Path(source)
    if isinstance(source, str) and not path.suffix and not modified_at(path):
        hint = did_you_mean(source, presets)
        raise ConfigError(f"there is no preset or file {shown(source)!r}{hint}; presets: {', '.join(presets)}")
    return read_text(path)


def config_from_toml(kind: type[C], text: str, **changes: object) -> C:
    """The configuration that a TOML text describes, with some keys changed; `lambda_` stands for `lambda`.

    Raises:
        ConfigError: The text is not TOML, a key is unknown, or a value is not allowed.
    """
    try:
        entries = tomllib.loads(text)
    except (RecursionError, ValueError) as error:  # a ValueError is a number of thousands of digits
        raise ConfigError(f"not valid TOML: {error}") from None
    return _from_entries(kind, {**entries, **_keys(changes)})


def _from_entries(kind: type[C], entries: Mapping[str, object]) -> C:
    fields = {_key(field.name): field.name for field in dataclasses.fields(kind)}
    for name in entries:
        if name not in fields:
            hint = did_you_mean(name, fields)
            raise ConfigError(f"unknown key {excerpt(name, 200)}{hint}; known: {', '.join(fields)}")
    types = _field_types(kind)
    return kind(**{fields[name]: _typed(name, value, types[fields[name]]) for name, value in entries.items()})


def _key(field: str) -> str:
    return field.rstrip("_")


def _keys(changes: Mapping[str, object]) -> dict[str, object]:
    """Changes by key; Python code writes `lambda_=0.5`, for `lambda=0.5` is not Python."""
    return {_key(name): value for name, value in changes.items()}


def _field_types(kind: type[Config]) -> Mapping[str, object]:
    types = typing.get_type_hints(kind)
    return {field.name: types[field.name] for field in dataclasses.fields(kind)}


def _typed(key: str, value: object, wanted: object) -> Value:
    """The value as the type of its field, or a ConfigError."""
    if wanted is bool and isinstance(value, bool):
        return value
    if wanted is str and isinstance(value, str):
        return _text(key, value)
    if wanted is int and isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    if wanted is float and isinstance(value, numbers.Real) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise ConfigError(f"{key}: the number is too large") from None
    if wanted == tuple[str, ...] and isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(_text(key, item) for item in value)
    raise ConfigError(f"{key} = {excerpt(value, 60)}: must be {_TYPES[wanted][1]}")


def _text(key: str, value: str) -> str:
    """The value, if TOML can express it; parts of a file name may be no UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ConfigError(f"{key} = {value!a}: must be text in UTF-8") from None
    return value


def _toml(value: Value) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, str):
        # TOML quotes text as JSON does, except for one character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower()
