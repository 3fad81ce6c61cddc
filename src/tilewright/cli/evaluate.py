"""`tilewright evaluate`: play many games, report reach rates, scores and speed."""

import sys
from pathlib import Path

import click

from tilewright.agents import make_agent
from tilewright.cli import output
from tilewright.cli.options import (
    chosen_cluster,
    engine_options,
    game_option,
    games_option,
    json_option,
    seed_option,
    threads_option,
)
from tilewright.errors import TilewrightError
from tilewright.games import make_game
from tilewright.play.evaluate import Evaluation, evaluate

__all__ = ["evaluate_command"]


@click.command("evaluate")
@click.argument("agent")
@game_option
@games_option(1000)
@seed_option
@threads_option
@click.option("--record", type=click.Path(path_type=Path), metavar="FILE", help="Write every game to FILE.")
@engine_options
@json_option
def evaluate_command(
    agent: str,
    game: str,
    games: int,
    seed: int,
    threads: int | None,
    record: Path | None,
    engine: str,
    address: str | None,
    as_json: bool,
) -> None:
    """Play many games with AGENT and report the results, all with 95 % intervals.

    Ctrl-C reports on the games finished so far. A FILE of recorded games has a game a line, in their order, and takes
    the place of an earlier one; `tilewright review` reads it.

    \b
    Examples:
      tilewright evaluate random --games 100000
      tilewright evaluate greedy --game threes --seed 7 --json
      tilewright evaluate greedy --games 100 --record games.jsonl
      tilewright evaluate random --games 1000000 --engine ray --address auto
    """
    output.announce_compilation()
    player, played = make_agent(agent), make_game(game)
    try:
        with (
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
                cluster=cluster,
            )
    except KeyboardInterrupt as stop:
        partial: Evaluation | None = getattr(stop, "partial", None)
        if partial is None:
            raise
        _report(partial, as_json)
        raise TilewrightError(f"stopped after {partial.games:,} of {games:,} games") from None
    _report(result, as_json)


def _report(result: Evaluation, as_json: bool) -> None:
    if as_json:
        output.print_json(result.to_json())
        return
    facts = result.to_json()
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
        rows.append(("best of 100, mean", output.with_margin(result.max100)))
    if result.win_rate is not None:
        interval = output.percent_interval(result.win_rate)
        rows.append(("wins", f"{output.percent(result.win_rate)} ({interval})"))
    rows.append(("speed", f"{result.moves_per_second:,.0f} moves/s ({facts['moves']:,} in {result.seconds:.2f} s)"))
    output.print_table(("figure", "value"), rows)
    print()
    reach = [(f"{tile}", output.percent(rate), output.percent_interval(rate)) for tile, rate in result.reach.items()]
    output.print_table((">tile", ">reached", ">95 % interval"), reach)
    sys.stdout.flush()
