"""The progress of a training session for people: a bar with the learning curve, or a line now and then."""

from collections.abc import Iterator
from contextlib import contextmanager

from tilewright._core.progress import Display, Task, open_display
from tilewright.errors import FileError
from tilewright.training.callbacks import Callback
from tilewright.training.ntuple_session import NTupleSession
from tilewright.training.run_folder import EvaluationPoint, StagePoint
from tilewright.training.session import TrainingSession

__all__ = ["ProgressBarCallback", "show_progress", "sparkline"]

_BARS = "▁▂▃▄▅▆▇█"
_CURVE_WIDTH = 24
_PLAIN_SECONDS = 10.0


def sparkline(values: list[float], width: int = _CURVE_WIDTH) -> str:
    """A curve in one line of text, from 0 to its largest value.

    >>> sparkline([1, 2, 4, 8])
    '▂▃▅█'
    """
    if not values:
        return ""
    picked = [values[int(i * (len(values) - 1) / (width - 1))] for i in range(width)] if len(values) > width else values
    top = max(picked) or 1.0
    return "".join(_BARS[min(7, int(8 * max(0.0, value) / top))] for value in picked)


class ProgressBarCallback(Callback):
    """Shows a session in a display; `show_progress` opens a fitting one."""

    def __init__(self, display: Display, label: str) -> None:
        self._display, self._label = display, label
        self._failures: set[str] = set()

    def on_games_end(self, session: TrainingSession) -> None:
        """Show status and learning curve."""
        self._show(session, session.status(), sparkline([point.score_mean for point in session.points]))

    def on_starts_collected(self, session: TrainingSession) -> None:
        """Show how many start boards there are."""
        if isinstance(session, NTupleSession):
            boards, progress = len(session.trainer.found.cells), session.progress
            text = f"{boards:,} boards in {progress.collect_games:,} games"
            self._show(session, f"collecting start boards for stage {progress.stage + 2}: {text}", "")

    def _show(self, session: TrainingSession, status: str, curve: str) -> None:
        line = f"{100 * session.done:5.1f} %  {status}"
        self._display.show(Task(self._label, session.done, line, self._label, status, curve))

    def on_evaluation(self, session: TrainingSession, point: EvaluationPoint) -> None:
        """Say the result."""
        margin = (point.score_high - point.score_low) / 2
        self._display.say(
            f"evaluation after {point.games:,} games: mean {point.score_mean:,.0f} ± {margin:,.0f} "
            f"in {point.evaluate_games:,} games"
        )

    def on_stage_start(self, session: TrainingSession, point: StagePoint) -> None:
        """Say that a stage starts."""
        self._display.say(
            f"stage {point.stage} starts after {point.games:,} games, from {point.start_boards:,} boards of "
            f"{point.collect_games:,} games; the previous stage scored {point.baseline_score:,.0f} from there"
        )

    def on_save_failed(self, session: TrainingSession, error: FileError) -> None:
        """Say why something is not saved, once for each reason."""
        if str(error) not in self._failures:
            self._failures.add(str(error))
            self._display.say(f"not saved, will be tried again: {error}")

    def on_save_recovered(self, session: TrainingSession) -> None:
        """Say that everything is saved again."""
        self._failures.clear()
        self._display.say("saved again: nothing is missing")

    def on_stop_requested(self, session: TrainingSession) -> None:
        """Say that the session stops."""
        self._display.say("stopping after the current games, to save everything")


@contextmanager
def show_progress(label: str) -> Iterator[ProgressBarCallback]:
    """A callback that shows a session until the block ends: bars in terminals and notebooks, plain lines elsewhere."""
    with open_display(_PLAIN_SECONDS) as display:
        yield ProgressBarCallback(display, label)
