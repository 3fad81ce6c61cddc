"""Options that several commands share."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from tilewright._core.options import options_of
from tilewright.errors import UsageError

if TYPE_CHECKING:
    from tilewright._core.cluster import Cluster
    from tilewright.agents.base import Agent

__all__ = [
    "agent_option",
    "chosen_cluster",
    "engine_options",
    "files_of",
    "force_option",
    "game_option",
    "games_option",
    "json_option",
    "seed_option",
    "threads_option",
]

F = TypeVar("F", bound=Callable[..., object])

game_option = click.option(
    "--game",
    default="2048",
    show_default=True,
    metavar="SPEC",
    help="The game: `threes`, `2048:rows=3,four=0.5`, or your own class, such as `my_module:MyGame`.",
)
force_option = click.option(
    "--force", is_flag=True, help="Also replace output files of another kind, but never folders, devices or inputs."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
seed_option = click.option("--seed", default=0, show_default=True, help="The same seed gives the same games.")
threads_option = click.option("--threads", type=int, help="The number of threads.  [default: all processors]")


def engine_options(command: F) -> F:
    """Add `--engine` and `--address` to a command; `chosen_cluster` reads them."""
    engine = click.option(
        "--engine",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        help="Use the threads of this process, or a Ray cluster.",
    )
    address = click.option(
        "--address", help="The address of a running Ray cluster, or `auto`.  [default: start one on this machine]"
    )
    return engine(address(command))


def chosen_cluster(engine: str, address: str | None, threads: int | None) -> "AbstractContextManager[Cluster | None]":
    """Return the cluster that the options name, or None for this process, as a context.

    Raises:
        UsageError: An address is given without a cluster.
    """
    if engine == "local":
        if address is not None:
            raise UsageError("--address goes with --engine ray")
        return nullcontext()
    from tilewright._core.cluster import Cluster

    return Cluster(address, threads)


def files_of(agent: "Agent") -> list[Path]:
    """Return the files that an agent reads: those that its options name."""
    values = (getattr(agent, name, None) for name in options_of(type(agent)))
    return [Path(value) for value in values if isinstance(value, str | Path) and str(value)]


def agent_option(purpose: str) -> Callable[[F], F]:
    """Return the option `--agent`.

    Args:
        purpose: What the agent does in the command, as a sentence.
    """
    return click.option(
        "--agent", metavar="SPEC", help=f"{purpose}  [default: the strongest agent that comes with the package]"
    )


def games_option(default: int) -> Callable[[F], F]:
    """Return the option `--games`."""
    return click.option("--games", default=default, show_default=True, help="The number of games.")
