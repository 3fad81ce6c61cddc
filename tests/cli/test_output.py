"""Numbers as text, and tables: plain when piped, drawn on a terminal."""

import os
import pty
import re

import pytest

from tests.process import HANG_SECONDS, start_tilewright
from tilewright import GAMES
from tilewright.cli import output
from tilewright.cli.output import percent, percent_interval, print_table, with_margin
from tilewright.play.statistics import Estimate


def test_estimates_are_formatted() -> None:
    assert with_margin(Estimate(1094.83, 1091.5, 1098.1), 1) == "1,094.8 ± 3.3"
    assert with_margin(Estimate(1094.83, None, None)) == "1,095"
    assert percent(Estimate(0.9284, 0.926, 0.93)) == "92.8 %"
    assert percent_interval(Estimate(0.9284, 0.926, 0.93)) == "92.6 – 93.0"
    assert percent_interval(Estimate(0.9284, None, None)) == ""


def test_a_piped_table_is_plain_aligned_lines(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", ">size"), [("one", "1"), ("eleven", "11,111")], title="things")
    assert capsys.readouterr().out == "things\nname      size\none          1\neleven  11,111\n"


def test_a_table_without_rows_is_its_heading(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", ">size"), [])
    assert capsys.readouterr().out == "name  size\n"


def test_a_terminal_gets_a_drawn_table_with_the_same_cells() -> None:
    terminal, its_end = pty.openpty()
    process = start_tilewright("games", changes={"TERM": "xterm", "COLUMNS": "120"}, stdout=its_end)
    os.close(its_end)
    seen = b""
    try:
        while piece := os.read(terminal, 4096):
            seen += piece
    except OSError:  # Linux's way to say that the other end is closed
        pass
    os.close(terminal)
    _, errors = process.communicate(timeout=HANG_SECONDS)
    assert (process.returncode, errors) == (0, "")
    drawn = seen.decode()
    assert "──────" in drawn
    for name in GAMES:
        assert name in drawn
        assert GAMES.entries[name].summary in drawn


def test_piped_progress_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "_PLAIN_SECONDS", 0.0)
    with output.progress_bar("greedy on 2048", 2000) as advance:
        for _ in range(2):
            advance(1000)
    with output.progress_bar("bytes", None) as advance:
        advance(4096)
    lines = [re.sub(r"about [\d,]+ s", "about N s", line) for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        "greedy on 2048: 0 of 2,000",
        *(f"greedy on 2048: {done} of 2,000, about N s left" for done in ("1,000", "2,000")),
        "bytes: 0",
        "bytes: 4,096",
    ]
