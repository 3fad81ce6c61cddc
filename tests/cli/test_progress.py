"""The progress of a suite: a line for every job when piped, bars on a terminal."""

import pytest

from tests.training.sessions import tiny
from tilewright._core.progress import Display, Task
from tilewright.cli.progress import _SuiteProgress, suite_progress
from tilewright.reproduce.jobs import Job, TrainingJob

JOBS: list[Job] = [TrainingJob(tiny(seed=seed), label=f"job {seed}") for seed in range(3)]


class Memory(Display):
    """Remembers the bars that are there."""

    def __init__(self) -> None:
        super().__init__()
        self.bars: dict[str, tuple[str, float]] = {}

    def _show(self, task: Task, at_once: bool) -> None:
        self.bars[task.name] = (task.label, task.done)

    def _remove(self, name: str) -> None:
        self.bars.pop(name, None)

    def _say(self, line: str) -> None:
        raise AssertionError("bars say it all")


def test_every_finished_job_is_a_line_when_piped(capsys: pytest.CaptureFixture[str]) -> None:
    with suite_progress() as callback:
        callback.on_plan(JOBS, JOBS[1:])
        callback.on_progress(JOBS[1], 0.5)
        callback.on_progress(JOBS[1], 1.0)
        callback.on_progress(JOBS[2], 1.0)
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "3 jobs, 1 finished before\n1 of 2: job 1\n2 of 2: job 2\n"


def test_a_terminal_has_a_bar_for_the_whole_and_for_each_running_job() -> None:
    memory = Memory()
    callback = _SuiteProgress(memory)
    callback.on_plan(JOBS, JOBS)
    callback.on_progress(JOBS[0], 0.25)
    callback.on_progress(JOBS[1], 0.5)
    assert list(memory.bars.values()) == [("3 of 3 jobs", 0.0), ("  job 0", 0.25), ("  job 1", 0.5)]
    callback.on_progress(JOBS[0], 1.0)
    assert list(memory.bars.values()) == [("3 of 3 jobs", 1 / 3), ("  job 1", 0.5)]
