"""What a person sees of a training session: a live line on a terminal, a line now and then when piped."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tilewright.errors import FileError
from tilewright.training.ntuple_session import NTupleSession
from tilewright.training.run_folder import EvaluationPoint, StagePoint
from tilewright.training.session import Callback, TrainingSession

__all__ = ["training_progress"]

_BARS = "▁▂▃▄▅▆▇█"
_CURVE_WIDTH = 24
_PLAIN_SECONDS = 10.0


def sparkline(values: list[float], width: int = _CURVE_WIDTH) -> str:
    """A curve in one line of text, from 0 to its largest value: `▁▃▅▆▇█`."""
    if not values:
        return ""
    picked = [values[int(i * (len(values) - 1) / (width - 1))] for i in range(width)] if len(values) > width else values
    top = max(picked) or 1.0
    return "".join(_BARS[min(7, int(8 * max(0.0, value) / top))] for value in picked)


class _Screen(Callback):
    """Shared by both: what is known of the session at the moment."""

    def __init__(self) -> None:
        self.points: list[Any] = []

    def on_point(self, point: Any) -> None:
        self.points.append(point)

    def collecting(self, session: NTupleSession) -> str:
        found, played = len(session.trainer.found.cells), session.progress.collected
        return f"collecting boards for stage {session.progress.stage + 2}: {found:,} in {played:,} games"

    def tell(self, line: str) -> None:
        """Show a line that stays."""

    def on_test(self, point: EvaluationPoint) -> None:
        margin = (point.score_high - point.score_low) / 2
        self.tell(
            f"test after {point.games:,} games: mean {point.score_mean:,.0f} ± {margin:,.0f} in {point.tested} games"
        )

    def on_stage(self, point: StagePoint) -> None:
        self.tell(
            f"stage {point.stage} begins after {point.games:,} games, on {point.boards:,} boards of {point.played:,} "
            f"games; played to their end those scored {point.normalised:,.0f}"
        )

    def on_unsaved(self, problem: FileError) -> None:
        self.tell(f"not saved, learning goes on: {problem}")

    def on_stopping(self) -> None:
        self.tell("stopping after the games under way; what was learned is saved")


class _Plain(_Screen):
    def __init__(self) -> None:
        super().__init__()
        self._told: float | None = None  # when a line was last printed; the first games start the clock

    def on_games(self, session: TrainingSession) -> None:
        self._now_and_then(lambda: f"{100 * session.done:5.1f} %  {session.figures()}")

    def on_collected(self, session: NTupleSession) -> None:
        self._now_and_then(lambda: f"{100 * session.done:5.1f} %  {self.collecting(session)}")

    def _now_and_then(self, line: Callable[[], str]) -> None:
        now = time.monotonic()
        if self._told is None:
            self._told = now
        if now - self._told >= _PLAIN_SECONDS:
            self._told = now
            self.tell(line())

    def tell(self, line: str) -> None:
        sys.stderr.write(f"{line}\n")  # at once: a signal may come with a line of its own
        sys.stderr.flush()


class _Live(_Screen):
    """A bar with the curve so far, the figures and the time left."""

    def __init__(self, progress: Any, task: Any) -> None:
        super().__init__()
        self._progress, self._task = progress, task

    def on_games(self, session: TrainingSession) -> None:
        curve = sparkline([point.score_mean for point in self.points])
        self._progress.update(self._task, completed=session.done, figures=session.figures(), curve=curve)

    def on_collected(self, session: NTupleSession) -> None:
        self._progress.update(self._task, completed=session.done, figures=self.collecting(session), curve="")

    def tell(self, line: str) -> None:
        self._progress.console.print(line)


@contextmanager
def training_progress(label: str) -> Iterator[Callback]:
    """A watcher for a session: a live bar on a terminal, plain lines elsewhere."""
    if not sys.stderr.isatty():
        yield _Plain()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[curve]}", style="blue"),
        TextColumn("{task.fields[figures]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(label, total=1.0, figures="", curve="")
        yield _Live(progress, task)
