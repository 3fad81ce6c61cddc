"""`tilewright reproduce`: a paper's table next to what this machine measures."""

from pathlib import Path

import click

from tilewright.cli import output
from tilewright.cli.options import chosen_cluster, engine_options, threads_option
from tilewright.cli.suite_progress import run_and_report
from tilewright.errors import FileError
from tilewright.reproduce.experiments import SCALES, all_experiments, find_experiment

__all__ = ["reproduce"]


@click.command()
@click.argument("experiments", nargs=-1, metavar="[EXPERIMENT]...")
@click.option("--all", "everything", is_flag=True, help="All experiments of all papers.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="quick", show_default=True, help="How much effort.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("runs/reproduce"), show_default=True)
@click.option(
    "--markdown",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Write the Markdown there as well, with a list of all reports that are there.",
)
@click.option(
    "--csv", type=click.Path(path_type=Path), metavar="FILE", help="Export all finished jobs of --out and stop."
)
@threads_option
@engine_options
def reproduce(
    experiments: tuple[str, ...],
    everything: bool,
    scale: str,
    out: Path,
    markdown: Path | None,
    csv: Path | None,
    threads: int | None,
    engine: str,
    address: str | None,
) -> None:
    """Run what a paper did and put its figures beside ours. Without EXPERIMENT, list the experiments.

    What is finished is never run again: stop with Ctrl-C at any time and start again. The reports are in --out, a page
    and Markdown for every experiment.

    \b
    Scales:
      quick     minutes for all; shows that everything runs, says little of strength
      standard  what a laptop does overnight; some experiments learn by a faster rule
      full      the papers' own numbers of games and repeats, where they state them

    \b
    Examples:
      tilewright reproduce
      tilewright reproduce szubert-2014/table-1
      tilewright reproduce goenawan-2020 --scale standard
      tilewright reproduce --all --out runs/papers
      tilewright reproduce chen-2019 --scale standard --markdown docs/results
      tilewright reproduce --csv results.csv
    """
    if csv is not None:
        from tilewright.reproduce.store import Store

        if not out.is_dir():
            raise FileError(f"{out}: there is no such folder")
        print(f"{csv}: {Store(out).export_csv(csv):,} jobs")
        return
    if not experiments and not everything:
        output.print_table(("experiment", "what it is"), [(path, one.title) for path, one in all_experiments().items()])
        print("\nrun one: tilewright reproduce EXPERIMENT; a paper's name runs all of it")
        return
    paths = list(all_experiments()) if everything else experiments
    chosen = list({one.path: one for path in paths for one in find_experiment(path)}.values())
    run_and_report(chosen, scale, out, threads, chosen_cluster(engine, address, threads), markdown)
