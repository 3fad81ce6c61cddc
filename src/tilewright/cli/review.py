"""`tilewright review`: compare every move of a recorded game with the best move."""

from pathlib import Path

import click

from tilewright._core.outputs import check_output
from tilewright._core.plots import PNG, save_png
from tilewright.agents.base import Unit
from tilewright.agents.defaults import agent_or_default
from tilewright.cli import output
from tilewright.cli.options import agent_option, files_of, force_option, json_option
from tilewright.play.recording import Recording, read_game
from tilewright.play.review import Review, ReviewedMove, draw_review, review

__all__ = ["review_command"]


@click.command("review")
@click.argument("file", type=click.Path(path_type=Path))
@agent_option("The agent that values the moves.")
@click.option("--game-number", type=click.IntRange(min=0), default=0, show_default=True,
              help="The position of the game in the file, from 0.")  # fmt: skip
@click.option("--worst", type=click.IntRange(min=0), default=10, show_default=True,
              help="The number of the worst moves to show.")  # fmt: skip
@click.option("--plot", type=click.Path(path_type=Path), metavar="PNG",
              help="Draw values and losses over the moves.")  # fmt: skip
@force_option
@json_option
def review_command(
    file: Path, agent: str | None, game_number: int, worst: int, plot: Path | None, force: bool, as_json: bool
) -> None:
    """Compare every move of a recorded game with the best move by an agent's values.

    The loss of a move is the value of the best move minus the value of the move that was played. FILE is written by
    `tilewright play --record` or `tilewright evaluate --record`.

    \b
    Examples:
      tilewright review games.jsonl
      tilewright review games.jsonl --game-number 3 --agent greedy --plot review.png
      tilewright review games.jsonl --worst 3 --json
    """
    output.announce_compilation()
    recording, games = read_game(file, game_number)
    chosen = agent_or_default(agent, recording.game)
    if plot is not None:
        check_output(plot, PNG, inputs=[file, *files_of(chosen)], force=force)
    with output.progress_bar(f"reviewing with {chosen.spec}", len(recording.actions)) as progress:
        found = review(recording, chosen, progress)
    if plot is not None:
        save_png(draw_review(found), plot, force=force)
    if as_json:
        output.print_json(found.summary(worst) | {"plot": None if plot is None else str(plot)})
        return
    _report(found, game_number, games)
    for move in found.worst(worst):
        _show(move, found.unit)
    if plot is not None:
        print(f"\nplot {plot}")


def _report(found: Review, position: int, games: int) -> None:
    print(f"game {position} of {games:,}: {_describe(found.recording)}, reviewed with {found.agent}")
    agreeing = sum(move.best == move.played for move in found.moves)
    rows = [
        ("moves", f"{len(found.moves):,}"),
        ("agree", f"{agreeing:,} ({100 * found.agreement:.1f} %)"),
        ("loss, total", output.value_text(found.total_loss, found.unit)),
        (
            "loss, mean",
            f"{found.mean_loss:,.2f}" if found.unit != "probability" else f"{found.mean_loss:.8f}",
        ),
    ]
    output.print_table(("result", ">value"), rows)


def _describe(recording: Recording) -> str:
    state = "over" if recording.is_over else "not over"
    return f"{recording.game.spec} by {recording.agent}, score {recording.score:,}, {state}"


def _show(move: ReviewedMove, unit: Unit) -> None:
    loss = output.value_text(move.loss, unit)
    print(f"\nmove {move.number:,}: {move.played}, best {move.best}, loss {loss}")
    print(move.board)
    marks = {move.best: "best", move.played: "played"}
    rows = [(action, output.value_text(value, unit), marks.get(action, "")) for action, value in move.values.items()]
    output.print_table(("move", output.value_heading(unit), ""), rows)
