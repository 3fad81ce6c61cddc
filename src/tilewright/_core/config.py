"""Configurations: frozen dataclasses whose fields are the keys of a TOML file.

A key that is no name in Python (`lambda`) is a field with an underscore behind it.
"""

import dataclasses
import functools
import json
import tomllib
import typing
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from tilewright._core.files import write_text
from tilewright._core.registry import did_you_mean
from tilewright.errors import ConfigError, FileError

__all__ = ["Config", "config_from_toml", "presets_in", "read_config", "read_source"]

C = TypeVar("C", bound="Config")


@dataclass(frozen=True)
class Config:
    """What all configurations share: checks that name the key, and the TOML that reads back."""

    def _one_of(self, key: str, allowed: typing.Iterable[str]) -> None:
        value = getattr(self, key)
        if value not in allowed:
            raise ConfigError(f"{key} = {value!r}{did_you_mean(value, allowed)}; allowed: {', '.join(allowed)}")

    def _between(self, key: str, low: float, high: float | None, *, above: bool = False) -> None:
        value = getattr(self, key)
        if value < low or (above and value == low) or (high is not None and value > high) or value != value:
            limits = f"{'above' if above else 'from'} {low}{'' if high is None else f' to {high}'}"
            raise ConfigError(f"{_key(key)} = {value}: must be {limits}")

    def to_toml(self) -> str:
        """The TOML that reads back as this configuration."""
        lines = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, tuple):
                text = "[" + ", ".join(_quoted(item) for item in value) + "]"
            else:
                text = _quoted(value) if isinstance(value, str) else str(value).lower()
            lines.append(f"{_key(field.name)} = {text}")
        return "\n".join(lines) + "\n"

    def chosen(self) -> dict[str, Any]:
        """The keys that are not as they are by default."""
        fields = dataclasses.fields(self)
        return {_key(field.name): value for field in fields if (value := getattr(self, field.name)) != field.default}

    def save(self, path: Path) -> None:
        write_text(path, self.to_toml())


def _key(field: str) -> str:
    return field.rstrip("_")


def _quoted(text: str) -> str:
    """The text as TOML writes it, which is as JSON does but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


@functools.cache
def presets_in(folder: str) -> dict[str, str]:
    """The recipes of a folder of the package, each with the first line of its file."""
    files = sorted(resources.files("tilewright").joinpath(folder).iterdir(), key=lambda file: file.name)
    found = {file.name.removesuffix(".toml"): file.read_text("utf-8") for file in files if file.name.endswith(".toml")}
    return {name: text.splitlines()[0].lstrip("# ") for name, text in found.items()}


def read_source(source: str, *folders: str) -> str:
    """The text of a preset, by its name in one of the package's folders, or of a file."""
    presets = {name: folder for folder in folders for name in presets_in(folder)}
    if source in presets:
        return resources.files("tilewright").joinpath(f"{presets[source]}/{source}.toml").read_text("utf-8")
    path = Path(source)
    if not path.suffix and not path.exists():
        hint = did_you_mean(source, presets)
        raise ConfigError(f"there is no preset or file {source!r}{hint}; presets: {', '.join(presets)}")
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'not text'}") from None


def read_config(kind: type[C], source: str, folder: str, **changes: Any) -> C:
    """The configuration of a preset in a folder of the package, or of a file; errors name the source."""
    text = read_source(source, folder)
    try:
        return config_from_toml(kind, text, **changes)
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from None


def config_from_toml(kind: type[C], text: str, **changes: Any) -> C:
    """The configuration that a TOML text describes, with some keys changed."""
    try:
        entries = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"not valid TOML: {error}") from None
    fields = {_key(field.name): field for field in dataclasses.fields(kind)}
    types = typing.get_type_hints(kind)
    given = {}
    for key, value in {**entries, **changes}.items():
        if key not in fields:
            raise ConfigError(f"unknown key {key!r}{did_you_mean(key, fields)}; known: {', '.join(fields)}")
        given[fields[key].name] = _typed(key, value, types[fields[key].name])
    return kind(**given)


def _typed(key: str, value: Any, wanted: Any) -> Any:
    if typing.get_origin(wanted) is tuple:
        if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise ConfigError(f"{key} = {value!r}: must be a list of texts")
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise ConfigError(f"{key}: the number is too large") from None
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        names = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
        raise ConfigError(f"{key} = {value!r}: must be {names[wanted]}")
    return value
