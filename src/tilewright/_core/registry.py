"""Registries of games and agents: names, specs, plug-ins.

A spec is text that describes an object:

    NAME                          greedy
    NAME:OPTION=VALUE,…           2048:rows=3,columns=3
    MODULE:CLASS                  my_agents:Corner
    MODULE:CLASS,OPTION=VALUE,…   my_package.agents:Corner,weight=2

A word with `=` is an option, one without is a class, and a registered name is never a module: so both forms share the
colon without ambiguity. The options of a class are its annotated attributes (see `options`).

Names come from the package, from installed packages (the entry-point groups `tilewright.agents` and
`tilewright.games`), and from `register`. Nothing is imported before it is used.
"""

import functools
import importlib
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from tilewright._core.options import Configurable, Option, complete_class, option_words, options_of
from tilewright._core.text import did_you_mean, excerpt, with_article
from tilewright.errors import MissingExtraError, SpecError, UsageError

if TYPE_CHECKING:
    from importlib.metadata import Distribution

__all__ = ["Entry", "Registry", "load_object"]

T = TypeVar("T")
_DOTTED = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
_LONGEST_WORD = 100  # that may be a slip of the pen
_TARGET = re.compile(rf"({_DOTTED}):({_DOTTED})", re.ASCII)


@dataclass(frozen=True)
class Entry:
    """A registered class: where it is, what it does, and which optional dependencies it needs."""

    target: str  # "module:Class"
    summary: str
    extra: str = ""


def load_object(target: str, extra: str = "") -> Any:
    """Import `module:attribute`; the attribute may be dotted.

    Raises:
        MissingExtraError: A third-party module of the optional dependencies `extra` is not installed.
    """
    module, _, attribute = target.partition(":")
    try:
        return functools.reduce(getattr, attribute.split("."), importlib.import_module(module))
    except ModuleNotFoundError as error:
        if not extra or (error.name or "").partition(".")[0] == "tilewright":
            raise
        raise MissingExtraError(f"{error.name} is not installed: pip install 'tilewright[{extra}]'") from None


class Registry(Generic[T]):
    """The registered games or agents, by name."""

    def __init__(self, kind: str, entries: Mapping[str, Entry], base: str = "builtins:object") -> None:
        """Make a registry.

        Args:
            kind: What is registered: "game" or "agent". Entry points are of the group `tilewright.{kind}s`.
            entries: The classes of the package, by name.
            base: The class that all of them are subclasses of, as "module:Class"; imported on first use.
        """
        self.kind = kind
        self._own = dict(entries)
        self._base = base

    @functools.cached_property
    def _installed(self) -> dict[str, Entry]:
        """The entry points of installed packages; of two with the same name, the first that Python finds."""
        from importlib import metadata

        found: dict[str, Entry] = {}
        for distribution in metadata.distributions():
            found = _entry_points(distribution, f"tilewright.{self.kind}s") | found
        return found

    @property
    def entries(self) -> dict[str, Entry]:
        """All names with their entries: those of the package first, then those of other packages."""
        return self._own | {name: entry for name, entry in self._installed.items() if name not in self._own}

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def _entry(self, name: str) -> Entry | None:
        return self._own.get(name) or self._installed.get(name)

    def register(self, name: str, target: str | type[T], summary: str = "") -> None:
        """Add a class under a short name.

        Args:
            name: The name that specs begin with.
            target: The class, or where to import it from: "my_module:MyAgent".
            summary: What it does, in one line; by default the first line of its docstring.

        Raises:
            SpecError: The name is taken, or is not a valid name, or `target` is not of the form module:Class.
        """
        if not re.fullmatch(r"[\w.+-]+", name):
            raise SpecError(
                f"{name!r} is not a valid name of {with_article(self.kind)}: "
                "it may have letters, digits, and the signs _ . + -"
            )
        if isinstance(target, type):
            target = _target_of(target)
        if not _TARGET.fullmatch(target):
            raise SpecError(f"{self.kind} {name}: {target!r} is not of the form module:Class")
        taken = self._own.get(name)
        if taken is not None and taken.target != target:
            raise SpecError(f"the {self.kind} {name!r} is registered already")
        self._own[name] = Entry(target, summary)

    def parse(self, spec: str) -> tuple[str, dict[str, str]]:
        """Split a spec into its name, which may be `module:Class`, and its options as they are written.

        >>> Registry("agent", {}).parse("my_agents:Corner,weight=2")
        ('my_agents:Corner', {'weight': '2'})
        """
        if not isinstance(spec, str):
            shown = f"the class {spec.__name__}" if isinstance(spec, type) else excerpt(spec, 60)
            kind = with_article(self.kind)
            raise SpecError(f"{shown} is not {kind}: give an object, or a spec like {self._example()!r}")
        name, _, text = spec.strip().partition(":")
        words = [word.strip() for word in text.split(",") if word.strip()]
        if words and _TARGET.fullmatch(f"{name}:{words[0]}") and self._entry(name) is None:
            name = f"{name}:{words.pop(0)}"
        given: dict[str, str] = {}
        for word in words:
            key, equals, value = (part.strip() for part in word.partition("="))
            if not equals:
                raise SpecError(f"{self.kind} {name}: {word!r} is not of the form key=value")
            if key in given:
                raise SpecError(f"{self.kind} {name}: option {key} is given twice")
            given[key] = value
        return name, given

    def _example(self) -> str:
        return next(iter(self._own), "module:Class")

    def check_imported(self, spec: str) -> None:
        """Raise SpecError if making `spec` would import a module that the spec itself names.

        For specs of strangers: they may use what is registered and what the program has imported, and nothing else.
        """
        name, _ = self.parse(spec)
        module = name.partition(":")[0]
        if ":" in name and module not in sys.modules:
            raise SpecError(f"{self.kind} {name}: the module {module} is not loaded here: import it first")

    def load(self, name: str) -> type[T]:
        """Import the class of a registered name or of `module:Class`.

        Raises:
            SpecError: There is no such class, it is of another kind, or its module cannot be imported.
            MissingExtraError: It needs optional dependencies that are not installed.
        """
        entry = Entry(name, "") if _TARGET.fullmatch(name) else self._entry(name)
        if entry is None:
            raise self._unknown(name)
        found = self._import(name, entry)
        if not self._is_right_class(found):
            base = _public_name(load_object(self._base))
            raise SpecError(f"{self.kind} {name}: {entry.target} is not a subclass of {base}")
        loaded = cast(type[T], found)
        if issubclass(loaded, Configurable):
            complete_class(loaded)
        return loaded

    def _is_right_class(self, found: object) -> bool:
        return isinstance(found, type) and issubclass(found, load_object(self._base))

    def _unknown(self, name: str) -> SpecError:
        if re.fullmatch(_DOTTED, name) and "." in name:
            return SpecError(f"{self.kind} {name}: a module alone; add its class, as {name}:Class")
        known = self.entries
        hint = did_you_mean(name, known)
        return SpecError(
            f"there is no {self.kind} {name!r}{hint}; there are: {', '.join(known)}, and yours as module:Class"
        )

    def _import(self, name: str, entry: Entry) -> object:
        """Import an entry's target; errors of other people's modules become one sentence."""
        if entry.target.startswith("tilewright."):
            return load_object(entry.target, entry.extra)
        module, _, attribute = entry.target.partition(":")
        try:
            loaded = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{module}.".startswith(f"{error.name}."):
                raise self._import_failed(name, module, error) from error
            raise SpecError(
                f"{self.kind} {name}: there is no module {error.name!r}; is its folder on the import path (PYTHONPATH)?"
            ) from error
        except (Exception, SystemExit) as error:
            raise self._import_failed(name, module, error) from error
        try:
            return functools.reduce(getattr, attribute.split("."), loaded)
        except AttributeError:
            hint = did_you_mean(attribute, vars(loaded))
            raise SpecError(f"{self.kind} {name}: the module {module} has no class {attribute!r}{hint}") from None

    def _import_failed(self, name: str, module: str, error: BaseException) -> SpecError:
        reason = str(error).partition("\n")[0]
        return SpecError(f"{self.kind} {name}: importing {module} failed: {type(error).__name__}: {reason}")

    def options(self, name: str) -> dict[str, Option]:
        """The options of a class, by name."""
        return options_of(self.load(name))

    def available(self) -> list[str]:
        """The names whose classes can be imported here: a broken plug-in or a missing extra is left out."""
        return [name for name in self if self.is_available(name)]

    def is_available(self, name: str) -> bool:
        """Whether the class of a name can be imported here."""
        try:
            self.load(name)
        except (MissingExtraError, SpecError):
            return False
        return True

    def summary(self, name: str) -> str:
        """What a class does, in one line: as it was registered, or the first line of its docstring."""
        entry = self._entry(name)
        if entry is not None and entry.summary:
            return entry.summary
        return (self.load(name).__doc__ or "").strip().partition("\n")[0]

    def make(self, spec: str | T, **options: object) -> T:
        """Make what a spec describes; an object of the right kind is returned as it is.

        Args:
            spec: A spec, or an object.
            options: Options in addition to those of the spec.

        Raises:
            SpecError: There is no such class or option, or an option has a value that cannot be.
        """
        if not isinstance(spec, str) and isinstance(spec, load_object(self._base)):
            if options:
                raise SpecError(f"{self.kind}: options go with a spec, not with an object that is made already")
            made: T = spec
            return made
        name, written = self.parse(spec)  # type: ignore[arg-type]
        found = self.load(name)
        for key in options:
            if key in written:
                raise SpecError(f"{self.kind} {name}: option {key} is given twice")
        return self._build(name, found, written | options)

    def _build(self, name: str, cls: type[T], given: Mapping[str, object]) -> T:
        known = options_of(cls)
        values = {}
        for key, value in given.items():
            if key not in known:
                has = f"it has: {', '.join(known)}" if known else "it has none"
                raise SpecError(f"{self.kind} {name} has no option {key!r}{did_you_mean(key, known)}; {has}")
            try:
                values[key] = known[key].convert(value)
            except ValueError as error:
                shown = value if isinstance(value, str) and len(value) < _LONGEST_WORD else excerpt(value)
                raise SpecError(f"{self.kind} {name}, option {key}={shown}: {error}") from None
        for key, option in known.items():
            if option.is_required and key not in values:
                raise SpecError(f"{self.kind} {name}: the option {key} is missing")
        try:
            return cls(**values)
        except UsageError:
            raise
        except (TypeError, ValueError) as error:
            raise SpecError(f"{self.kind} {name}: {error}") from error

    def spec_of(self, made: T, cls: type[T] | None = None) -> str:
        """The spec that makes an equal object, with the options that differ from their defaults.

        It begins with a registered name where there is one, otherwise with `module:Class`. What only Python can
        express is left out: a class within a function is called by its name alone.

        Args:
            made: The object.
            cls: The class that makes such objects, if it is not their own.
        """
        target = _target_of(type(made) if cls is None else cls)
        name = self._registered_name(made, target)
        if name is None:
            name = str(getattr(made, "name", target)) if "<locals>" in target else target
        words = option_words(made)
        return f"{name}{',' if ':' in name else ':'}{','.join(words)}" if words else name

    def _registered_name(self, made: T, target: str) -> str | None:
        """The name under which the class of an object is registered."""
        own = getattr(made, "name", None)
        if own in self._own and self._own[own].target == target:  # without a search of installed packages
            return str(own)
        return next((name for name, entry in self.entries.items() if entry.target == target), None)


def _entry_points(distribution: "Distribution", group: str) -> dict[str, Entry]:
    """The entry points of one package; none if its metadata are damaged, so that other packages still work."""
    try:
        points = [point for point in distribution.entry_points if point.group == group]
        summary = f"from the package {distribution.name}" if points else ""
    except Exception:  # noqa: BLE001  (whatever reading its files may raise)
        return {}
    return {point.name: Entry(point.value.partition("[")[0].strip(), summary) for point in points}


def _target_of(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def _public_name(cls: type) -> str:
    return f"{cls.__module__.partition('.')[0]}.{cls.__name__}"
