"""`tilewright games` and `tilewright agents`: entries, options, meanings and defaults."""

import dataclasses
import json
from typing import Any

import pytest

from tests.cli.conftest import Command
from tilewright import AGENTS, GAMES, SpecError, make_agent, make_game
from tilewright._core.registry import Registry
from tilewright.cli.listing import option_meanings


@pytest.mark.parametrize(("name", "registry"), [("games", GAMES), ("agents", AGENTS)])
def test_all_are_listed_with_their_summaries(command: Command, name: str, registry: Registry[Any]) -> None:
    summaries = {entry: registry.entries[entry].summary for entry in registry}
    said = command(name)
    assert said.code == 0
    for entry, summary in summaries.items():
        assert any(line.split(maxsplit=1) == [entry, summary] for line in said.out.splitlines())
    assert json.loads(command(name, "--json").out) == summaries


def test_a_game_is_listed_with_its_options_and_their_defaults(command: Command) -> None:
    said = command("games", "2048")
    game = make_game("2048")
    options = {line.split()[0]: line.split()[1] for line in said.out.splitlines()[2:]}
    assert options == {name: str(getattr(game, name)).lower() for name in options}
    assert set(options) == {"rows", "columns", "four", "start_tiles", "win_tile", "cascade"}


def test_json_of_a_game(command: Command) -> None:
    found = json.loads(command("games", "threes", "--json").out)
    assert (found["name"], found["summary"]) == ("threes", GAMES.entries["threes"].summary)
    assert found["options"] == {"rows": 4, "columns": 4, "start_tiles": 9, "max_tile": 12288}


@pytest.mark.parametrize(
    ("kind", "registry", "name"),
    [("games", GAMES, name) for name in GAMES.entries] + [("agents", AGENTS, name) for name in AGENTS.entries],
)
def test_every_option_is_listed_with_its_meaning(
    command: Command, kind: str, registry: Registry[Any], name: str
) -> None:
    options = [field.name for field in dataclasses.fields(registry.load(name))]
    meanings = option_meanings(registry.load(name))
    assert list(meanings) == options
    said = command(kind, name).out
    for option in options:
        row = next(line for line in said.splitlines() if line.split()[0] == option)
        assert row.endswith(meanings[option])
    assert json.loads(command(kind, name, "--json").out)["meanings"] == meanings


@pytest.mark.parametrize("name", ["expectimax", "uct"])
def test_options_are_listed_with_their_least_and_largest_values(command: Command, name: str) -> None:
    said, found = command("agents", name).out, json.loads(command("agents", name, "--json").out)
    for option, (least, largest) in found["ranges"].items():
        row = next(line for line in said.splitlines() if line.split()[0] == option)
        assert f" {least:,} to {largest:,} " in row
        spec = f"{name}:{option}={{}}" + ("" if option != "horizon" else ",value=score")
        make_agent(spec.format(least))
        with pytest.raises(SpecError, match="number from"):
            make_agent(spec.format(2 * largest))
    assert set(found["ranges"]) == {"expectimax": {"depth", "ms", "prune", "table", "downgrade_above"}}.get(
        name, {"rollouts", "horizon", "c"}
    )


@pytest.mark.parametrize(
    ("spec", "same"),
    [
        ("expectimax", "expectimax:depth={depth}"),
        ("minimax", "minimax:depth={depth}"),
    ],
)
def test_a_listed_default_is_the_one_that_is_used(command: Command, spec: str, same: str) -> None:
    """The listed depth makes an agent with the same values."""
    options = json.loads(command("agents", spec, "--json").out)["options"]
    board = make_game("2048").parse("2 4 8 16 / 4 0 0 0 / 2 0 0 2 / 0 0 0 0")
    player = make_agent(spec).player(board.game)
    assert player.analyse(board).depth == options["depth"]
    assert player.analyse(board).values == make_agent(same.format(**options)).values(board)


def test_a_depth_that_follows_from_the_board_has_no_default(command: Command) -> None:
    assert json.loads(command("agents", "heuristic", "--json").out)["options"]["depth"] is None


def test_one_without_options_says_so(command: Command) -> None:
    assert command("agents", "greedy").out.endswith("it has no options\n")
