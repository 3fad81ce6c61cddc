"""Progress of long tasks: bars on a terminal and in a notebook, a plain line now and then elsewhere."""

import html
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["Display", "NotebookDisplay", "PlainDisplay", "Task", "TerminalDisplay", "open_display"]

_NOTEBOOK_SECONDS = 0.2  # between two updates of a notebook's output


@dataclass(frozen=True)
class Task:
    """A task as it is now.

    Attributes:
        name: Identifies the task.
        done: How much of it is done, from 0 to 1.
        line: A complete line about the task, for displays that print lines.
        label: A text before the bar.
        status: A text after the bar.
        curve: A small curve after the bar.
    """

    name: str
    done: float
    line: str
    label: str
    status: str = ""
    curve: str = ""


def _whoever_watches() -> AbstractContextManager[None]:
    """Ignore a terminal or a pipe that is closed: work does not end because nobody watches it."""
    return suppress(OSError, ValueError)  # a ValueError says that a stream of Python is closed


class Display(ABC):
    """Shows how much of one or several tasks is done. Its methods may be called from several threads."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal handler may show a line while its thread shows another

    def show(self, task: Task, *, at_once: bool = False) -> None:
        """Show a task; a new name adds one.

        Args:
            task: The task.
            at_once: Whether a display that prints lines now and then prints this one in any case.
        """
        with self._lock, _whoever_watches():
            self._show(task, at_once)

    def remove(self, name: str) -> None:
        """Remove the bar of a task, if it has one."""
        with self._lock, _whoever_watches():
            self._remove(name)

    def say(self, line: str) -> None:
        """Show a line that stays."""
        with self._lock, _whoever_watches():
            self._say(line)

    @abstractmethod
    def _show(self, task: Task, at_once: bool) -> None: ...

    @abstractmethod
    def _remove(self, name: str) -> None: ...

    @abstractmethod
    def _say(self, line: str) -> None: ...


class PlainDisplay(Display):
    """Prints a line to standard error at most every `interval` seconds."""

    def __init__(self, interval: float, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._interval, self._clock = interval, clock
        self._printed_at: float | None = None  # the first task starts the clock

    def _show(self, task: Task, at_once: bool) -> None:
        now = self._clock()
        if self._printed_at is None:
            self._printed_at = now
        if at_once or now - self._printed_at >= self._interval:
            self._say(task.line)

    def _remove(self, name: str) -> None:
        pass

    def _say(self, line: str) -> None:
        self._printed_at = self._clock()
        sys.stderr.write(f"{line}\n")  # one call: a signal handler may print between two
        sys.stderr.flush()


class TerminalDisplay(Display):
    """A bar for each task, with the time left."""

    def __init__(self, progress: "Progress") -> None:
        super().__init__()
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def _show(self, task: Task, at_once: bool) -> None:
        if task.name not in self._tasks:
            self._tasks[task.name] = self._progress.add_task(task.label, total=1.0, status="", curve="")
        self._progress.update(self._tasks[task.name], completed=task.done, status=task.status, curve=task.curve)

    def _remove(self, name: str) -> None:
        if name in self._tasks:
            self._progress.remove_task(self._tasks.pop(name))

    def _say(self, line: str) -> None:
        self._progress.console.print(line, markup=False)


class NotebookDisplay(Display):
    """A bar for each task in the output of a notebook's cell.

    Args:
        update: Called with the HTML of all bars and lines.
    """

    def __init__(self, update: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._update, self._clock, self._updated_at = update, clock, float("-inf")
        self._bars: dict[str, str] = {}
        self._lines: list[str] = []

    def _show(self, task: Task, at_once: bool) -> None:
        bar = f'<progress value="{task.done:.4f}" max="1"></progress>'
        texts = (f"{100 * task.done:.0f} %", task.curve, task.status)
        words = "&ensp;".join(html.escape(text) for text in texts if text)
        self._bars[task.name] = f"<div>{html.escape(task.label)} {bar} {words}</div>"
        if at_once or task.done == 1 or self._clock() - self._updated_at >= _NOTEBOOK_SECONDS:
            self._draw()

    def _remove(self, name: str) -> None:
        self._bars.pop(name, None)
        self._draw()

    def _say(self, line: str) -> None:
        self._lines.append(f"<div>{html.escape(line)}</div>")
        self._draw()

    def _draw(self) -> None:
        self._updated_at = self._clock()
        self._update("".join([*self._lines, *self._bars.values()]))


@contextmanager
def open_display(interval: float, *, keep: bool = True) -> Iterator[Display]:
    """Open the display that fits where the output goes.

    Args:
        interval: Seconds between two lines where there are no bars.
        keep: Whether the bars stay on the terminal at the end.
    """
    if _in_notebook():
        yield NotebookDisplay(_notebook_output())
        return
    if sys.stderr is None or not sys.stderr.isatty():
        yield PlainDisplay(interval)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    columns = (
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
        BarColumn(bar_width=20),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[curve]}", style="blue"),
        TextColumn("{task.fields[status]}"),
    )
    progress = Progress(*columns, console=Console(stderr=True), transient=not keep)
    with _whoever_watches():
        progress.start()
    try:
        yield TerminalDisplay(progress)
    finally:
        with _whoever_watches():
            progress.stop()


def _in_notebook() -> bool:
    """Whether this code runs in the kernel of a notebook, whose output is HTML."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


def _notebook_output() -> Callable[[str], None]:
    from IPython.display import HTML, display

    handle: _Handle = display(HTML(""), display_id=True)
    return lambda text: handle.update(HTML(text))


class _Handle(Protocol):
    """IPython's handle of an output that can be replaced."""

    def update(self, content: object) -> None: ...
