"""Running experiments from the command line: what a person sees of a suite, and the reports at its end."""

import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from tilewright._core.cluster import Cluster
from tilewright._core.files import make_folder
from tilewright._core.parallel import default_threads
from tilewright.cli import output
from tilewright.errors import JobsFailedError, UsageError
from tilewright.reproduce.experiments import Experiment
from tilewright.reproduce.jobs import Job, Training
from tilewright.reproduce.report import make_report, write_index, write_markdown, write_page
from tilewright.reproduce.store import Store
from tilewright.reproduce.suite import Observer, Piece, pieces_of, run_suite

__all__ = ["run_and_report"]

SILENCE = 60  # seconds after which it is said how far a job is, where there is no terminal


def run_and_report(
    experiments: Sequence[Experiment],
    scale: str,
    out: Path,
    threads: int | None,
    cluster: AbstractContextManager[Cluster | None],
    markdown: Path | None = None,
) -> None:
    """Run what is missing, write a report for each, and print where they are; what failed is told at the end."""
    if "," in str(out):
        raise UsageError(f"--out {out}: a folder's name must be without commas, which separate the options of an agent")
    if markdown is not None:
        make_folder(markdown)
    workers = default_threads() if threads is None else threads
    if workers < 1:
        raise UsageError(f"--threads {threads}: at least one is needed")
    store = Store(out)
    output.announce_compilation()
    pieces = {one.path: pieces_of(one, one.scales[scale]) for one in experiments}
    names = _names_of_jobs(pieces)
    with cluster as remote, _watching(names) as observer:
        workers = workers if remote is None else remote.processors
        failed = run_suite([*chain(*pieces.values())], store, workers=workers, observer=observer, cluster=remote)
    for one in experiments:
        report, place = make_report(one, one.scales[scale], store), Path(one.paper) / f"{one.name}-{scale}"
        write_markdown(report, out / place)
        print(write_page(report, out / place))
        if markdown is not None:
            write_markdown(report, markdown / place)
    if markdown is not None:
        print(write_index(markdown))
    if failed:
        lines = [f"{names[job.key]}: {error}" for job, error in failed]
        raise JobsFailedError("\ntilewright: ".join(lines))


def _names_of_jobs(pieces: Mapping[str, Sequence[Piece]]) -> dict[str, str]:
    """What a person knows each job by: the row that asks for it first, of several experiments with the path."""
    names: dict[str, str] = {}
    for path, some in pieces.items():
        for piece in some:
            seed = f", seed {piece.seed}" if piece.seed else ""
            row = f"{path if len(pieces) > 1 else ''} {piece.row.label}{seed}".strip()
            for job in piece.jobs:
                what = "training" if isinstance(job, Training) else f"{job.games:,} games"
                names.setdefault(job.key, f"{row}: {what}")
    return names


@contextmanager
def _watching(names: Mapping[str, str]) -> Iterator[Observer]:
    """A bar for the whole and one for every job under way; plain lines where there is no terminal."""
    if not sys.stderr.isatty():
        yield _Plain(names)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    columns = (
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
        BarColumn(bar_width=20),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield _Live(progress, names)


class _Plain(Observer):
    """A line for every finished job, and now and then one of a job that takes long."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._finished, self._missing = 0, 0
        self._told = time.monotonic()
        self._lock = threading.Lock()

    def on_plan(self, jobs: Sequence[Job], missing: Sequence[Job]) -> None:
        self._missing = len(missing)
        print(f"{len(jobs):,} jobs, {len(jobs) - len(missing):,} finished before", file=sys.stderr, flush=True)

    def on_progress(self, job: Job, done: float) -> None:
        with self._lock:
            self._finished += done == 1
            if done == 1 or time.monotonic() > self._told + SILENCE:
                self._told = time.monotonic()
                so_far = "" if done == 1 else f", {done:.1%} of it"
                print(
                    f"{self._finished:,} of {self._missing:,}: {self._names[job.key]}{so_far}",
                    file=sys.stderr,
                    flush=True,
                )


class _Live(Observer):
    def __init__(self, progress: Any, names: Mapping[str, str]) -> None:
        self._progress, self._names = progress, names
        self._whole: Any = None
        self._bars: dict[str, Any] = {}
        self._lock = threading.Lock()

    def on_plan(self, jobs: Sequence[Job], missing: Sequence[Job]) -> None:
        label = f"{len(missing):,} of {len(jobs):,} jobs"
        self._whole = self._progress.add_task(label, total=float(max(1, len(missing))))

    def on_progress(self, job: Job, done: float) -> None:
        with self._lock:
            if job.key not in self._bars:
                self._bars[job.key] = self._progress.add_task(f"  {self._names[job.key]}", total=1.0)
            if done < 1:
                self._progress.update(self._bars[job.key], completed=done)
            else:
                self._progress.remove_task(self._bars.pop(job.key))
                self._progress.advance(self._whole, 1.0)
