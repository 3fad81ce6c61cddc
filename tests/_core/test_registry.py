"""Specs and registries: what is read, what is refused, and what the message says."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright._core.registry import Entry, Registry
from tilewright._core.text import did_you_mean
from tilewright.agents import AGENTS, make_agent
from tilewright.errors import SpecError, UsageError
from tilewright.games import GAMES, make_game
from tilewright.games.threes import Threes
from tilewright.games.twenty48 import Twenty48


@dataclass(frozen=True)
class Gadget:
    size: int = 1
    rate: float = 0.5
    shiny: bool = False
    label: str = "plain"
    limit: int | None = None

    name: ClassVar[str] = "gadget"


@dataclass(frozen=True)
class BigGadget(Gadget):
    """A larger gadget."""

    size: int = 100
    limit: int | None = 5


@dataclass(frozen=True)
class FussyGadget(Gadget):
    def __post_init__(self) -> None:
        if self.size == 13:
            raise ValueError("13 brings bad luck")
        if self.size == 14:
            raise UsageError("14 is no better")


class NeedyGadget(Gadget):
    def __init__(self, need: int) -> None:
        object.__setattr__(self, "need", need)


@pytest.fixture
def gadgets() -> Registry[Any]:
    entries = {"gadget": Entry(f"{__name__}:Gadget", "a thing"), "other": Entry("no_module:X", "")}
    return Registry("gadget", entries, base=f"{__name__}:Gadget")


def test_a_name_alone_takes_the_defaults(gadgets: Registry[Any]) -> None:
    assert gadgets.make("gadget") == gadgets.make(" gadget: ") == Gadget()


def test_options_are_read_by_the_types_of_the_fields(gadgets: Registry[Any]) -> None:
    made = gadgets.make("gadget: size = 3, rate=1e-3,shiny=Yes,label=a=b,limit=7")
    assert made == Gadget(3, 0.001, True, "a=b", 7)
    assert [type(value) for value in (made.size, made.rate, made.shiny, made.limit)] == [int, float, bool, int]


@pytest.mark.parametrize(
    ("text", "truth"), [("true", True), ("1", True), ("YES", True), ("false", False), ("0", False), ("no", False)]
)
def test_truth_values(gadgets: Registry[Any], text: str, truth: bool) -> None:
    assert gadgets.make(f"gadget:shiny={text}").shiny is truth


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gadgte", "there is no gadget 'gadgte' (did you mean 'gadget'?); there are: gadget, other"),
        ("xyz", "there is no gadget 'xyz'; there are: gadget, other"),
        ("", "there is no gadget ''; there are: gadget, other"),
        ("gadget:Gadget", "gadget gadget: 'Gadget' is not of the form key=value"),
        ("my.gadgets", "gadget my.gadgets: a module alone; add its class, as my.gadgets:Class"),
        ("my.gadgets:size=3", "gadget my.gadgets: a module alone; add its class, as my.gadgets:Class"),
        ("no_such_module:Gadget", "gadget no_such_module:Gadget: there is no module 'no_such_module'; is its folder"),
        ("tests._core.no_such:G", "gadget tests._core.no_such:G: there is no module 'tests._core.no_such'; is its"),
        ("tests._core.test_registry:Gadgte", "gadget tests._core.test_registry:Gadgte: the module"),
        ("tests._core.test_registry:gadgets", "gadget tests._core.test_registry:gadgets: tests._core.test_registry:"),
        ("os.path:join", "gadget os.path:join: os.path:join is not a subclass of tests.Gadget"),
        ("collections:OrderedDict", "gadget collections:OrderedDict: collections:OrderedDict is not a subclass of"),
        ("gadget:sise=3", "gadget gadget has no option 'sise' (did you mean 'size'?); it has: size, rate, shiny"),
        ("gadget:name=x", "gadget gadget has no option 'name'"),
        ("gadget:=3", "gadget gadget has no option ''"),
        ("gadget:3", "gadget gadget: '3' is not of the form key=value"),
        ("gadget:size=1,size=2", "gadget gadget: option size is given twice"),
        ("gadget:size=big", "gadget gadget, option size=big: must be a whole number"),
        ("gadget:size=1.5", "gadget gadget, option size=1.5: must be a whole number"),
        ("gadget:size=", "gadget gadget, option size=: must be a whole number"),
        ("gadget:rate=x", "gadget gadget, option rate=x: must be a number"),
        ("gadget:shiny=2", "gadget gadget, option shiny=2: must be true or false"),
        ("gadget:limit=x", "gadget gadget, option limit=x: must be a whole number"),
    ],
)
def test_the_message_of_a_bad_spec_explains_it(gadgets: Registry[Any], spec: str, message: str) -> None:
    with pytest.raises(SpecError) as refused:
        gadgets.make(spec)
    assert str(refused.value).startswith(message)


def test_keywords_add_to_the_text_and_are_checked_alike(gadgets: Registry[Any]) -> None:
    assert gadgets.make("gadget:size=3", rate=0.25) == Gadget(3, 0.25)
    with pytest.raises(SpecError, match="has no option 'colour'"):
        gadgets.make("gadget", colour="red")
    with pytest.raises(SpecError, match="option size is given twice"):
        gadgets.make("gadget:size=3", size=4)


def test_register_adds_a_name_that_is_made_like_any_other(gadgets: Registry[Any]) -> None:
    gadgets.register("second", f"{__name__}:Gadget", "the same thing")
    assert gadgets.make("second:size=9") == Gadget(9)
    assert list(gadgets) == ["gadget", "other", "second"]


def test_registering_the_same_twice_is_allowed_and_another_is_not(gadgets: Registry[Any]) -> None:
    gadgets.register("gadget", f"{__name__}:Gadget", "a better summary")
    assert gadgets.entries["gadget"].summary == "a better summary"
    with pytest.raises(SpecError, match="the gadget 'gadget' is registered already"):
        gadgets.register("gadget", "elsewhere:Gadget", "a thing")
    assert gadgets.make("gadget") == Gadget()


def test_entries_are_imported_only_when_used(gadgets: Registry[Any]) -> None:
    assert list(gadgets) == ["gadget", "other"]
    with pytest.raises(SpecError, match="gadget other: there is no module 'no_module'"):
        gadgets.load("other")
    assert gadgets.available() == ["gadget"]
    assert not gadgets.is_available("another")


def test_a_class_is_registered_under_a_short_name(gadgets: Registry[Any]) -> None:
    gadgets.register("big", BigGadget)
    assert gadgets.make("big:size=9") == BigGadget(9)
    assert gadgets.summary("big") == "A larger gadget."
    assert gadgets.summary("gadget") == "a thing"
    for name, target in (("a:b", BigGadget), ("", BigGadget), ("c", "no colon"), ("d", "module:3")):
        with pytest.raises(SpecError, match=r"is not a valid name|not of the form module:Class"):
            gadgets.register(name, target)


def test_a_class_of_a_module_is_made_with_its_options(gadgets: Registry[Any]) -> None:
    assert gadgets.make(f"{__name__}:BigGadget") == BigGadget()
    assert gadgets.make(f" {__name__}:BigGadget, size=3, label=x:y ") == BigGadget(3, label="x:y")
    assert gadgets.make(f"{__name__}:BigGadget,size=3", rate=0.25) == BigGadget(3, 0.25)
    assert gadgets.options(f"{__name__}:BigGadget")["size"].default == 100
    with pytest.raises(SpecError, match=r"BigGadget has no option 'sise' \(did you mean 'size'\?\)"):
        gadgets.make(f"{__name__}:BigGadget,sise=3")
    with pytest.raises(SpecError, match="BigGadget, option size=big: must be a whole number"):
        gadgets.make(f"{__name__}:BigGadget,size=big")


def test_an_object_is_what_it_is_and_anything_else_is_refused(gadgets: Registry[Any]) -> None:
    gadget = Gadget(7)
    assert gadgets.make(gadget) is gadget
    with pytest.raises(SpecError, match="options go with a spec"):
        gadgets.make(gadget, size=3)
    for wrong, message in [
        (3, "3 is not a gadget"),
        (None, "None is not a gadget"),
        (Gadget, "the class Gadget is not a gadget"),
    ]:
        with pytest.raises(SpecError, match=f"{message}: give an object, or a spec like 'gadget'"):
            gadgets.make(wrong)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("size", 2.5, "option size=2.5: must be a whole number"),
        ("size", True, "option size=True: must be a whole number"),
        ("size", None, "option size=None: must be a whole number"),
        ("size", [1], r"option size=\[1\]: must be a whole number"),
        pytest.param("size", 10**5000, "option size=a number of thousands of digits: must be", id="5001 digits"),
        ("shiny", 2, "option shiny=2: must be true or false"),
        ("label", None, "option label=None: must be text"),
    ],
)
def test_keywords_of_the_wrong_type_are_refused(
    gadgets: Registry[Any], option: str, value: object, message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        gadgets.make("gadget", **{option: value})


def test_keywords_of_the_right_type_are_taken(gadgets: Registry[Any]) -> None:
    made = gadgets.make("gadget", size=3, rate=1, shiny=True, label=Path("a") / "b", limit=None)
    assert made == Gadget(3, 1.0, True, str(Path("a") / "b"), None)


BROKEN = {
    "raises_on_import": ("1 / 0", "importing raises_on_import failed: ZeroDivisionError: division by zero"),
    "is_no_python": ("class", r"importing is_no_python failed: SyntaxError: .*line 1"),
    "needs_another": ("import no_such_module", "importing needs_another failed: ModuleNotFoundError: No module named"),
    "exits": ("raise SystemExit(3)", "importing exits failed: SystemExit: 3"),
    "talks_much": (
        "raise ValueError('first line\\nsecond line')",
        "importing talks_much failed: ValueError: first line$",
    ),
}


@pytest.mark.parametrize("module", BROKEN)
def test_errors_of_a_module_are_told_in_one_sentence(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, message = BROKEN[module]
    (tmp_path / f"{module}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SpecError, match=f"^agent {module}:Corner: {message}"):
        make_agent(f"{module}:Corner")
    assert module not in sys.modules


def test_errors_of_a_constructor_are_told_in_one_sentence(gadgets: Registry[Any]) -> None:
    with pytest.raises(SpecError, match="FussyGadget: 13 brings bad luck"):
        gadgets.make(f"{__name__}:FussyGadget,size=13")
    with pytest.raises(UsageError, match=r"^14 is no better$"):
        gadgets.make(f"{__name__}:FussyGadget,size=14")
    with pytest.raises(SpecError, match="NeedyGadget: the option need is missing"):
        gadgets.make(f"{__name__}:NeedyGadget")


def write_package(folder: Path, name: str, entry_points: str) -> None:
    """What pip leaves of a package."""
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(entry_points)


PLUG_IN = """
import tilewright as tw

class Last(tw.Agent):
    "Plays the last legal move."
    offset: int = 0

    def values(self, board, stream=None):
        return {move: i + self.offset for i, move in enumerate(board.game.legal(board))}
"""


def test_entry_points_of_installed_packages_are_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plug_in.py").write_text(PLUG_IN)
    points = "last = plug_in:Last\ngone = no_such_module:Gone\ngreedy = plug_in:Last\nodd = plug_in\n"
    write_package(tmp_path, "plug", f"[tilewright.agents]\n{points}")
    monkeypatch.syspath_prepend(tmp_path)
    agents: Registry[Any] = Registry("agent", {"greedy": AGENTS.entries["greedy"]}, base="tilewright.agents.base:Agent")
    assert list(agents) == ["greedy", "last", "gone", "odd"]
    assert "plug_in" not in sys.modules
    assert agents.summary("last") == "from the package plug"
    assert agents.available() == ["greedy", "last"]
    made = agents.make("last:offset=3")
    assert made.values(make_game("2048").parse("2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")) == {"right": 3, "down": 4}
    assert agents.spec_of(made) == "last:offset=3"
    assert agents.make("greedy").name == "greedy"
    with pytest.raises(SpecError, match="agent gone: there is no module 'no_such_module'"):
        agents.make("gone")
    with pytest.raises(SpecError, match="agent odd: the module plug_in has no class ''"):
        agents.make("odd")
    monkeypatch.delitem(sys.modules, "plug_in")


def test_a_package_with_damaged_metadata_does_not_hide_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_package(tmp_path, "plug", "[tilewright.games]\nmine = my_module:Mine\n")
    write_package(tmp_path, "damaged", "[tilewright.games]\nno equals sign\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert list(Registry[Any]("game", {})) == ["mine"]


def test_specs_of_strangers_import_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "never_imported.py").write_text("raise AssertionError")
    monkeypatch.syspath_prepend(tmp_path)
    for registry in (AGENTS, GAMES):
        with pytest.raises(SpecError, match="the module never_imported is not loaded here"):
            registry.check_imported("never_imported:Anything,rows=3")
    GAMES.check_imported("2048:rows=3")
    GAMES.check_imported("tilewright.games.twenty48:Twenty48,rows=3")


def test_every_registered_game_and_agent_makes_what_it_is_named() -> None:
    assert {name: make_game(name).spec for name in GAMES} == {name: name for name in GAMES}
    ready = [
        name for name in AGENTS if name not in ("ntuple", "expectimax", "exact")
    ]  # which need a file: tests/agents
    assert {name: make_agent(name).spec for name in ready} == {name: name for name in ready}


sizes = st.integers(2, 4)
twenty48s = st.builds(
    Twenty48,
    rows=sizes,
    columns=sizes,
    four=st.floats(0, 1),
    start_tiles=st.integers(1, 4),
    win_tile=st.integers(2, 17).map(lambda code: 2**code),
    cascade=st.booleans(),
)
threes = st.builds(
    Threes,
    rows=sizes,
    columns=sizes,
    start_tiles=st.integers(1, 4),
    max_tile=st.integers(1, 12).map(lambda k: 3 * 2**k),
)


@given(game=twenty48s | threes)
def test_the_spec_of_any_game_makes_an_equal_game(game: Twenty48 | Threes) -> None:
    again = make_game(game.spec)
    assert again == game
    assert again.spec == game.spec


@pytest.mark.parametrize(
    ("spec", "allowed"),
    [
        ("2048:rows=5", "game 2048, option rows=5: must be a whole number from 2 to 4"),
        ("2048:columns=1", "game 2048, option columns=1: must be a whole number from 2 to 4"),
        ("2048:four=1.1", "game 2048, option four=1.1: must be a number from 0 to 1"),
        ("2048:four=nan", "game 2048, option four=nan: must be a number from 0 to 1"),
        ("2048:rows=2,columns=2,start_tiles=5", "option start_tiles=5: must be a whole number from 1 to 4"),
        ("2048:win_tile=2047", "option win_tile=2047: must be a power of two from 4 to 131,072"),
        ("threes:max_tile=3", "option max_tile=3: must be 3 times a power of two, from 6 to 12,288"),
        ("threes:start_tiles=17", "option start_tiles=17: must be a whole number from 1 to 16"),
    ],
)
def test_options_out_of_range_are_refused_with_the_range(spec: str, allowed: str) -> None:
    with pytest.raises(SpecError) as refused:
        make_game(spec)
    assert str(refused.value).endswith(allowed)


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (lambda: Twenty48(rows=2.5), "game 2048, option rows=2.5: must be a whole number from 2 to 4"),  # type: ignore[arg-type]
        (lambda: Twenty48(rows="4"), "game 2048, option rows='4': must be a whole number from 2 to 4"),  # type: ignore[arg-type]
        (lambda: Twenty48(rows=True), "game 2048, option rows=True: must be a whole number from 2 to 4"),
        (lambda: Twenty48(rows=10**5000), "option rows=a number of thousands of digits: must be a whole number"),
        (lambda: Twenty48(four="x"), "game 2048, option four='x': must be a number"),  # type: ignore[arg-type]
        (lambda: Twenty48(cascade=3), "game 2048, option cascade=3: must be true or false"),  # type: ignore[arg-type]
        (lambda: Threes(max_tile=None), "game threes, option max_tile=None: must be 3 times"),  # type: ignore[arg-type]
    ],
)
def test_options_of_the_wrong_type_are_refused_in_one_sentence(game: Any, message: str) -> None:
    with pytest.raises(SpecError) as refused:
        game()
    assert message in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_a_spec_names_only_what_differs_from_the_default(gadgets: Registry[Any]) -> None:
    assert gadgets.spec_of(Gadget()) == "gadget"
    assert gadgets.spec_of(Gadget(shiny=True, limit=3)) == "gadget:shiny=true,limit=3"
    assert gadgets.spec_of(BigGadget()) == f"{__name__}:BigGadget"
    assert gadgets.spec_of(BigGadget(3, limit=None)) == f"{__name__}:BigGadget,size=3,limit=none"


@given(
    size=st.integers(),
    rate=st.floats(allow_nan=False),
    shiny=st.booleans(),
    label=st.text(st.characters(exclude_characters=",", exclude_categories=["Z", "C"])),
    limit=st.none() | st.integers(),
)
def test_every_spec_reads_back(size: int, rate: float, shiny: bool, label: str, limit: int | None) -> None:
    gadgets: Registry[Any] = Registry("gadget", {"gadget": Entry(f"{__name__}:Gadget", "")}, f"{__name__}:Gadget")
    for made in (Gadget(size, rate, shiny, label, limit), BigGadget(size, rate, shiny, label, limit)):
        assert gadgets.make(gadgets.spec_of(made)) == made


def test_the_spec_of_a_class_within_a_function_is_its_name(gadgets: Registry[Any]) -> None:
    class Hidden(Gadget):
        name = "hidden"

    assert gadgets.spec_of(Hidden(size=3)) == "hidden:size=3"


def test_did_you_mean_offers_only_what_is_close() -> None:
    assert did_you_mean("greddy", ["random", "greedy"]) == " (did you mean 'greedy'?)"
    assert did_you_mean("xyz", ["random", "greedy"]) == ""
