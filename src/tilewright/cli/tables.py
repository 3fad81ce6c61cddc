"""`tilewright tables`: what a table of exact values has, practice positions, and distilling it."""

from pathlib import Path

import click

from tilewright._core.outputs import check_output
from tilewright.cli import output
from tilewright.cli.options import json_option, seed_option, threads_option
from tilewright.errors import UsageError
from tilewright.exact.estimate import describe_size
from tilewright.exact.lookup_time import time_lookups
from tilewright.exact.practice import practice_positions
from tilewright.exact.table import TABLE, ExactTable, load_table

__all__ = ["tables"]


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--practice", type=click.IntRange(1), metavar="COUNT", help="Print boards to practise on.")
@click.option(
    "--loss",
    type=float,
    nargs=2,
    default=(0.02, 0.1),
    show_default=True,
    metavar="FROM TO",
    help="With --practice: the loss of the second best move, in the unit of the table; a small loss is difficult.",
)
@click.option(
    "--value",
    type=float,
    nargs=2,
    default=(0.0, float("inf")),
    metavar="FROM TO",
    help="With --practice: the value of the best move.  [default: any]",
)
@click.option("--time", "with_time", is_flag=True, help="Measure how long a look-up takes in a kernel.")
@click.option(
    "--distil",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the boards that players meet most to FILE, a table of a few bytes per board.",
)
@click.option("--boards", default=500_000, show_default=True, help="With --distil: the largest number of boards.")
@click.option("--games", default=1_000, show_default=True, help="With --distil: the number of games to play.")
@click.option(
    "--agent", default="ntuple", show_default=True, metavar="SPEC", help="With --distil: the agent that plays them."
)
@seed_option
@threads_option
@json_option
def tables(
    table: Path,
    practice: int | None,
    loss: tuple[float, float],
    value: tuple[float, float],
    with_time: bool,
    distil: Path | None,
    boards: int,
    games: int,
    agent: str,
    seed: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Describe TABLE, a file that `solve` wrote; draw practice positions from it, or distil it.

    In a practice position, the second best move has the loss that --loss gives: the smaller the loss, the more
    difficult the board.

    A distilled table has the boards of an endgame that an agent's games meet most, with probabilities of 16 bits.
    Agents use it like any other table (`ntuple:endgames=FILE`), and play boards that it lacks as without a table.

    \b
    Examples:
      tilewright tables L3-256.table
      tilewright tables L3-256.table --time
      tilewright tables L3-256.table --practice 10 --loss 0.02 0.1
      tilewright tables L3-256.table --distil small.table --boards 500000 --games 10000
    """
    if practice is not None and distil is not None:
        raise UsageError("--practice and --distil exclude each other")
    if distil is not None:
        check_output(distil, TABLE, inputs=[table])
    found = load_table(table)
    output.announce_compilation()
    if practice is not None:
        _print_practice(found, practice, loss, value, seed, as_json)
    elif distil is not None:
        _distil(found, distil, boards, games, agent, seed, threads, as_json)
    else:
        _describe(found, time_lookups(found, seed=seed) if with_time else None, as_json)


def _describe(table: ExactTable, nanoseconds: float | None, as_json: bool) -> None:
    facts = table.to_dict() | ({} if nanoseconds is None else {"lookup_nanoseconds": nanoseconds})
    if as_json:
        output.print_json(facts)
        return
    print(f"{table.path}: {table.problem.title}, {table.unit}{', distilled' if table.is_distilled else ''}")
    rows = [
        ("value of a game", f"{table.value:,.6f}" if table.problem.is_score else f"{table.value:.12g}"),
        ("canonical states", f"{table.canonical_states:,}"),
        ("afterstates in the table", f"{len(table.keys):,}"),
        ("layers", f"{len(table.layer_sizes):,}"),
        ("size", f"{describe_size(table.bytes)}, {table.bytes / len(table.keys):.1f} bytes an afterstate"),
        ("solved in", f"{table.seconds:.1f} s"),
    ]
    if nanoseconds is not None:
        rows.append(("look-up from a kernel", f"{nanoseconds:,.0f} ns"))
    output.print_table(("table", "value"), rows)


def _print_practice(
    table: ExactTable,
    count: int,
    loss: tuple[float, float],
    value: tuple[float, float],
    seed: int,
    as_json: bool,
) -> None:
    boards = practice_positions(table, count, loss=loss, value=value, seed=seed)
    found = [{"board": table.game.text(board), "values": table.values(board)} for board in boards]
    if as_json:
        output.print_json(found)
        return
    for board in boards:
        values = sorted(table.values(board).items(), key=lambda item: -item[1])
        print(f"{table.game.text(board)}   {'  '.join(f'{move} {p:.4g}' for move, p in values)}")
    if len(boards) < count:
        print(f"{len(boards)} of {count} boards found; allow more with --loss or --value")


def _distil(
    table: ExactTable,
    out: Path,
    boards: int,
    games: int,
    agent: str,
    seed: int,
    threads: int | None,
    as_json: bool,
) -> None:
    from tilewright.play.distil import distil

    with output.progress_bar("games", games) as progress:
        made = distil(table, agent, boards=boards, games=games, seed=seed, threads=threads, progress=progress)
    saved = made.table.save(out)
    if as_json:
        facts = {"visited": made.visited, "visited_afterstates": made.afterstates, "coverage": made.coverage}
        output.print_json(saved.to_dict() | facts)
        return
    print(f"{out}: {table.problem.title}, distilled")
    rows = [
        ("boards of the table in the games", f"{made.visited:,}"),
        ("different afterstates of their moves", f"{made.afterstates:,}"),
        ("afterstates kept", f"{len(saved.keys):,}"),
        ("boards of other games covered", f"{100 * made.coverage:.1f} %"),
        ("size", f"{describe_size(saved.bytes)}, {saved.bytes / len(saved.keys):.1f} bytes an afterstate"),
    ]
    output.print_table(("distilled", "value"), rows)
