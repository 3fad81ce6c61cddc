"""`tilewright reproduce`: a paper's table next to what this machine measures."""

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from tilewright.cli import output
from tilewright.cli.options import threads_option
from tilewright.engines.local import default_threads
from tilewright.errors import UsageError
from tilewright.reproduce.experiments import SCALES, all_experiments, find_experiment
from tilewright.reproduce.jobs import Job
from tilewright.reproduce.suite import Observer

__all__ = ["reproduce"]


@click.command()
@click.argument("experiments", nargs=-1, metavar="[EXPERIMENT]...")
@click.option("--all", "everything", is_flag=True, help="All experiments of all papers.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="quick", show_default=True, help="How much effort.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("runs/reproduce"), show_default=True)
@click.option(
    "--csv", type=click.Path(path_type=Path), metavar="FILE", help="Export all finished jobs of --out and stop."
)
@threads_option
def reproduce(
    experiments: tuple[str, ...], everything: bool, scale: str, out: Path, csv: Path | None, threads: int | None
) -> None:
    """Run what a paper did and put its figures beside ours. Without EXPERIMENT, list the experiments.

    What is finished is never run again: stop with Ctrl-C at any time and start again. The reports are in --out, a page
    and Markdown for every experiment.

    \b
    Scales:
      quick     minutes for all; shows that everything runs, says little of strength
      standard  what a laptop does overnight
      full      the papers' own numbers of games and repeats

    \b
    Examples:
      tilewright reproduce
      tilewright reproduce szubert-2014/table-1
      tilewright reproduce goenawan-2020 --scale standard
      tilewright reproduce --all --out runs/papers
      tilewright reproduce --csv results.csv
    """
    from tilewright.reproduce.page import write_reports
    from tilewright.reproduce.store import Store
    from tilewright.reproduce.suite import pieces_of, run_suite

    if csv is not None:
        print(f"{csv}: {Store(out).export_csv(csv):,} jobs")
        return
    if not experiments and not everything:
        output.print_table(("experiment", "what it is"), [(path, one.title) for path, one in all_experiments().items()])
        print("\nrun one: tilewright reproduce EXPERIMENT; a paper's name runs all of it")
        return
    workers = default_threads() if threads is None else threads
    if workers < 1:
        raise UsageError(f"--threads {threads}: at least one is needed")
    paths = list(all_experiments()) if everything else experiments
    chosen = list({one.path: one for path in paths for one in find_experiment(path)}.values())
    store = Store(out)
    output.announce_compilation()
    with _watching() as observer:
        pieces = [piece for one in chosen for piece in pieces_of(one, one.scales[scale])]
        run_suite(pieces, store, workers=workers, observer=observer)
    for one in chosen:
        page = write_reports(one, one.scales[scale], store, out / one.paper / f"{one.name}-{scale}")
        print(page)


@contextmanager
def _watching() -> Iterator[Observer]:
    """A bar for the whole and one for every job under way; plain lines where there is no terminal."""
    if not sys.stderr.isatty():
        yield _Plain()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield _Live(progress)


class _Plain(Observer):
    """A line for every finished job."""

    def __init__(self) -> None:
        self._finished, self._missing = 0, 0
        self._lock = threading.Lock()

    def on_plan(self, jobs: Sequence[Job], missing: Sequence[Job]) -> None:
        self._missing = len(missing)
        print(f"{len(jobs):,} jobs, {len(jobs) - len(missing):,} finished before", file=sys.stderr, flush=True)

    def on_progress(self, job: Job, done: float) -> None:
        if done == 1:
            with self._lock:
                self._finished += 1
                print(f"{self._finished:,} of {self._missing:,}: {job}", file=sys.stderr, flush=True)


class _Live(Observer):
    def __init__(self, progress: Any) -> None:
        self._progress = progress
        self._whole: Any = None
        self._bars: dict[str, Any] = {}
        self._lock = threading.Lock()

    def on_plan(self, jobs: Sequence[Job], missing: Sequence[Job]) -> None:
        label = f"{len(missing):,} of {len(jobs):,} jobs"
        self._whole = self._progress.add_task(label, total=float(max(1, len(missing))))

    def on_progress(self, job: Job, done: float) -> None:
        with self._lock:
            if job.key not in self._bars:
                self._bars[job.key] = self._progress.add_task(f"  {job}", total=1.0)
            if done < 1:
                self._progress.update(self._bars[job.key], completed=done)
            else:
                self._progress.remove_task(self._bars.pop(job.key))
                self._progress.advance(self._whole, 1.0)
