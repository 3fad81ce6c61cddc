"""`tilewright demo`: the baseline agents on both games."""

import click

from tilewright.agents import make_agent
from tilewright.cli import output
from tilewright.cli.options import games_option, seed_option
from tilewright.evaluation import evaluate
from tilewright.games import make_game

__all__ = ["demo"]


@click.command()
@games_option(10_000)
@seed_option
def demo(games: int, seed: int) -> None:
    """Play the random and the greedy agent on both games and compare them.

    \b
    Example:
      tilewright demo
    """
    output.announce_compilation()
    for game in map(make_game, ("2048", "threes")):
        rows = []
        for agent in map(make_agent, ("random", "greedy")):
            with output.progress_bar(f"{agent.spec} on {game.spec}", games) as progress:
                result = evaluate(agent, game, games=games, seed=seed, progress=progress)
            best = max(result.reach)
            speed = f"{result.moves_per_second / 1e6:.1f} M"
            rows.append(
                (agent.spec, output.with_margin(result.score, 1), f"{result.scores.max():,}", f"{best:,}", speed)
            )
        columns = ("agent", ">mean score", ">best score", ">largest tile", ">moves/s")
        output.print_table(columns, rows, title=f"{game.spec}, {games:,} games each")
        print()
    print("next: tilewright evaluate greedy --game threes --games 100000")
