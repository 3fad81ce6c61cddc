"""`tilewright evaluate`: play many games, and report scores, rates and speed."""

import sys
from pathlib import Path

import click

from tilewright._core.outputs import check_different, check_output
from tilewright._core.plots import PNG, new_figure, save_png
from tilewright._core.tables import check_table_output
from tilewright._core.text import readable
from tilewright.agents import make_agent
from tilewright.cli import output
from tilewright.cli.options import (
    chosen_cluster,
    engine_options,
    files_of,
    force_option,
    game_option,
    games_option,
    json_option,
    seed_option,
    threads_option,
)
from tilewright.cli.terminal import stopping_on_signals
from tilewright.errors import FileError, TilewrightError, UsageError
from tilewright.exact.table import ExactTable, load_table
from tilewright.games import make_game
from tilewright.play.evaluate import Evaluation, evaluate
from tilewright.play.exactly import ExactEvaluation, evaluate_exactly, percent_of_perfect
from tilewright.play.recording import RECORDING

__all__ = ["evaluate_command"]


@click.command("evaluate")
@click.argument("agent")
@game_option
@games_option(1000)
@seed_option
@threads_option
@click.option(
    "--record", type=click.Path(path_type=Path), metavar="FILE", help="Write the games, move by move, to FILE."
)
@click.option(
    "--csv",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write one row per game to FILE; .parquet for Parquet.",
)
@click.option("--plot", type=click.Path(path_type=Path), metavar="PNG", help="Draw the largest tiles of the games.")
@click.option("--exact", is_flag=True, help="Compute the exact results, on a small board, instead of playing games.")
@click.option(
    "--perfect",
    type=click.Path(path_type=Path),
    metavar="TABLE",
    help="Compare with perfect play (`tilewright solve`).",
)
@force_option
@engine_options
@json_option
def evaluate_command(
    agent: str,
    game: str,
    games: int,
    seed: int,
    threads: int | None,
    record: Path | None,
    csv: Path | None,
    plot: Path | None,
    exact: bool,
    perfect: Path | None,
    force: bool,
    engine: str,
    address: str | None,
    as_json: bool,
) -> None:
    """Play many games with AGENT, and report the results with 95 % confidence intervals.

    AGENT is a spec: a name from `tilewright agents` with options, or your own class in the current folder. Ctrl-C
    reports the games finished so far. `tilewright review` reads the file of --record. The file of --csv has the columns
    number, seed, score, moves, largest_tile and won.

    --perfect TABLE gives the results in per cent of perfect play. --exact needs no games: it visits every board that
    the agent reaches. It works for agents that draw no random numbers, on boards up to 3x3 or so.

    \b
    Examples:
      tilewright evaluate random --games 100000
      tilewright evaluate greedy --game threes --seed 7 --json
      tilewright evaluate expectimax:depth=2 --games 50 --csv games.csv --plot tiles.png
      tilewright evaluate my_module:MyAgent,weight=2 --games 100
      tilewright evaluate greedy --games 100 --record games.jsonl
      tilewright evaluate heuristic:depth=2 --game 2048:rows=2,columns=3 --exact --perfect 2x3.table
      tilewright evaluate random --games 1000000 --engine ray --address auto
    """
    output.announce_compilation()
    player, played = make_agent(agent), make_game(game)
    table = None if perfect is None else load_table(perfect)
    if table is not None:
        table.check_plays(played)
    if exact:
        if record is not None or csv is not None or plot is not None or engine != "local":
            raise UsageError("--exact plays no games: it allows only --game, --threads, --perfect and --json")
        with output.progress_bar(f"boards of {player.spec} on {played.spec}", None) as visited:
            found = evaluate_exactly(player, played, threads=threads, progress=visited)
        _report_exactly(found, table, as_json)
        return
    _check_outputs(record, csv, plot, files_of(player), force)
    try:
        with (
            stopping_on_signals(),
            chosen_cluster(engine, address, threads) as cluster,
            output.progress_bar(f"{player.spec} on {played.spec}", games) as progress,
        ):
            result = evaluate(
                player,
                played,
                games=games,
                seed=seed,
                threads=threads,
                progress=progress,
                record=record,
                force=force,
                cluster=cluster,
            )
    except (FileError, KeyboardInterrupt) as stop:
        partial: Evaluation | None = getattr(stop, "partial", None)
        if partial is None:
            raise
        _finish(partial, table, csv, plot, force, as_json)
        if isinstance(stop, FileError):
            raise
        raise TilewrightError(f"stopped after {partial.games:,} of {games:,} games") from None
    _finish(result, table, csv, plot, force, as_json)


def _check_outputs(record: Path | None, csv: Path | None, plot: Path | None, inputs: list[Path], force: bool) -> None:
    """Raise an error, before any game is played, if a file must not be written."""
    check_different(record, csv, plot)
    if record is not None:
        check_output(record, RECORDING, inputs=inputs, force=force)
    if csv is not None:
        check_table_output(csv, inputs=inputs, force=force)
    if plot is not None:
        check_output(plot, PNG, inputs=inputs, force=force)


def _finish(
    result: Evaluation, table: ExactTable | None, csv: Path | None, plot: Path | None, force: bool, as_json: bool
) -> None:
    """Print the results, then write the files: neither a full disk nor output that nobody takes loses the other."""
    try:
        _report(result, table, as_json)
    finally:
        _write(result, csv, plot, force)


def _write(result: Evaluation, csv: Path | None, plot: Path | None, force: bool) -> None:
    if csv is not None:
        result.to_csv(csv, force=force)
    if plot is not None:
        figure = new_figure(8.0, 3.4)
        axes = result.plot(figure.add_subplot())
        title = f"{readable(result.agent)} on {result.game.spec}: {result.games:,} games"
        axes.set_title(title, fontsize=10, loc="left")
        save_png(figure, plot, force=force)


def _perfect_facts(result: Evaluation | ExactEvaluation, table: ExactTable | None) -> dict[str, object]:
    if table is None:
        return {}
    percent = percent_of_perfect(result, table)
    facts = {"value": table.value, "unit": table.unit, "percent": percent.value, "ci95": percent.interval}
    return {"perfect": facts}


def _perfect_rows(result: Evaluation | ExactEvaluation, table: ExactTable | None) -> list[tuple[str, str]]:
    if table is None:
        return []
    value = f"{table.value:,.4f}" if table.problem.is_score else f"{100 * table.value:.6f} %"
    what = "score" if table.problem.is_score else f"reaching {table.problem.goal}"
    percent = output.with_margin(percent_of_perfect(result, table), 4 if isinstance(result, ExactEvaluation) else 2)
    return [(f"perfect play, {what}", value), ("per cent of perfect", percent)]


def _report_exactly(result: ExactEvaluation, table: ExactTable | None, as_json: bool) -> None:
    if as_json:
        output.print_json(result.to_dict() | _perfect_facts(result, table))
        return
    print(f"{result.agent} on {result.game.spec}: exact, no games played")
    rows = [
        ("score, expected", f"{result.score:,.4f}"),
        ("moves, expected", f"{result.moves:,.2f}"),
        *_perfect_rows(result, table),
        ("boards", f"{result.states:,} in {result.seconds:.2f} s"),
    ]
    output.print_table(("result", "value"), rows)
    print()
    reach = [(f"{tile}", f"{100 * probability:.6f} %") for tile, probability in result.reach.items()]
    output.print_table((">tile", ">probability"), reach)
    sys.stdout.flush()


def _report(result: Evaluation, table: ExactTable | None, as_json: bool) -> None:
    facts = result.summary()
    if as_json:
        output.print_json({**facts, **_perfect_facts(result, table)})
        return
    print(
        f"{result.agent} on {result.game.spec}: {result.games:,} games, seed {result.seed}, "
        f"{result.threads} thread{'s' if result.threads > 1 else ''}"
    )
    rows = [
        ("score, mean", output.with_margin(result.score, 1)),
        ("score, median", f"{facts['score']['median']:,.0f}"),
        ("score, max", f"{facts['score']['max']:,}"),
    ]
    if result.max100 is not None:
        rows.append(("max100", output.with_margin(result.max100)))
    if result.win_rate is not None:
        interval = output.percent_interval(result.win_rate)
        rows.append(("wins", f"{output.percent(result.win_rate)} ({interval})"))
    rows += _perfect_rows(result, table)
    rows.append(("speed", f"{result.moves_per_second:,.0f} moves/s ({facts['moves']:,} in {result.seconds:.2f} s)"))
    output.print_table(("result", "value"), rows)
    print()
    reach = [(f"{tile}", output.percent(rate), output.percent_interval(rate)) for tile, rate in result.reach.items()]
    output.print_table((">tile", ">reached", ">95 % interval"), reach)
    sys.stdout.flush()
