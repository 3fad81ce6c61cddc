"""`tilewright solve`: exact values of a small game, as a table."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from tilewright._core.parallel import default_threads
from tilewright._core.progress import Task, open_display
from tilewright.cli import output
from tilewright.cli.options import json_option, threads_option
from tilewright.exact.estimate import Estimate, describe_count, describe_size, estimate
from tilewright.exact.problem import Problem
from tilewright.exact.solve import Progress, ProgressFunction, make_problem, solve_problem
from tilewright.exact.table import ExactTable

__all__ = ["solve_command"]

_PLAIN_SECONDS = 30.0


@click.command("solve")
@click.argument("game")
@click.option("--goal", type=int, metavar="TILE", help="Solve for the probability of making TILE, not for the score.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write the table of exact values to FILE.")
@click.option("--estimate", "only_estimate", is_flag=True, help="Print what it would take, and stop.")
@threads_option
@json_option
def solve_command(
    game: str, goal: int | None, out: Path | None, only_estimate: bool, threads: int | None, as_json: bool
) -> None:
    """Solve GAME exactly: the value of perfect play, and with --out a table of all values.

    GAME is 2048 on a small board, as `2048:rows=3,columns=3`, or an endgame, as `endgame:L3-256`. Options of
    the game may follow the tile, as in `endgame:e000-512,rows=3`.
    Without --goal, the value of a small board is the expected score of perfect play; with it, the probability that
    perfect play makes the tile. It is the expectation over all first boards.

    Finished layers are kept in FILE.work until FILE is written, so that the same command continues after an
    interruption. The agent `exact:table=FILE` plays by the table.

    \b
    Examples:
      tilewright solve 2048:rows=2,columns=3
      tilewright solve 2048:rows=3,columns=3 --goal 512 --json
      tilewright solve 2048:rows=3,columns=3 --out 3x3.table
      tilewright evaluate exact:table=3x3.table --game 2048:rows=3,columns=3
      tilewright solve 2048:rows=3,columns=4 --goal 128 --estimate
      tilewright solve endgame:L3-256 --estimate
    """
    output.announce_compilation()
    problem = make_problem(game, goal)
    if only_estimate:
        _print_estimate(problem, estimate(problem, threads or default_threads()), as_json)
        return
    with _shown_progress(problem) as progress:
        table = solve_problem(problem, out=out, threads=threads, progress=progress)
    _print_table(table, as_json)


@contextmanager
def _shown_progress(problem: Problem) -> Iterator[ProgressFunction]:
    with open_display(_PLAIN_SECONDS, keep=False) as display:

        def show(progress: Progress) -> None:
            verb, about = ("found", "about ") if progress.is_counting else ("solved", "")
            count = f"{verb} {progress.states:,} of {about}{progress.total:,} states"
            left = progress.seconds * (1 - progress.done) / max(progress.done, 1e-9)
            line = f"{problem.title}: {count}, {100 * progress.done:.0f} %, about {left:,.0f} s left"
            display.show(Task(problem.title, progress.done, line, label=problem.title, status=count))

        yield show


def _print_estimate(problem: Problem, needs: Estimate, as_json: bool) -> None:
    if as_json:
        output.print_json(needs.to_dict())
        return
    print(f"{problem.title}: {problem.unit}")
    rows = [
        ("canonical states", f"about {describe_count(needs.canonical_states)}"),
        ("memory, with a file", describe_size(needs.memory)),
        ("memory, without", describe_size(needs.memory_without_file)),
        ("disk", describe_size(needs.disk)),
        ("table", describe_size(needs.table)),
        ("time", f"{needs.seconds:,.0f} s"),
    ]
    output.print_table(("estimate", ">"), rows)


def _print_table(table: ExactTable, as_json: bool) -> None:
    if as_json:
        output.print_json(table.to_dict())
        return
    problem = table.problem
    value = f"{table.value:,.6f}" if problem.is_score else f"{table.value:.12g}"
    print(f"{problem.title}: solved exactly")
    rows = [
        ("expected score" if problem.is_score else problem.unit, value),
        ("states", f"{table.states:,}"),
        ("canonical states", f"{table.canonical_states:,}"),
        ("with a legal move", f"{table.live_states:,}"),
        ("time", f"{table.seconds:.1f} s"),
        ("table", describe_size(table.bytes) + (f" in {table.path}" if table.path else "")),
    ]
    output.print_table(("result", "value"), rows)
    sys.stdout.flush()
