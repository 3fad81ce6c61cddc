"""The progress of a suite of jobs: a bar for the whole and one for each running job, or plain lines."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tilewright._core.progress import Display, Task, open_display
from tilewright.reproduce.jobs import Job
from tilewright.reproduce.suite import SuiteCallback

__all__ = ["suite_progress"]

_PLAIN_SECONDS = 60.0


class _SuiteProgress(SuiteCallback):
    def __init__(self, display: Display) -> None:
        self._display = display
        self._finished, self._missing, self._label = 0, 0, ""
        self._lock = threading.Lock()

    def on_plan(self, jobs: Sequence[Job], missing: Sequence[Job]) -> None:
        self._finished, self._missing, self._label = 0, len(missing), f"{len(missing):,} of {len(jobs):,} jobs"
        self._show_whole(f"{len(jobs):,} jobs, {len(jobs) - len(missing):,} finished before")

    def on_progress(self, job: Job, done: float) -> None:
        with self._lock:
            self._finished += done == 1
        line = f"{self._finished:,} of {self._missing:,}: {job.label}"
        if done == 1:
            self._display.remove(job.key)
            self._show_whole(line)
        else:
            self._display.show(Task(job.key, done, f"{line}, {done:.1%} of it", label=f"  {job.label}"))

    def _show_whole(self, line: str) -> None:
        done = self._finished / max(1, self._missing)
        self._display.show(Task("", done, line, label=self._label), at_once=True)


@contextmanager
def suite_progress() -> Iterator[SuiteCallback]:
    """A callback that shows a suite until the block ends."""
    with open_display(_PLAIN_SECONDS, keep=False) as display:
        yield _SuiteProgress(display)
