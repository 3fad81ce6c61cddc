"""`tilewright demo`: train a player, compare it with the baselines, write a report."""

from pathlib import Path

import click

from tilewright.agents import make_agent
from tilewright.agents.base import Agent
from tilewright.cli import output
from tilewright.cli.options import seed_option, threads_option
from tilewright.cli.train import evaluation_of, resumption_of, run_session
from tilewright.errors import UsageError
from tilewright.games.base import Game
from tilewright.play.evaluate import Evaluation, evaluate
from tilewright.training.api import free_folder
from tilewright.training.config import read_config
from tilewright.training.report import write_report

__all__ = ["demo"]


@click.command()
@click.option("--preset", default="minute", show_default=True, help="What to train: a preset or a TOML file.")
@click.option("--games", default=1000, show_default=True, help="The number of games that each player is tested with.")
@click.option("--out", type=click.Path(path_type=Path), metavar="RUN", help="The run folder.  [default: runs/demo]")
@seed_option
@threads_option
def demo(preset: str, games: int, out: Path | None, seed: int, threads: int | None) -> None:
    """Train a player for about a minute, compare it with the random and the greedy player, and write a report.

    Ctrl-C stops the training and saves everything; the report then shows what was learned so far.

    \b
    Examples:
      tilewright demo
      tilewright demo --seed 7 --out runs/second
    """
    if games < 1:
        raise UsageError(f"--games {games}: at least one game must be played")
    config = read_config(preset, seed=seed)
    folder = out or free_folder("demo")
    print(f"training {preset}: {config.length}")
    session = run_session(config, folder, "training", resume=False, threads=threads)
    progress, report = session.progress, session.folder.report_file
    print(f"{progress.games:,} games, {progress.moves:,} moves in {progress.seconds:.0f} s of training")
    print(f"model {session.folder.model_file}")
    if session.done < 1:
        print(f"report {report}")
        print(f"continue: {resumption_of(session)}")
        return
    trained = make_agent(config.agent_name, model=str(session.folder.model_file))
    game, players = config.make_game(), [trained, make_agent("greedy"), make_agent("random")]
    results = [_test(player, game, games, seed, threads) for player in players]
    _compare(results)
    write_report(session.folder, results)
    print(f"report {report}")
    print(f"next: {evaluation_of(session)} --games 10000")
    print("      tilewright train hour    (stronger; Ctrl-C saves, --resume continues)")


def _test(player: Agent, game: Game, games: int, seed: int, threads: int | None) -> Evaluation:
    with output.progress_bar(f"testing {player.name}", games) as progress:
        return evaluate(player, game, games=games, seed=seed, threads=threads, progress=progress)


def _compare(results: list[Evaluation]) -> None:
    rows = []
    for result in results:
        won = "" if result.win_rate is None else output.percent(result.win_rate)
        name = result.agent.partition(":")[0]
        rows.append((name, output.with_margin(result.score), won, f"{result.scores.max():,}", f"{max(result.reach):,}"))
    columns = ("player", ">mean score", ">won", ">best score", ">largest tile")
    output.print_table(columns, rows, title=f"{results[0].games:,} games of {results[0].game.spec} each")
