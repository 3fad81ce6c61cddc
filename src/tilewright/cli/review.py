"""`tilewright review`: where a recorded game was lost."""

from pathlib import Path

import click

from tilewright._core.plots import save_png
from tilewright.agents.defaults import agent_or_default
from tilewright.cli import output
from tilewright.cli.options import agent_option, json_option
from tilewright.play.recording import Recording, read_game
from tilewright.play.review import Review, ReviewedMove, draw_review, review

__all__ = ["review_command"]


@click.command("review")
@click.argument("file", type=click.Path(path_type=Path))
@agent_option("Who judges the moves.")
@click.option("--game-number", type=click.IntRange(min=0), default=0, show_default=True,
              help="Which game of the file, counted from 0.")  # fmt: skip
@click.option("--worst", type=click.IntRange(min=0), default=10, show_default=True,
              help="How many of the worst moves to show.")  # fmt: skip
@click.option("--plot", type=click.Path(path_type=Path), metavar="PNG",
              help="Where to draw value and loss.  [default: none]")  # fmt: skip
@json_option
def review_command(
    file: Path, agent: str | None, game_number: int, worst: int, plot: Path | None, as_json: bool
) -> None:
    """Say what every move of a recorded game lost, by the values of an agent.

    The loss of a move is the value of the best move less the value of the one that was played. FILE comes from
    `tilewright play --record` or `tilewright evaluate --record`.

    \b
    Examples:
      tilewright review games.jsonl
      tilewright review games.jsonl --game-number 3 --agent greedy --plot review.png
      tilewright review games.jsonl --worst 3 --json
    """
    output.announce_compilation()
    recording, games = read_game(file, game_number)
    judge = agent_or_default(agent, recording.game)
    with output.progress_bar(f"reviewing with {judge.spec}", len(recording.actions)) as progress:
        found = review(recording, judge, progress)
    if plot is not None:
        save_png(draw_review(found), plot)
    if as_json:
        output.print_json(found.to_json(worst) | {"plot": None if plot is None else str(plot)})
        return
    _report(found, game_number, games)
    for move in found.worst(worst):
        _show(move)
    if plot is not None:
        print(f"\nplot {plot}")


def _report(found: Review, position: int, games: int) -> None:
    print(f"game {position} of {games:,}: {_describe(found.recording)}, judged by {found.agent}")
    agreeing = sum(move.best == move.played for move in found.moves)
    rows = [
        ("moves", f"{len(found.moves):,}"),
        ("agree", f"{agreeing:,} ({100 * found.agreement:.1f} %)"),
        ("loss, total", f"{found.total_loss:,.1f}"),
        ("loss, mean", f"{found.mean_loss:,.2f}"),
    ]
    output.print_table(("figure", ">value"), rows)


def _describe(recording: Recording) -> str:
    state = "over" if recording.is_over else "not over"
    return f"{recording.game.spec} by {recording.agent}, {recording.score:,} points, {state}"


def _show(move: ReviewedMove) -> None:
    print(f"\nmove {move.number:,}: {move.played} lost {move.loss:,.1f} against {move.best}")
    print(move.board)
    marks = {move.best: "best", move.played: "played"}
    rows = [(action, f"{value:,.1f}", marks.get(action, "")) for action, value in move.values.items()]
    output.print_table(("move", ">value", ""), rows)
