"""What a person sees of a training session: a live line on a terminal, a line now and then when piped."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tilewright.runs import CurvePoint, EvaluationPoint
from tilewright.train import Session, Watcher

__all__ = ["watching"]

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


class _Screen(Watcher):
    """Shared by both: what is known of the session at the moment."""

    def __init__(self) -> None:
        self.points: list[CurvePoint] = []

    def on_point(self, point: CurvePoint) -> None:
        self.points.append(point)

    def figures(self, session: Session) -> str:
        now = session.progress
        text = f"{now.games:,} games  {now.moves / max(now.seconds, 1e-9) / 1e6:.2f} M moves/s"
        if self.points:
            last = self.points[-1]
            text += f"  mean {last.score_mean:,.0f}"
            if session.trainer.game.win_code is not None:
                text += f"  won {100 * last.win_rate:.1f} %"
        return text


class _Plain(_Screen):
    def __init__(self) -> None:
        super().__init__()
        self._told: float | None = None  # when a line was last printed; the first games start the clock

    def on_games(self, session: Session) -> None:
        now = time.monotonic()
        if self._told is None:
            self._told = now
        if now - self._told >= _PLAIN_SECONDS:
            self._told = now
            print(f"{100 * session.done:5.1f} %  {self.figures(session)}", file=sys.stderr, flush=True)

    def on_test(self, point: EvaluationPoint) -> None:
        print(f"test after {point.games:,} games: {_test(point)}", file=sys.stderr, flush=True)

    def on_stopping(self) -> None:
        print("stopping after the games under way; what was learned is saved", file=sys.stderr, flush=True)


class _Live(_Screen):
    """A bar with the curve so far, the figures and the time left."""

    def __init__(self, progress: Any, task: Any) -> None:
        super().__init__()
        self._progress, self._task = progress, task

    def on_games(self, session: Session) -> None:
        curve = sparkline([point.score_mean for point in self.points])
        self._progress.update(self._task, completed=session.done, figures=self.figures(session), curve=curve)

    def on_test(self, point: EvaluationPoint) -> None:
        self._progress.console.print(f"test after {point.games:,} games: {_test(point)}")

    def on_stopping(self) -> None:
        self._progress.console.print("stopping after the games under way; what was learned is saved")


def _test(point: EvaluationPoint) -> str:
    return f"mean {point.score_mean:,.0f} ± {(point.score_high - point.score_low) / 2:,.0f} in {point.tested} games"


@contextmanager
def watching(label: str) -> Iterator[Watcher]:
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
