"""Every number among the options of an agent has a least and a largest value, which the option itself states."""

import math
from typing import Annotated

import pytest

from tilewright import AGENTS, Agent, Range, SpecError, make_agent
from tilewright._core.options import Option, options_of
from tilewright.errors import MissingExtraError


def numbers() -> list[tuple[str, Option]]:
    """The numeric options of all agents that can be loaded here."""
    found = []
    for name in AGENTS.entries:
        try:
            options = AGENTS.options(name)
        except MissingExtraError:
            continue
        found += [(name, option) for option in options.values() if {int, float} & set(option.kinds)]
    return found


def test_every_number_has_a_range() -> None:
    assert len(numbers()) >= 15
    for name, option in numbers():
        assert option.range is not None, f"{name}: {option.name}"
        assert -math.inf < option.range.least < option.range.largest < math.inf


@pytest.mark.parametrize(("name", "option"), numbers(), ids=lambda part: getattr(part, "name", part))
def test_a_value_outside_is_refused_in_a_spec_and_in_python(name: str, option: Option) -> None:
    assert option.range is not None
    least, largest = option.range.least, option.range.largest
    for value in (least - 1, largest + 1, math.inf, -math.inf, math.nan, 10**400):
        with pytest.raises(SpecError, match=f"option {option.name}="):
            make_agent(f"{name}:{option.name}={value}")
        with pytest.raises(SpecError, match=f"option {option.name}=.*must be a .*number from"):
            AGENTS.load(name)(**{option.name: value})
    if float not in option.kinds:
        with pytest.raises(SpecError, match="must be a whole number"):
            AGENTS.load(name)(**{option.name: least + 0.5})


@pytest.mark.parametrize("ms", ["1e-7", "0.0000001", "4e-324", "0.0009"])
@pytest.mark.parametrize("name", ["expectimax", "heuristic", "minimax"])
def test_a_time_that_rounds_to_nothing_is_refused(name: str, ms: str) -> None:
    with pytest.raises(SpecError, match=r"must be a number from 0\.001 to 3,600,000"):
        make_agent(f"{name}:ms={ms}")


class Careful(Agent):
    """An agent of a user whose option has a range."""

    weight: Annotated[float, Range(0, 10)] = 1.0


class MoreCareful(Careful):
    """Another default, the same range."""

    weight = 2.0


@pytest.mark.parametrize(("cls", "default"), [(Careful, 1.0), (MoreCareful, 2.0)])
def test_agents_of_users_can_have_ranges(cls: type[Careful], default: float) -> None:
    assert options_of(cls)["weight"].range == Range(0, 10)
    assert (cls().weight, cls(weight=10).weight) == (default, 10)
    with pytest.raises(SpecError, match=r"option weight=11: must be a number from 0 to 10"):
        cls(weight=11)
