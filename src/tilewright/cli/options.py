"""Options that several commands share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = [
    "DEFAULT_AGENT",
    "agent_option",
    "game_option",
    "games_option",
    "json_option",
    "seed_option",
    "threads_option",
]

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_AGENT = "greedy"  # who is asked where nobody is named

game_option = click.option(
    "--game", default="2048", show_default=True, metavar="SPEC", help="The game, as `threes` or `2048:rows=3,four=0.5`."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
seed_option = click.option("--seed", default=0, show_default=True, help="The same seed gives the same games.")
threads_option = click.option("--threads", type=int, help="How many threads to use.  [default: all processors]")


def agent_option(purpose: str) -> Callable[[F], F]:
    return click.option("--agent", default=DEFAULT_AGENT, show_default=True, metavar="SPEC", help=purpose)


def games_option(default: int) -> Callable[[F], F]:
    return click.option("--games", default=default, show_default=True, help="How many games to play.")
