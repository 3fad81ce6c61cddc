"""`tilewright bench`: moves per second of every kernel, warm, best of several."""

import click

from tilewright._core.registry import did_you_mean
from tilewright.bench import BENCHMARKS, MISSING, measure
from tilewright.cli import output
from tilewright.cli.options import json_option
from tilewright.errors import MissingExtraError, SpecError

__all__ = ["bench"]


@click.command()
@click.argument("names", nargs=-1)
@click.option("--repeat", default=5, show_default=True, help="How often each is run; the best counts.")
@click.option("--threads", default=1, show_default=True, help="How many threads to use.")
@json_option
def bench(names: tuple[str, ...], repeat: int, threads: int, as_json: bool) -> None:
    """Measure the kernels (all, or those of the given NAMES) in turns, each warm, and report the best of several.

    Other programs are measured, too, where they are installed: gymnasium-2048, pgx, jumanji, stable-baselines3.

    \b
    Examples:
      tilewright bench
      tilewright bench 2048-random --repeat 20
      tilewright bench 2048-envs pgx
    """
    output.announce_compilation()
    for name in names:
        if name in MISSING:
            needed = MISSING[name].replace("_", "-")
            raise MissingExtraError(f"the benchmark {name} needs what is not installed: pip install {needed}")
        if name not in BENCHMARKS:
            hint = did_you_mean(name, BENCHMARKS)
            raise SpecError(f"there is no benchmark {name!r}{hint}; there are: {', '.join(BENCHMARKS)}")
    chosen = list(names) or list(BENCHMARKS)
    with output.progress_bar("measuring", repeat * len(chosen)) as progress:
        results = measure(chosen, repeat=repeat, threads=threads, progress=progress)
    if as_json:
        output.print_json([result.to_json() for result in results])
        return
    rows = [(r.name, r.summary, f"{r.best:,.0f}", f"{r.median:,.0f}") for r in results]
    output.print_table(
        ("benchmark", "what is done", ">moves/s, best", ">median"),
        rows,
        title=f"{threads} thread{'s' if threads > 1 else ''}, best of {repeat} in turns",
    )
