"""Pictures of a run: the learning curve, the tiles its player reaches, and one page that holds both."""

import html
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright._core.files import write_text
from tilewright._core.html import embedded, page
from tilewright._core.plots import BLUE, INK, ORANGE, SOFT, new_figure, save_png, second_scale, shorten, style
from tilewright.play.evaluate import Evaluation
from tilewright.training.run_folder import RunFolder, StagePoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_curve", "draw_tiles", "save_curve", "write_report"]


def draw_curve(folder: RunFolder) -> "Figure":
    """Mean score against games played: training as a line, tests as points with their 95 % intervals."""
    figure = new_figure()
    axes = style(figure.add_subplot())
    points, tests = folder.curve_points(), folder.evaluation_points()
    games = [point.games for point in points]
    for stage in sorted({point.stage for point in points}):
        part = [point for point in points if point.stage == stage]
        axes.plot(
            [point.games for point in part],
            [point.score_mean for point in part],
            color=BLUE,
            linewidth=1.8,
            label="training games" if stage == 1 else None,
        )
    _mark_stages(axes, folder.stage_points(), games[-1] if games else 0)
    if tests:
        middle = [test.score_mean for test in tests]
        reach = [
            [test.score_mean - test.score_low for test in tests],
            [test.score_high - test.score_mean for test in tests],
        ]
        axes.errorbar([test.games for test in tests], middle, reach, fmt="o", color=ORANGE, capsize=3, label="tests")
    shorten(axes.xaxis)
    shorten(axes.yaxis)
    axes.set_xlabel("games of training", color=INK)
    axes.set_ylabel("mean score", color=INK)
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    if any(point.win_rate for point in points):
        wins = second_scale(axes, "won, %")
        wins.plot(games, [100 * point.win_rate for point in points], color=SOFT, linewidth=1.2, linestyle="--")
        wins.set_ylim(0, 100)
    if points or tests:
        axes.legend(loc="lower right", frameon=False, fontsize=9)
    return figure


def _mark_stages(axes: "Axes", stages: list[StagePoint], last: int) -> None:
    """Where stages begin, and what the same games score when the stage before plays them to their end."""
    for i, stage in enumerate(stages):
        end = stages[i + 1].games if i + 1 < len(stages) else last
        axes.axvline(stage.games, color=SOFT, linewidth=0.8)
        axes.text(
            stage.games, 0.02, f" stage {stage.stage}", transform=axes.get_xaxis_transform(), color=SOFT, fontsize=9
        )
        label = "played on by the stage before" if stage.stage == 2 else None
        axes.plot([stage.games, end], [stage.normalised] * 2, color=INK, linewidth=1.2, linestyle=":", label=label)


def draw_tiles(evaluation: Evaluation) -> "Figure":
    """How many games ended with each largest tile."""
    figure = new_figure(8.0, 3.4)
    axes = style(figure.add_subplot())
    codes = list(range(int(evaluation.codes.min()), int(evaluation.codes.max()) + 1))
    shares = [100 * float((evaluation.codes == code).mean()) for code in codes]
    bars = axes.bar([str(evaluation.game.value(code)) for code in codes], shares, color=BLUE, width=0.7)
    axes.bar_label(bars, [f"{share:.1f}" for share in shares], fontsize=9, color=INK, padding=2)
    axes.set_xlabel("largest tile", color=INK)
    axes.set_ylabel("games, %", color=INK)
    axes.margins(y=0.12)
    return figure


def save_curve(folder: RunFolder) -> None:
    """Draw the curve into the run folder."""
    save_png(draw_curve(folder), folder.curve_file)


def write_report(folder: RunFolder, evaluations: Sequence[Evaluation] = ()) -> Path:
    """One self-contained page: the curve, the players beside each other, the tiles of the first, the recipe."""
    points = folder.curve_points()
    parts = []
    if points:
        last = points[-1]
        parts.append(
            f"<p>{last.games:,} games and {last.moves:,} moves of training in {last.seconds:,.0f} s.</p>"
            f"<h2>Learning curve</h2>{embedded(draw_curve(folder))}"
        )
    if evaluations:
        parts.append(f"<h2>Players</h2>{_players_table(evaluations)}")
        first = evaluations[0]
        parts.append(f"<h2>Largest tile of {html.escape(first.agent)}</h2>{embedded(draw_tiles(first))}")
    parts.append(f"<h2>Recipe</h2><pre>{html.escape(folder.config().to_toml())}</pre>")
    write_text(folder.report_file, page(folder.path.name, "\n".join(parts)))
    return folder.report_file


def _players_table(evaluations: Sequence[Evaluation]) -> str:
    head = "<tr><th>player</th><th>games</th><th>mean score</th><th>± 95 %</th><th>won</th><th>largest tile</th></tr>"
    rows = []
    for found in evaluations:
        margin = "" if found.score.margin is None else f"{found.score.margin:,.0f}"
        won = "" if found.win_rate is None else f"{100 * found.win_rate.value:.1f} %"
        cells = (found.agent, f"{found.games:,}", f"{found.score.value:,.0f}", margin, won, f"{max(found.reach):,}")
        rows.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
    return f"<table>{head}{''.join(rows)}</table>"
