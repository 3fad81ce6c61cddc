"""`tilewright games` and `tilewright agents`: what is there, and which options it takes."""

import dataclasses
from typing import Any

import click

from tilewright.agents import AGENTS
from tilewright.cli import output
from tilewright.cli.options import json_option
from tilewright.games import GAMES
from tilewright.registry import Registry

__all__ = ["agents", "games"]


@click.command()
@click.argument("name", required=False)
@json_option
def games(name: str | None, as_json: bool) -> None:
    """List the games; with NAME, the options of one.

    \b
    Examples:
      tilewright games
      tilewright games threes
    """
    _list(GAMES, name, as_json)


@click.command()
@click.argument("name", required=False)
@json_option
def agents(name: str | None, as_json: bool) -> None:
    """List the agents; with NAME, the options of one.

    \b
    Examples:
      tilewright agents
      tilewright agents greedy
    """
    _list(AGENTS, name, as_json)


def _list(registry: Registry[Any], name: str | None, as_json: bool) -> None:
    if name is None:
        summaries = {entry: registry.entries[entry].summary for entry in registry}
        if as_json:
            output.print_json(summaries)
        else:
            output.print_table((registry.kind, "what it is"), list(summaries.items()))
            print(f"\noptions of one: tilewright {registry.kind}s NAME; used as NAME:option=value,…")
        return
    found = registry.load(name)
    options = {field.name: field.default for field in dataclasses.fields(found)}
    if as_json:
        output.print_json({"name": name, "summary": registry.entries[name].summary, "options": options})
        return
    print(f"{name}: {registry.entries[name].summary}")
    if not options:
        print("it has no options")
        return
    output.print_table(("option", "default"), [(option, str(default)) for option, default in options.items()])
