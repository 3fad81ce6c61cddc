"""`tilewright agents`: the agents and their options."""

import click

from tilewright.agents import AGENTS
from tilewright.cli.listing import list_registry
from tilewright.cli.options import json_option

__all__ = ["agents"]


@click.command()
@click.argument("name", required=False)
@json_option
def agents(name: str | None, as_json: bool) -> None:
    """List the agents; with NAME, list the options of one agent.

    \b
    Examples:
      tilewright agents
      tilewright agents expectimax
      tilewright agents my_module:MyAgent
    """
    list_registry(AGENTS, name, as_json)
