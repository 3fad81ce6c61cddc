"""`tilewright games` and `tilewright agents`."""

import json
from typing import Any

import pytest

from tests.cli.conftest import Command
from tilewright import AGENTS, GAMES, make_game
from tilewright._core.registry import Registry


@pytest.mark.parametrize(("name", "registry"), [("games", GAMES), ("agents", AGENTS)])
def test_all_are_listed_with_what_they_are(command: Command, name: str, registry: Registry[Any]) -> None:
    summaries = {entry: registry.entries[entry].summary for entry in registry}
    said = command(name)
    assert said.code == 0
    for entry, summary in summaries.items():
        assert any(line.split(maxsplit=1) == [entry, summary] for line in said.out.splitlines())
    assert json.loads(command(name, "--json").out) == summaries


def test_one_is_listed_with_its_options_and_their_defaults(command: Command) -> None:
    said = command("games", "2048")
    game = make_game("2048")
    options = {line.split()[0]: line.split()[1] for line in said.out.splitlines()[2:]}
    assert options == {name: str(getattr(game, name)) for name in options}
    assert set(options) == {"rows", "columns", "four", "start_tiles", "win_tile", "cascade"}


def test_json_of_one(command: Command) -> None:
    assert json.loads(command("games", "threes", "--json").out) == {
        "name": "threes",
        "summary": GAMES.entries["threes"].summary,
        "options": {"rows": 4, "columns": 4, "start_tiles": 9, "max_tile": 12288},
    }


def test_one_without_options_says_so(command: Command) -> None:
    assert command("agents", "greedy").out.endswith("it has no options\n")
