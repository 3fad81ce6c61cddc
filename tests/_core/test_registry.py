"""Specs: what is read, what is refused, and what the refusal says."""

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright._core.registry import Entry, Registry, did_you_mean, option_spec
from tilewright.agents import AGENTS, make_agent
from tilewright.errors import SpecError
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


@pytest.fixture
def gadgets() -> Registry[Any]:
    return Registry("gadget", {"gadget": Entry(f"{__name__}:Gadget", "a thing"), "other": Entry("no_module:X", "")})


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
        ("gadget:limit=x", "gadget gadget, option limit=x: must be a number"),
    ],
)
def test_what_a_spec_cannot_mean_is_explained(gadgets: Registry[Any], spec: str, message: str) -> None:
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
    with pytest.raises(ModuleNotFoundError, match="no_module"):
        gadgets.load("other")


def test_every_registered_game_and_agent_makes_what_it_is_named() -> None:
    assert {name: make_game(name).spec for name in GAMES} == {name: name for name in GAMES}
    ready = [name for name in AGENTS if name not in ("ntuple", "expectimax")]  # which need a model: tests/agents
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
        ("2048:rows=5", "game 2048, option rows=5: must be a number from 2 to 4"),
        ("2048:columns=1", "game 2048, option columns=1: must be a number from 2 to 4"),
        ("2048:four=1.1", "game 2048, option four=1.1: must be a probability from 0 to 1"),
        ("2048:four=nan", "game 2048, option four=nan: must be a probability from 0 to 1"),
        ("2048:rows=2,columns=2,start_tiles=5", "option start_tiles=5: must be a number from 1 to 4"),
        ("2048:win_tile=2047", "option win_tile=2047: must be a power of two from 4 to 131072"),
        ("threes:max_tile=3", "option max_tile=3: must be 3 times a power of two, 6 to 12288"),
        ("threes:start_tiles=17", "option start_tiles=17: must be a number from 1 to 16"),
    ],
)
def test_options_out_of_range_are_refused_with_the_range(spec: str, allowed: str) -> None:
    with pytest.raises(SpecError) as refused:
        make_game(spec)
    assert str(refused.value).endswith(allowed)


def test_option_spec_names_only_what_differs_from_the_default() -> None:
    assert option_spec(Gadget()) == "gadget"
    assert option_spec(Gadget(shiny=True, limit=3)) == "gadget:shiny=true,limit=3"


def test_did_you_mean_offers_only_what_is_close() -> None:
    assert did_you_mean("greddy", ["random", "greedy"]) == " (did you mean 'greedy'?)"
    assert did_you_mean("xyz", ["random", "greedy"]) == ""
