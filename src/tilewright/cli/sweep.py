"""`tilewright sweep`: train with every combination of some keys, and compare."""

from pathlib import Path

import click

from tilewright._core.tables import check_table_output
from tilewright.cli import output
from tilewright.cli.options import chosen_cluster, engine_options, force_option, threads_option
from tilewright.cli.progress import suite_progress
from tilewright.cli.reproduce import csv_option, report_result
from tilewright.cli.terminal import stopping_on_signals
from tilewright.cli.train import read_changes
from tilewright.errors import ConfigError
from tilewright.reproduce.sweep import sweep

__all__ = ["sweep_command"]


@click.command("sweep")
@click.argument("config")
@click.argument("over", nargs=-1, required=True, metavar="KEY=VALUE,VALUE,...")
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help='Change a key of all configurations; repeatable. A list is written as in TOML: \'tuples=["0145", "0123"]\'.',
)
@click.option("--seeds", default=1, show_default=True, help="The number of trainings for each combination.")
@click.option("--evaluate-games", default=200, show_default=True, help="The number of games of each evaluation.")
@click.option(
    "--agent",
    default="",
    metavar="SPEC",
    help="The agent that is evaluated; {model} is the trained model.  [default: the agent of the configuration]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs/sweep"),
    show_default=True,
    help="The folder of results, run folders and report.",
)
@csv_option
@force_option
@threads_option
@engine_options
def sweep_command(
    config: str,
    over: tuple[str, ...],
    changes: tuple[str, ...],
    seeds: int,
    evaluate_games: int,
    agent: str,
    out: Path,
    csv: Path | None,
    force: bool,
    threads: int | None,
    engine: str,
    address: str | None,
) -> None:
    """Train CONFIG with every combination of the given values, evaluate each, and write one report.

    Each training runs on one thread, and its length is counted in games (in steps for a deep network), so it gives
    the same bits wherever it runs. Finished jobs are never run again.

    \b
    Examples:
      tilewright sweep minute lambda=0,0.5,0.8 --set games=5000
      tilewright sweep minute network=4x6,5x6 alpha=0.5,1 --set games=20000 --seeds 3 --csv results.csv
      tilewright sweep minute lambda=0,0.5 --set games=5000 --agent expectimax:depth=2,model={model}
      tilewright sweep dqn mask=true,false --set total_steps=20000
    """
    axes = dict(_read_axis(text) for text in over)
    if len(axes) < len(over):
        raise ConfigError("a key is given twice")
    fixed = read_changes(changes)
    if csv is not None:
        check_table_output(csv, inputs=[config], force=force)
    output.announce_compilation()
    with stopping_on_signals(), chosen_cluster(engine, address, threads) as cluster, suite_progress() as callback:
        result = sweep(
            config,
            axes,
            seeds=seeds,
            evaluate_games=evaluate_games,
            agent=agent,
            out=out,
            threads=threads,
            cluster=cluster,
            callback=callback,
            **fixed,
        )
    report_result(result, csv, force=force)


def _read_axis(text: str) -> tuple[str, list[object]]:
    """Read `lambda=0,0.5` as a key and its values."""
    key, equals, values = text.partition("=")
    if not equals or not values:
        raise ConfigError(f"{text}: must be of the form key=value,value,…")
    return key.strip(), [read_changes((f"{key}={value}",))[key.strip()] for value in values.split(",")]
