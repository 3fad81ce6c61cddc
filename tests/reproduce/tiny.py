"""An experiment that takes seconds: a 3x3 board, a network of some thousand weights, stages in turn, and an agent."""

import threading
from collections.abc import Sequence
from pathlib import Path

from tests.training.sessions import tiny
from tilewright.reproduce.experiments import Comparison, Experiment, PaperValue, Row, Scale
from tilewright.reproduce.jobs import Job
from tilewright.reproduce.suite import SuiteCallback

__all__ = ["GAME", "HANG_SECONDS", "QUICK", "InterruptAfter", "RecordingCallback", "tiny_experiment"]

QUICK = Scale("quick", seeds=2, evaluation_games=30, slow_evaluation_games=25)
GAME = "2048:rows=3,columns=3,win_tile=64"
HANG_SECONDS = 1200  # after which a test that waits for an event gives up; no test takes a hundredth of it


def tiny_experiment(folder: Path) -> Experiment:
    """The experiment; its configurations are written to `folder`."""
    plain, staged = folder / "plain.toml", folder / "staged.toml"
    tiny(lambda_=0.0, games=120).save(plain)
    tiny(lambda_=0.0, games=150, stages=("16", "16+8"), start_pool=10).save(staged)
    rows = (
        Row("plain", str(plain), paper={"score": PaperValue(900.0, 100.0), "win": PaperValue(0.5, 0.0)}),
        Row("plain, slow", str(plain), slow=True, paper={"score": PaperValue(50_000.0, 1.0)}),
        Row("staged", str(staged)),
        Row("random", agent="random", game=GAME, series="random", x=1.0, paper={"board-sum": PaperValue(60.0, 0.0)}),
    )
    return Experiment(
        "tiny-2026",
        "Tiny 2026",
        "table-1",
        "Table 1",
        "A text & a half.",
        columns=("win", "score", "max", "board-sum", "reach-32"),
        figures=("curve-score", "curve-win", "reach-list"),
        rows=rows,
        scales={"quick": QUICK, "standard": QUICK, "full": QUICK},
        paper_games=100,
        link="https://example.org/tiny",
        claim="Training beats random moves.",
        comparisons=(Comparison("plain", "random"),),
    )


class RecordingCallback(SuiteCallback):
    """Keeps what happens, and tells when all of some jobs are finished."""

    def __init__(self, awaited: set[str] | None = None) -> None:
        self.planned: list[str] = []
        self.missing: list[str] = []
        self.finished: list[str] = []
        self.awaited, self.all_finished = awaited or set(), threading.Event()
        self._lock = threading.Lock()

    def on_plan(self, jobs: Sequence[Job], missing: Sequence[Job]) -> None:
        self.planned, self.missing = [job.key for job in jobs], [job.key for job in missing]

    def on_progress(self, job: Job, done: float) -> None:
        if done == 1:
            with self._lock:
                self.finished.append(job.key)
                if self.awaited <= set(self.finished):
                    self.all_finished.set()


class InterruptAfter(SuiteCallback):
    """Ctrl-C after a number of signs of progress."""

    def __init__(self, signs: int) -> None:
        self.left = signs
        self._lock = threading.Lock()

    def on_progress(self, job: Job, done: float) -> None:
        with self._lock:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
