"""`tilewright demo`: the main job from nothing: train, compare, report."""

from pathlib import Path

import click

from tilewright.agents import make_agent
from tilewright.agents.base import Agent
from tilewright.cli import output
from tilewright.cli.options import seed_option, threads_option
from tilewright.cli.train import evaluation_of, free_folder
from tilewright.cli.train_progress import training_progress
from tilewright.errors import UsageError
from tilewright.games.base import Game
from tilewright.play.evaluate import Evaluation, evaluate
from tilewright.training.config import read_training_config
from tilewright.training.ntuple_session import open_session
from tilewright.training.report import save_curve, write_report

__all__ = ["demo"]


@click.command()
@click.option("--preset", default="minute", show_default=True, help="What to train.")
@click.option("--games", default=1000, show_default=True, help="How many games each player is tested with.")
@click.option("--out", type=click.Path(path_type=Path), help="The run folder.  [default: runs/demo]")
@seed_option
@threads_option
def demo(preset: str, games: int, out: Path | None, seed: int, threads: int | None) -> None:
    """Train a player for about a minute, test it beside the random and greedy ones, and write a report.

    \b
    Examples:
      tilewright demo
      tilewright demo --seed 7 --out runs/second
    """
    if games < 1:
        raise UsageError(f"games={games}: at least one game must be played")
    output.announce_compilation()
    config = read_training_config(preset, seed=seed)
    folder = out or free_folder("demo")
    print(f"training by the recipe {preset!r}: {config.length}")
    with training_progress("learning") as callback:
        session = open_session(config, folder, threads=threads, callback=callback)
        progress = session.run()
    save_curve(session.folder)
    print(f"{progress.games:,} games in {progress.seconds:.0f} s; model {session.folder.model_file}")
    game = session.trainer.game
    players = [make_agent("ntuple", model=str(session.folder.model_file)), make_agent("greedy"), make_agent("random")]
    found = [_test(player, game, games, seed, threads) for player in players]
    _compare(found)
    report = write_report(session.folder, found)
    print(f"report {report}")
    print(f"next: {evaluation_of(session)} --games 10000")
    print("      tilewright train hour    (stronger; Ctrl-C and --resume as you like)")


def _test(player: Agent, game: Game, games: int, seed: int, threads: int | None) -> Evaluation:
    with output.progress_bar(f"testing {player.name}", games) as progress:
        return evaluate(player, game, games=games, seed=seed, threads=threads, progress=progress)


def _compare(found: list[Evaluation]) -> None:
    rows = []
    for result in found:
        won = "" if result.win_rate is None else output.percent(result.win_rate)
        name = result.agent.partition(":")[0]
        rows.append((name, output.with_margin(result.score), won, f"{result.scores.max():,}", f"{max(result.reach):,}"))
    columns = ("player", ">mean score", ">won", ">best score", ">largest tile")
    output.print_table(columns, rows, title=f"{found[0].games:,} games of {found[0].game.spec} each")
