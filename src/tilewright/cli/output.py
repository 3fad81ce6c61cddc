"""The output of commands: tables and progress bars on a terminal, plain aligned lines when piped."""

import functools
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from tilewright._core.progress import Task, open_display
from tilewright.agents.base import Unit
from tilewright.play.statistics import Estimate

__all__ = [
    "announce_compilation",
    "percent",
    "percent_interval",
    "print_json",
    "print_table",
    "progress_bar",
    "value_text",
    "with_margin",
]

_PLAIN_SECONDS = 30.0  # between two lines where there is no bar


def print_json(value: object) -> None:
    """Print a value as indented JSON."""
    print(json.dumps(value, indent=2))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """Print a table: drawn on a terminal, as aligned lines when piped.

    Args:
        columns: The names of the columns; a name that begins with `>` aligns its column to the right.
        rows: The cells, row by row.
        title: A line above the table.
    """
    names = [column.lstrip(">") for column in columns]
    right = [column.startswith(">") for column in columns]
    if sys.stdout.isatty():
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table

        table = Table(title=title or None, title_justify="left", box=SIMPLE_HEAD)
        for name, is_right in zip(names, right, strict=True):
            table.add_column(name, justify="right" if is_right else "left")
        for row in rows:
            table.add_row(*row)
        Console().print(table)
        return
    if title:
        print(title)
    widths = [max(len(cell) for cell in column) for column in zip(names, *rows, strict=True)]
    for row in (names, *rows):
        cells = (
            f"{cell:>{width}}" if is_right else f"{cell:<{width}}"
            for cell, width, is_right in zip(row, widths, right, strict=True)
        )
        print("  ".join(cells).rstrip())


def with_margin(estimate: Estimate, digits: int = 0) -> str:
    """Format an estimate with its margin: `1,094.8 ± 3.3`."""
    margin = "" if estimate.margin is None else f" ± {estimate.margin:,.{digits}f}"
    return f"{estimate.value:,.{digits}f}{margin}"


def value_text(value: float, unit: Unit) -> str:
    """Format the value of a move: `1,094.8`, or a probability with eight digits."""
    return f"{value:.8f}" if unit == "probability" else f"{value:,.1f}"


def value_heading(unit: Unit) -> str:
    """Return the heading of a column of values."""
    return ">probability" if unit == "probability" else ">value"


def percent(rate: Estimate) -> str:
    """Format a rate: `92.8 %`."""
    return f"{100 * rate.value:.1f} %"


def percent_interval(rate: Estimate) -> str:
    """Format the interval of a rate: `92.6 – 93.0`."""
    return "" if rate.low is None or rate.high is None else f"{100 * rate.low:.1f} – {100 * rate.high:.1f}"


@contextmanager
def progress_bar(label: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show for the time of a block how many steps are done: a bar on a terminal, a line now and then elsewhere.

    Args:
        label: The text beside the bar.
        total: The number of steps; None if nobody knows it.

    Yields:
        A function to call with the number of steps finished since its last call, from any thread.
    """
    counting, began, finished = threading.Lock(), time.monotonic(), 0

    with open_display(_PLAIN_SECONDS, keep=False) as display:

        def advance(steps: int) -> None:
            nonlocal finished
            with counting:
                finished += steps
                done, status, left = 0.0, f"{finished:,}", ""
                if total:
                    done, status = min(finished / total, 1.0), f"{finished:,} of {total:,}"
                if done:
                    left = f", about {(time.monotonic() - began) * (1 / done - 1):,.0f} s left"
                display.show(Task(label, done, f"{label}: {status}{left}", label, status))

        advance(0)
        yield advance


@functools.cache
def announce_compilation() -> None:
    """Print a notice when the first kernel is compiled, because that can take some seconds."""
    from numba.core import event

    from tilewright._core.jit import cache_folder

    folder = cache_folder()
    kept = f"the next start loads them from {folder.parent}" if folder else "they are not kept; see TILEWRIGHT_CACHE"

    class Listener(event.Listener):  # type: ignore[misc]  # numba is not typed
        printed = threading.Event()

        def on_start(self, _: event.Event) -> None:
            if not self.printed.is_set():
                self.printed.set()
                with suppress(OSError, ValueError):  # nobody may be there to read it
                    print(f"compiling kernels… (once; {kept})", file=sys.stderr)

        def on_end(self, _: event.Event) -> None:
            pass

    event.register("numba:compile", Listener())
