"""`tilewright bench`: moves per second of kernels, training and environments."""

import click

from tilewright.bench import BENCHMARKS, measure
from tilewright.cli import output
from tilewright.cli.options import json_option

__all__ = ["bench"]


@click.command()
@click.argument("names", nargs=-1)
@click.option("--repeat", default=5, show_default=True, help="The number of runs of each; the best counts.")
@click.option("--threads", default=1, show_default=True, help="The number of threads.")
@json_option
def bench(names: tuple[str, ...], repeat: int, threads: int, as_json: bool) -> None:
    """Measure moves per second of all benchmarks, or of those with the given NAMES.

    Benchmarks are warmed up and run in turns; the best run of each counts. Other packages are measured, too, where
    they are installed: gymnasium-2048, pgx, jumanji, stable-baselines3.

    \b
    Examples:
      tilewright bench
      tilewright bench 2048-random --repeat 20
      tilewright bench 2048-envs pgx
    """
    output.announce_compilation()
    chosen = list(names) or list(BENCHMARKS)
    with output.progress_bar("measuring", repeat * len(chosen)) as progress:
        results = measure(chosen, repeat=repeat, threads=threads, progress=progress)
    if as_json:
        output.print_json([result.to_json() for result in results])
        return
    rows = [(r.name, r.summary, f"{r.best:,.0f}", f"{r.median:,.0f}") for r in results]
    output.print_table(
        ("benchmark", "what is measured", ">moves/s, best", ">median"),
        rows,
        title=f"{threads} thread{'s' if threads > 1 else ''}, best of {repeat} in turns",
    )
