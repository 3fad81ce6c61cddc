"""`tilewright sweep`: train with every combination of some keys, and compare."""

import dataclasses
import hashlib
import itertools
from pathlib import Path
from typing import Any

import click

from tilewright.agents import make_agent
from tilewright.cli.options import chosen_cluster, engine_options, threads_option
from tilewright.cli.suite_progress import run_and_report
from tilewright.cli.train import read_changes
from tilewright.errors import ConfigError, SpecError
from tilewright.reproduce.experiments import Experiment, Row, Scale
from tilewright.reproduce.suite import NOT_LEARNING
from tilewright.training.config import TrainingConfig, read_config

__all__ = ["sweep"]


@click.command()
@click.argument("config")
@click.argument("over", nargs=-1, required=True, metavar="KEY=VALUE,VALUE,...")
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change a key of the recipe for all.")
@click.option(
    "--seeds", type=click.IntRange(1), default=1, show_default=True, help="How many runs of each combination."
)
@click.option("--tests", type=click.IntRange(1), default=200, show_default=True, help="Games of each test.")
@click.option("--agent", default="", help="Who is tested.  [default: ntuple:model={model}, or that of a deep network]")
@click.option("--out", type=click.Path(path_type=Path), default=Path("runs/sweep"), show_default=True)
@threads_option
@engine_options
def sweep(
    config: str,
    over: tuple[str, ...],
    changes: tuple[str, ...],
    seeds: int,
    tests: int,
    agent: str,
    out: Path,
    threads: int | None,
    engine: str,
    address: str | None,
) -> None:
    """Train RECIPE with every combination of the given values, test each, and write one report.

    Every run has one thread, and its length is counted in games (deep networks: in steps), so that it can be repeated
    to the bit; what is finished is never run again.

    \b
    Examples:
      tilewright sweep minute lambda=0,0.5,0.8 --set games=5000
      tilewright sweep minute network=4x6,5x6 alpha=0.5,1 --set games=20000 --seeds 3
      tilewright sweep minute lambda=0,0.5 --set games=5000 --agent expectimax:depth=2,model={model}
      tilewright sweep dqn mask=true,false --set total_steps=20000
    """
    axes = [_axis(text) for text in over]
    fixed = read_changes(changes)
    for key in {*fixed, *(key for key, _ in axes)} & {"seed", *NOT_LEARNING}:
        raise ConfigError(f"{key}: cannot be chosen in a sweep{', which has --seeds' if key == 'seed' else ''}")
    if agent:
        if "{model}" not in agent:
            raise SpecError(f"--agent {agent}: must have model={{model}}, which stands for what was trained")
        make_agent(agent.replace("{model}", "MODEL"))  # raises if there is none such
    rows = []
    for values in itertools.product(*(values for _, values in axes)):
        point = dict(zip((key for key, _ in axes), values, strict=True))
        label = ", ".join(f"{key} = {value}" for key, value in point.items())
        rows.append(Row(label, config, {**fixed, **point}, agent))
        tried = read_config(config, **fixed, **point)
        counted = "games" if isinstance(tried, TrainingConfig) else "total_steps"
        if not getattr(tried, counted):
            raise ConfigError(f"{config} trains for {tried.length}; a sweep counts {counted}: --set {counted}=N")
    name = hashlib.sha256(repr((config, rows, seeds, tests)).encode()).hexdigest()[:8]
    scale = Scale("sweep", seeds=seeds, tests=tests)
    experiment = Experiment(
        "sweep",
        f"Sweep of {Path(config).stem}",
        f"{Path(config).stem}-{name}",
        ", ".join(key for key, _ in axes),
        f"{seeds} run{'s' if seeds > 1 else ''} of each combination, tested with {tests:,} games.",
        columns=("score", "win", "max", "learning-seconds"),
        figures=("curve-score",),
        rows=tuple(rows),
        scales={"sweep": scale, "full": dataclasses.replace(scale)},
    )
    run_and_report([experiment], "sweep", out, threads, chosen_cluster(engine, address, threads))


def _axis(text: str) -> tuple[str, list[Any]]:
    """`lambda=0,0.5` as its key and values."""
    key, equals, values = text.partition("=")
    if not equals or not values:
        raise ConfigError(f"{text}: must be of the form key=value,value,…")
    return key.strip(), [read_changes((f"{key}={value}",))[key.strip()] for value in values.split(",")]
