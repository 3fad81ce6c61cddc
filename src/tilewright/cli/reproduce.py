"""`tilewright reproduce`: the tables of the papers beside what this machine measures."""

from pathlib import Path

import click

from tilewright._core.tables import check_table_output
from tilewright.cli import output
from tilewright.cli.options import chosen_cluster, engine_options, force_option, threads_option
from tilewright.cli.progress import suite_progress
from tilewright.cli.terminal import stopping_on_signals
from tilewright.errors import JobsFailedError
from tilewright.reproduce.experiments import SCALES, all_experiments
from tilewright.reproduce.runner import SuiteResult, load_results, run_experiments

__all__ = ["csv_option", "report_result", "reproduce"]

csv_option = click.option(
    "--csv",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the results to FILE, one row per trial (a row of the table with one of its seeds); as Parquet if the "
    "name ends in .parquet.",
)


def report_result(result: SuiteResult, csv: Path | None, *, force: bool) -> None:
    """Print where the results are, and write the table.

    Raises:
        JobsFailedError: Some jobs failed.
    """
    for report in result.reports:
        print(report)
    if csv is not None:
        result.to_csv(csv, force=force)
        print(f"{csv}: {len(result.trials):,} trials")
    if result.failures:
        raise JobsFailedError("\ntilewright: ".join(f"{failure.label}: {failure.error}" for failure in result.failures))


@click.command()
@click.argument("experiments", nargs=-1, metavar="[EXPERIMENT]...")
@click.option("--all", "everything", is_flag=True, help="Run all experiments of all papers.")
@click.option(
    "--scale", type=click.Choice(list(SCALES)), default="quick", show_default=True, help="The effort to make."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs/reproduce"),
    show_default=True,
    help="The folder of results and reports.",
)
@click.option(
    "--markdown",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Also write the Markdown reports to FOLDER, with a list of all reports that are there.",
)
@csv_option
@force_option
@threads_option
@engine_options
def reproduce(
    experiments: tuple[str, ...],
    everything: bool,
    scale: str,
    out: Path,
    markdown: Path | None,
    csv: Path | None,
    force: bool,
    threads: int | None,
    engine: str,
    address: str | None,
) -> None:
    """Run the experiments of a paper and compare its results with ours. Without EXPERIMENT, list the experiments.

    Finished jobs are never run again: stop with Ctrl-C at any time, and run the same command to continue. Every
    experiment gets an HTML and a Markdown report in --out. With --csv and without EXPERIMENT, all results in --out are
    exported.

    \b
    Scales:
      quick     a few minutes for everything; shows that it runs, and says little about strength
      standard  a night on a laptop; some experiments use a faster update rule
      full      the numbers of games and runs of the papers, where they state them

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
        check_table_output(csv, force=force)
    if not experiments and not everything:
        if csv is not None:
            report_result(load_results(out), csv, force=force)
            return
        rows = [(path, experiment.title) for path, experiment in all_experiments().items()]
        output.print_table(("experiment", "title"), rows)
        print("\nrun one: tilewright reproduce EXPERIMENT, or all of a paper by its name")
        return
    output.announce_compilation()
    with stopping_on_signals(), chosen_cluster(engine, address, threads) as cluster, suite_progress() as callback:
        result = run_experiments(
            list(all_experiments()) if everything else experiments,
            scale,
            out=out,
            markdown=markdown,
            force=force,
            threads=threads,
            cluster=cluster,
            callback=callback,
        )
    report_result(result, csv, force=force)
