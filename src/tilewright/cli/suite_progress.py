"""The progress of a suite: a bar for the whole and one for every running job, or plain lines."""

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tilewright.reproduce.jobs import Job
from tilewright.reproduce.suite import SuiteCallback

__all__ = ["suite_progress"]

SILENCE = 60  # seconds after which it is said how far a job is, where there is no terminal


@contextmanager
def suite_progress() -> Iterator[SuiteCallback]:
    """A bar for the whole and one for every running job; plain lines where there is no terminal."""
    if not sys.stderr.isatty():
        yield _Plain()
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
        yield _Live(progress)


class _Plain(SuiteCallback):
    """A line for every finished job, and now and then one of a job that takes long."""

    def __init__(self) -> None:
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
                    f"{self._finished:,} of {self._missing:,}: {job.label}{so_far}",
                    file=sys.stderr,
                    flush=True,
                )


class _Live(SuiteCallback):
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
                self._bars[job.key] = self._progress.add_task(f"  {job.label}", total=1.0)
            if done < 1:
                self._progress.update(self._bars[job.key], completed=done)
            else:
                self._progress.remove_task(self._bars.pop(job.key))
                self._progress.advance(self._whole, 1.0)
