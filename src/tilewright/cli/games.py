"""`tilewright games`: the games and their options."""

import click

from tilewright.cli.listing import list_registry
from tilewright.cli.options import json_option
from tilewright.games import GAMES

__all__ = ["games"]


@click.command()
@click.argument("name", required=False)
@json_option
def games(name: str | None, as_json: bool) -> None:
    """List the games; with NAME, list the options of one game.

    \b
    Examples:
      tilewright games
      tilewright games threes
      tilewright games 2048 --json
    """
    list_registry(GAMES, name, as_json)
