"""Figures and reports of a run: the learning curve, the largest tiles of its player, and a page with both."""

import html
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright._core.files import read_metadata, write_text
from tilewright._core.html import HTML, embedded, page
from tilewright._core.plots import BLUE, INK, ORANGE, SOFT, new_figure, save_png, second_scale, shorten, style
from tilewright.errors import FileError
from tilewright.play.evaluate import Evaluation
from tilewright.training.run_folder import CurvePoint, EvaluationPoint, RunFolder, StagePoint, TrainingPoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_curve", "draw_tiles", "full_rows", "plot_curve", "save_curve", "summarise", "write_report"]


def full_rows(points: Sequence[TrainingPoint]) -> list[TrainingPoint]:
    """The learning curve without a last row of fewer games, whose mean is less certain than the others.

    A curve that consists of such a row alone is kept.
    """
    if len(points) > 1 and points[-1].window < points[0].window:
        return list(points[:-1])
    return list(points)


def draw_curve(folder: RunFolder) -> "Figure":
    """Draw the learning curve of a run as a new figure."""
    figure = new_figure()
    plot_curve(folder, style(figure.add_subplot()))
    return figure


def plot_curve(folder: RunFolder, axes: "Axes") -> None:
    """Draw the learning curve of a run: mean scores of training games, and evaluations with their 95 % intervals.

    Where another curve is already drawn, this one has the next colour and the name of its run, and no win rates.
    """
    others = sum(str(line.get_label()).startswith("training games") for line in axes.lines)
    color = f"C{others + 1}" if others else BLUE  # C1 looks like ORANGE
    name = f", {folder.path.name}" if others else ""
    points, evaluations = full_rows(folder.curve_points()), folder.evaluation_points()
    games = [point.games for point in points]
    for stage in sorted({_stage_of(point) for point in points}):
        part = [point for point in points if _stage_of(point) == stage]
        axes.plot(
            [point.games for point in part],
            [point.score_mean for point in part],
            color=color,
            linewidth=1.8,
            label=f"training games{name}" if part[0] is points[0] else None,
        )
    _mark_stages(axes, folder.stage_points(), games[-1] if games else 0)
    _plot_evaluations(axes, evaluations, color if others else ORANGE, f"evaluations{name}")
    shorten(axes.xaxis)
    shorten(axes.yaxis)
    axes.set_xlabel("games of training", color=INK)
    axes.set_ylabel("mean score", color=INK)
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    if any(point.win_rate for point in points) and not others:
        wins = second_scale(axes, "won, %")
        wins.plot(games, [100 * point.win_rate for point in points], color=SOFT, linewidth=1.2, linestyle="--")
        wins.set_ylim(0, 100)
    if points or evaluations:
        axes.legend(loc="lower right", frameon=False, fontsize=9)


def _stage_of(point: TrainingPoint) -> int:
    return point.stage if isinstance(point, CurvePoint) else 1


def _mark_stages(axes: "Axes", stages: list[StagePoint], last: int) -> None:
    """Mark the starts of stages, and the score that each has to exceed."""
    for i, stage in enumerate(stages):
        end = stages[i + 1].games if i + 1 < len(stages) else last
        axes.axvline(stage.games, color=SOFT, linewidth=0.8)
        axes.text(
            stage.games, 0.02, f" stage {stage.stage}", transform=axes.get_xaxis_transform(), color=SOFT, fontsize=9
        )
        label = "the previous stage, from the same boards" if i == 0 else None
        axes.plot([stage.games, end], [stage.baseline_score] * 2, color=INK, linewidth=1.2, linestyle=":", label=label)


def _plot_evaluations(axes: "Axes", evaluations: Sequence[EvaluationPoint], color: str, label: str) -> None:
    if not evaluations:
        return
    means = [point.score_mean for point in evaluations]
    margins = [  # a row that somebody has edited may have its mean outside the interval
        [max(0.0, point.score_mean - point.score_low) for point in evaluations],
        [max(0.0, point.score_high - point.score_mean) for point in evaluations],
    ]
    games = [point.games for point in evaluations]
    axes.errorbar(games, means, margins, fmt="o", color=color, capsize=3, label=label)


def draw_tiles(evaluation: Evaluation) -> "Figure":
    """Draw the percentage of games that ended with each largest tile."""
    figure = new_figure(8.0, 3.4)
    evaluation.plot(figure.add_subplot())
    return figure


def save_curve(folder: RunFolder) -> None:
    """Draw the learning curve into the run folder's `curve.png`."""
    save_png(draw_curve(folder), folder.curve_file)


def summarise(folder: RunFolder) -> str:
    """The totals of a run in one sentence, or an empty text for a run without games.

    A deep network also learns from games that no row of the curve counts, because they are not over; its model does.
    """
    points = folder.curve_points()
    if not points:
        return ""
    last, of_model = points[-1], _totals_of_model(folder)
    games, moves, seconds = of_model if of_model[1] > last.moves else (last.games, last.moves, last.seconds)
    return f"{games:,} games and {moves:,} moves of training in {seconds:,.0f} s."


def _totals_of_model(folder: RunFolder) -> tuple[int, int, float]:
    """Games, moves and seconds of training that the model's file states; zeros where there is no such file."""
    try:
        found = read_metadata(folder.model_file)
        return int(found["games"]), int(found["moves"]), float(found["seconds"])
    except (FileError, KeyError, ValueError):
        return 0, 0, 0.0


def write_report(folder: RunFolder, evaluations: Sequence[Evaluation] = ()) -> Path:
    """Write `report.html`, one page that needs no other file.

    Args:
        folder: The run folder.
        evaluations: Evaluations of players to compare; the largest tiles of the first one are drawn.

    Returns:
        The path of the page.
    """
    points = folder.curve_points()
    parts = []
    if points:
        curve = embedded(draw_curve(folder), "Mean score against games of training")
        parts.append(f"<p>{summarise(folder)}</p><h2>Learning curve</h2>{curve}")
    if evaluations:
        parts.append(f"<h2>Players</h2>{_players_table(evaluations)}")
        first = evaluations[0]
        tiles = embedded(draw_tiles(first), f"Largest tiles of {first.agent}")
        parts.append(f"<h2>Largest tiles of {html.escape(first.agent)}</h2>{tiles}")
    parts.append(f"<h2>Configuration</h2><pre>{html.escape(folder.read_config().to_toml())}</pre>")
    write_text(folder.report_file, page(folder.path.resolve().name, "\n".join(parts)), HTML)
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
