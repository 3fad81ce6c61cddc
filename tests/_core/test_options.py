"""Options are the annotated attributes of a class, with or without the dataclass decorator."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest

from tilewright import AGENTS, GAMES, make_agent
from tilewright._core.checks import Range
from tilewright._core.options import Configurable, check_ranges, option_words, options_of
from tilewright._core.registry import Registry
from tilewright.errors import SpecError


@dataclass(frozen=True)
class Tool(Configurable, ABC):
    length: int = 4

    name: ClassVar[str]
    material: ClassVar[str] = "steel"

    @abstractmethod
    def use(self) -> str: ...


class Hammer(Tool):
    def use(self) -> str:
        return "hit"


class LongHammer(Hammer):
    length = 10
    material: str = "wood"  # type: ignore[misc]
    weight: float = 1.5
    path: Path | None = None


@dataclass(frozen=True)
class NamedHammer(LongHammer):
    name: ClassVar[str] = "named"
    length = 12


class Saw(Tool):
    def __init__(self, teeth: int = 20, label="plain", *, file) -> None:  # type: ignore[no-untyped-def]
        self.teeth, self.label, self.file = teeth, label, file

    def use(self) -> str:
        return "cut"


def test_a_plain_class_has_the_options_of_its_base() -> None:
    assert list(options_of(Hammer)) == ["length"]
    assert Hammer().length == 4
    assert Hammer(3) == Hammer(length=3) != Hammer()


def test_annotated_attributes_are_options_and_others_change_defaults() -> None:
    assert [(option.name, option.default) for option in options_of(LongHammer).values()] == [
        ("length", 10),
        ("weight", 1.5),
        ("path", None),
    ]
    assert LongHammer(weight=3).length == 10  # type: ignore[operator]
    assert LongHammer(weight=3) == LongHammer(weight=3)
    assert hash(LongHammer(weight=3)) == hash(LongHammer(weight=3))
    assert LongHammer(weight=3) != LongHammer()


def test_attributes_of_the_class_stay_what_they_are() -> None:
    assert "material" not in options_of(LongHammer)
    assert LongHammer.material == "wood"


def test_a_decorated_class_is_like_a_plain_one() -> None:
    assert [field.name for field in fields(NamedHammer)] == ["length", "weight", "path"]
    assert NamedHammer().length == 12  # type: ignore[operator]


def test_a_class_without_a_name_is_called_as_its_class() -> None:
    assert [cls.name for cls in (Hammer, LongHammer, NamedHammer, Saw)] == ["Hammer", "LongHammer", "named", "Saw"]

    class Heavier(NamedHammer):
        pass

    assert Heavier.name == "named"


def test_objects_are_frozen() -> None:
    with pytest.raises(AttributeError):
        LongHammer().weight = 3  # type: ignore[misc]


def test_an_abstract_class_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Tool()  # type: ignore[abstract]


def test_a_class_with_its_own_init_has_the_options_of_that() -> None:
    options = options_of(Saw)
    assert {name: option.kinds for name, option in options.items()} == {
        "teeth": (int,),
        "label": (str,),
        "file": (str,),
    }
    assert [name for name, option in options.items() if option.is_required] == ["file"]
    saw = Saw(file="x")
    assert saw == saw
    assert saw != Saw(file="x")
    assert len({saw, Saw(file="x")}) == 2
    assert option_words(Saw(30, file="x")) == ["teeth=30", "file=x"]


def test_options_that_text_cannot_express_are_left_out_and_refused() -> None:
    class Box(Tool):
        content: tuple[int, ...] = ()
        size: "int | str" = 3

        def use(self) -> str:
            return "open"

    options = options_of(Box)
    assert option_words(Box(content=(1, 2), size=4)) == ["size=4"]
    assert options["content"].convert((1, 2)) == (1, 2)
    with pytest.raises(ValueError, match="must be given in Python, not as text"):
        options["content"].convert("1")


def test_an_option_may_be_text_or_an_object() -> None:
    class Drill(Tool):
        bit: "Hammer | str | Path" = ""

        def use(self) -> str:
            return "turn"

    option = options_of(Drill)["bit"]
    hammer = Hammer()
    assert option.convert(hammer) is hammer
    assert option.convert("a,b") == "a,b"
    assert option.convert(Path("a")) == "a"
    assert option_words(Drill(bit=hammer)) == []
    assert option_words(Drill(bit="x")) == ["bit=x"]


def test_words_of_paths_and_nothing() -> None:
    assert option_words(LongHammer(path=Path("a.txt"))) == ["path=a.txt"]
    assert options_of(LongHammer)["path"].read("a.txt") == Path("a.txt")


class Ruler(Configurable):
    """Options with limits."""

    name: ClassVar[str] = "ruler"
    length: Annotated[int, Range(1, 30)] = 10
    weight: Annotated[float | None, Range(0, 1, above=True)] = None

    def __post_init__(self) -> None:
        check_ranges(self, "tool", SpecError)


def test_limits_are_part_of_an_option() -> None:
    options = options_of(Ruler)
    assert {name: str(option.range) for name, option in options.items()} == {
        "length": "from 1 to 30",
        "weight": "above 0 and at most 1",
    }
    for name, text, message in (
        ("length", "31", "must be a whole number from 1 to 30"),
        ("length", "9" * 4000, "must be a whole number from 1 to 30"),
        ("weight", "nan", "must be a number above 0 and at most 1"),
        ("weight", "inf", "must be a number above 0 and at most 1"),
    ):
        with pytest.raises(ValueError, match=message):
            options[name].convert(text)


def test_limits_are_checked_without_a_spec_too() -> None:
    assert (Ruler(3).length, Ruler(weight=1).weight) == (3, 1)
    for wrong, message in (
        ({"length": 0}, "tool ruler, option length=0: must be a whole number from 1 to 30"),
        ({"length": 2.5}, "tool ruler, option length=2.5: must be a whole number from 1 to 30"),
        ({"weight": "heavy"}, "tool ruler, option weight='heavy': must be a number above 0 and at most 1"),
    ):
        with pytest.raises(SpecError, match=f"^{message}$"):
            Ruler(**wrong)


@pytest.mark.parametrize("registry", [GAMES, AGENTS], ids=lambda registry: registry.kind)
def test_every_number_of_games_and_agents_has_limits(registry: Registry[Any]) -> None:
    """Tiles are one of a list."""
    elsewhere = {"win_tile", "max_tile"}
    for name in registry:
        for option in registry.options(name).values():
            is_number = bool({int, float} & set(option.kinds))
            assert not is_number or option.range is not None or option.name in elsewhere, (name, option.name)


class Source:
    """Something that only Python can give."""


class Reader(Configurable):
    source: str | Source = ""
    anything: str | Any = ""
    numbers: str | list[int] = ""


def test_an_object_must_be_of_a_type_that_the_option_names() -> None:
    options = options_of(Reader)
    given = Source()
    assert options["source"].convert(given) is given
    assert options["source"].convert("a file") == "a file"
    for wrong in ({}, [1], object(), None):
        with pytest.raises(ValueError, match="must be text or a Source"):
            options["source"].convert(wrong)
    for name in ("anything", "numbers"):  # such types cannot be told from others
        assert options[name].convert([1]) == [1]


@pytest.mark.parametrize("agent", ["ntuple", "expectimax", "montecarlo:horizon=2", "dqn"])
def test_a_model_is_a_file_or_a_model(agent: str) -> None:
    wrongs: tuple[object, ...] = ({}, [1, 2], b"model")
    for wrong in wrongs:
        with pytest.raises(SpecError, match=r"option model=.*: must be text or a path or a (Deep)?Model"):
            make_agent(agent, model=wrong)
