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
from tilewright.errors import FileError, TilewrightError
from tilewright.games import make_game
from tilewright.play.evaluate import Evaluation, evaluate
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
    force: bool,
    engine: str,
    address: str | None,
    as_json: bool,
) -> None:
    """Play many games with AGENT, and report the results with 95 % confidence intervals.

    AGENT is a spec: a name from `tilewright agents` with options, or a class of your own in the current folder. Ctrl-C
    reports the games finished so far. `tilewright review` reads the file of --record. The file of --csv has the columns
    number, seed, score, moves, largest_tile and won.

    \b
    Examples:
      tilewright evaluate random --games 100000
      tilewright evaluate greedy --game threes --seed 7 --json
      tilewright evaluate expectimax:depth=2 --games 50 --csv games.csv --plot tiles.png
      tilewright evaluate my_module:MyAgent,weight=2 --games 100
      tilewright evaluate greedy --games 100 --record games.jsonl
      tilewright evaluate random --games 1000000 --engine ray --address auto
    """
    output.announce_compilation()
    player, played = make_agent(agent), make_game(game)
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
        _finish(partial, csv, plot, force, as_json)
        if isinstance(stop, FileError):
            raise
        raise TilewrightError(f"stopped after {partial.games:,} of {games:,} games") from None
    _finish(result, csv, plot, force, as_json)


def _check_outputs(record: Path | None, csv: Path | None, plot: Path | None, inputs: list[Path], force: bool) -> None:
    """Raise an error, before any game is played, if a file must not be written."""
    check_different(record, csv, plot)
    if record is not None:
        check_output(record, RECORDING, inputs=inputs, force=force)
    if csv is not None:
        check_table_output(csv, inputs=inputs, force=force)
    if plot is not None:
        check_output(plot, PNG, inputs=inputs, force=force)


def _finish(result: Evaluation, csv: Path | None, plot: Path | None, force: bool, as_json: bool) -> None:
    """Print the results, then write the files: a full disk does not take the results away."""
    _report(result, as_json)
    if csv is not None:
        result.to_csv(csv, force=force)
    if plot is not None:
        figure = new_figure(8.0, 3.4)
        axes = result.plot(figure.add_subplot())
        title = f"{readable(result.agent)} on {result.game.spec}: {result.games:,} games"
        axes.set_title(title, fontsize=10, loc="left")
        save_png(figure, plot, force=force)


def _report(result: Evaluation, as_json: bool) -> None:
    facts = result.summary()
    if as_json:
        output.print_json(facts)
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
    rows.append(("speed", f"{result.moves_per_second:,.0f} moves/s ({facts['moves']:,} in {result.seconds:.2f} s)"))
    output.print_table(("result", "value"), rows)
    print()
    reach = [(f"{tile}", output.percent(rate), output.percent_interval(rate)) for tile, rate in result.reach.items()]
    output.print_table((">tile", ">reached", ">95 % interval"), reach)
    sys.stdout.flush()
