"""Progress displays: lines when piped, bars on a terminal, HTML in a notebook."""

import io
import itertools
import sys
from types import ModuleType, SimpleNamespace

import pytest
from rich.console import Console
from rich.progress import Progress, TextColumn

from tilewright._core.progress import NotebookDisplay, PlainDisplay, Task, TerminalDisplay, open_display


def task(done: float, name: str = "one") -> Task:
    return Task(name, done, f"{name} is at {done:.0%}", label=f"task {name}", status=f"<{done}>", curve="▁█")


def test_a_plain_display_prints_a_line_when_some_seconds_have_passed(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([0, 3, 9, 10, 10, 12, 20, 20, 25, 30, 30])  # printing reads the clock as well
    display = PlainDisplay(10, clock=lambda: next(times))
    for number in range(1, 7):
        display.show(task(number / 10))  # at 0, 3, 9, 10, 12 and 20
    display.show(task(0.7))  # at 25
    display.show(task(0.8))  # at 30
    assert capsys.readouterr().err == "one is at 40%\none is at 60%\none is at 80%\n"


def test_a_plain_display_prints_at_once_what_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    display = PlainDisplay(1e9)
    display.say("hello")
    display.show(task(0.5))
    display.show(task(1.0), at_once=True)
    display.remove("one")
    out, err = capsys.readouterr()
    assert (out, err) == ("", "hello\none is at 100%\n")


def test_a_terminal_has_a_bar_for_each_task_until_it_is_removed() -> None:
    console = Console(file=io.StringIO(), width=80)
    columns = [
        TextColumn("{task.description}|{task.percentage:.0f}|{task.fields[curve]}|{task.fields[status]}", markup=False)
    ]
    progress = Progress(*columns, console=console)
    display = TerminalDisplay(progress)
    display.show(task(0.25))
    display.show(task(0.5))
    display.show(task(0.75, "two"))
    assert [(bar.description, bar.completed, bar.fields) for bar in progress.tasks] == [
        ("task one", 0.5, {"status": "<0.5>", "curve": "▁█"}),
        ("task two", 0.75, {"status": "<0.75>", "curve": "▁█"}),
    ]
    display.remove("one")
    display.remove("none")
    assert [bar.description for bar in progress.tasks] == ["task two"]
    display.say("[bold]as it is")
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == "[bold]as it is\n"


def test_a_notebook_has_bars_and_lines_as_html() -> None:
    seen: list[str] = []
    display = NotebookDisplay(seen.append, clock=itertools.count().__next__)
    display.show(task(0.5))
    assert seen[-1] == '<div>task one <progress value="0.5000" max="1"></progress> 50 %&ensp;▁█&ensp;&lt;0.5&gt;</div>'
    display.say("1 < 2")
    assert seen[-1].startswith("<div>1 &lt; 2</div><div>task one ")
    display.remove("one")
    assert seen[-1] == "<div>1 &lt; 2</div>"


def test_a_notebook_is_not_updated_more_often_than_needed() -> None:
    seen: list[str] = []
    display = NotebookDisplay(seen.append, clock=lambda: 7.0)
    for number in range(5):
        display.show(task(number / 10))
    assert len(seen) == 1
    display.show(task(1.0))
    assert len(seen) == 2


def test_where_there_is_no_terminal_lines_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with open_display(0) as display:
        display.show(task(0.5))
    assert isinstance(display, PlainDisplay)
    assert capsys.readouterr().err == "one is at 50%\n"


def test_a_terminal_gets_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with open_display(0, keep=False) as display:
        assert isinstance(display, TerminalDisplay)


def test_the_kernel_of_a_notebook_gets_html(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[object] = []
    ipython, its_display = ModuleType("IPython"), ModuleType("IPython.display")
    vars(ipython)["get_ipython"] = lambda: SimpleNamespace(kernel=object())
    vars(its_display).update(HTML=str, display=lambda text, display_id: SimpleNamespace(update=shown.append))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", its_display)
    with open_display(0) as display:
        display.say("hello")
    assert shown == ["<div>hello</div>"]
