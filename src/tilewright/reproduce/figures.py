"""Plots of experiments: learning curves, results against the number of rollouts, largest tiles of training games."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.plots import INK, SOFT, new_figure, shorten, style
from tilewright.exact.optima import perfect_score
from tilewright.games import make_game
from tilewright.play.statistics import Estimate
from tilewright.reproduce.results import RowResult, heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "CURVES", "MARKERS", "SCATTER", "draw_figure", "draw_series", "reach_list"]

# The palette of Okabe & Ito, which people with any colour vision can tell apart. Lines differ in their dashes, too.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
DASHES = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))
MARKERS = "osD^vP*"
SCATTER = "scatter-largest"
MANY_GAMES = 200  # from which on the points of a scatter are small

CurvePoint: TypeAlias = dict[str, float]


@dataclass(frozen=True)
class Curve:
    """A learning curve.

    Attributes:
        label: The label of the y axis.
        key: The key of a point that is drawn.
        paper: The column whose result in the paper is drawn as a dotted line; empty for none.
        factor: What values are multiplied by.
        tiles: Whether values are tiles, which get a logarithmic axis.
        of_perfect: Whether scores are drawn in per cent of perfect play, where that is known.
    """

    label: str
    key: str
    paper: str = ""
    factor: float = 1
    tiles: bool = False
    of_perfect: bool = False


CURVES = {
    "curve-score": Curve("mean score", "score_mean", "score"),
    "curve-of-perfect": Curve("per cent of perfect", "score_mean", factor=100, of_perfect=True),
    "curve-max": Curve("highest score", "share_max"),
    "curve-win": Curve("win rate, %", "win_rate", "win", factor=100),
    "curve-length": Curve("moves per game", "length"),
    "curve-largest": Curve("largest tile", "largest", tiles=True),
}


def draw_figure(name: str, rows: Sequence[RowResult]) -> "Figure":
    """Draw a figure.

    Args:
        name: A learning curve of `CURVES`, `points-` and a column, such as `points-win`, or SCATTER.
        rows: The results to draw.
    """
    if name == SCATTER:
        return _draw_scatters(rows)
    figure = new_figure(8.0, 4.6)
    axes = style(figure.add_subplot())
    if name in CURVES:
        _draw_curves(axes, CURVES[name], rows)
    else:
        _draw_points(axes, name.removeprefix("points-"), rows)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=True, facecolor="white", framealpha=0.9, edgecolor="none", fontsize=9, loc="best")
    else:
        axes.text(0.5, 0.5, "too few games for a curve", transform=axes.transAxes, ha="center", color=SOFT)
    return figure


def _draw_curves(axes: "Axes", curve: Curve, rows: Sequence[RowResult]) -> None:
    unit = "games"
    for i, row in enumerate(rows):
        colour, dashes = COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)]
        runs = [trial.training["curve"] for trial in row.trials if trial.training]
        perfect = perfect_score(make_game(row.trials[0].trial.game)) if curve.of_perfect and row.trials else 1.0
        if not runs or not all(runs) or perfect is None:
            continue
        unit = "moves" if "epsilon" in runs[0][0] else "games"  # the training of deep networks is counted in moves
        for stage in sorted({point.get("stage", 1) for point in runs[0]}):
            length, values = _align(runs, unit, curve, stage)
            values /= perfect
            label = row.name if stage == 1 else None
            axes.plot(length, values.mean(axis=0), color=colour, linestyle=dashes, linewidth=1.8, label=label)
            if len(values) > 1:
                axes.fill_between(length, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.18, linewidth=0)
        if curve.key == "score_mean" and not curve.of_perfect:
            _draw_baselines(axes, row, colour)
        stated = row.row.paper.get(curve.paper)
        if stated is not None:
            axes.axhline(curve.factor * stated.value, color=colour, linestyle=":", linewidth=1.2)
    if any(curve.paper in row.row.paper for row in rows):
        axes.plot([], [], color=INK, linestyle=":", linewidth=1.2, label="the paper, after training")
    axes.set_xlabel("training steps" if unit == "moves" else "training games", color=INK)
    axes.set_ylabel(curve.label, color=INK)
    if curve.tiles:
        _scale_tiles(axes)
    else:
        axes.set_ylim(bottom=0)
    shorten(axes.xaxis)
    if curve.factor == 1 and not curve.tiles:
        shorten(axes.yaxis)


def _draw_scatters(rows: Sequence[RowResult]) -> "Figure":
    """Draw the largest tile of every training game of the first seed, a panel for each row."""
    trained = [(row, tiles) for row in rows if (tiles := _largest_tiles(row))]
    figure = new_figure(8.0, 0.6 + 2.0 * max(1, (len(trained) + 1) // 2))
    if not trained:
        axes = style(figure.add_subplot())
        axes.text(0.5, 0.5, "no training games", transform=axes.transAxes, ha="center", color=SOFT)
        return figure
    panels = figure.subplots((len(trained) + 1) // 2, min(2, len(trained)), sharey=True, squeeze=False).ravel()
    for axes, (row, tiles), colour in zip(panels, trained, _cycled(len(trained)), strict=False):
        style(axes)
        size = 4 if len(tiles) > MANY_GAMES else 16
        axes.scatter(np.arange(1, len(tiles) + 1), tiles, s=size, alpha=0.35, linewidths=0, color=colour)
        axes.set_title(row.name, fontsize=9, color=INK)
        axes.set_xlabel("training game", color=INK)
        axes.set_ylabel("largest tile", color=INK)
        _scale_tiles(axes)
        shorten(axes.xaxis)
    for axes in panels[len(trained) :]:
        axes.set_visible(False)
    return figure


def _cycled(count: int) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(count)]


def _largest_tiles(row: RowResult) -> list[int]:
    training = row.trials[0].training if row.trials else None
    return training.get("largest_tiles", []) if training else []


def _scale_tiles(axes: "Axes") -> None:
    from matplotlib.ticker import NullLocator, ScalarFormatter

    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.yaxis.set_minor_locator(NullLocator())


def _align(
    runs: Sequence[Sequence[CurvePoint]], unit: str, curve: Curve, stage: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the points of a stage that all runs have.

    Returns:
        The length of the training, float64[points], as the mean over the runs, and the values, float64[runs, points].
    """
    parts = [[point for point in _with_lengths(run) if point.get("stage", 1) == stage] for run in runs]
    n = min(len(part) for part in parts)
    length = np.array([[point[unit] for point in part[:n]] for part in parts], np.float64).mean(axis=0)
    return length, curve.factor * np.array([[point[curve.key] for point in part[:n]] for part in parts], np.float64)


def _with_lengths(run: Sequence[CurvePoint]) -> list[CurvePoint]:
    """Add to each point the mean number of moves of its games, and the maximum that is drawn."""
    start: CurvePoint = {"games": 0, "moves": 0}
    before = [start, *run[:-1]]
    return [
        {
            **point,
            "length": (point["moves"] - last["moves"]) / max(1, point["games"] - last["games"]),
            "share_max": point.get("share_max") or point["score_max"],
        }
        for last, point in zip(before, run, strict=True)
    ]


def _draw_baselines(axes: "Axes", row: RowResult, colour: str) -> None:
    """Draw the baseline of each stage: the mean score of the stage before it in the same games."""
    training = row.trials[0].training
    if training is None:
        return
    stages = training["stages"]
    for i, stage in enumerate(stages):
        end = stages[i + 1]["games"] if i + 1 < len(stages) else training["games"]
        axes.plot([stage["games"], end], [stage["baseline_score"]] * 2, color=colour, linestyle=":", linewidth=1.4)
        axes.axvline(stage["games"], color=SOFT, linewidth=0.6)


def _draw_points(axes: "Axes", column: str, rows: Sequence[RowResult]) -> None:
    factor = 100 if column == "win" else 1
    for i, name in enumerate(dict.fromkeys(row.row.series for row in rows)):
        colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
        series = [row for row in rows if row.row.series == name]
        ours = [(row.row.x, row.cells[column].ours) for row in series]
        paper = [(row.row.x, row.cells[column].paper) for row in series]
        draw_series(axes, ours, factor, color=colour, marker=marker, label=f"{name}: here")
        if not name.endswith("true rules"):  # the paper did not play by them
            draw_series(
                axes, paper, factor, color=colour, marker=marker, linestyle=":", markerfacecolor="white",
                label=f"{name}: paper",
            )  # fmt: skip
    axes.set_xlabel("rollouts per move", color=INK)
    axes.set_ylabel(f"{heading(column)}{', %' if column == 'win' else ', s' if column == 'seconds' else ''}", color=INK)
    if column == "seconds":
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
        shorten(axes.yaxis)


def draw_series(
    axes: "Axes",
    points: Sequence[tuple[float, Estimate | None]],
    factor: float = 1,
    *,
    color: str,
    marker: str,
    label: str,
    linestyle: str = "-",
    markerfacecolor: str | None = None,
) -> None:
    """Draw estimates as points with error bars.

    Args:
        axes: Where to draw.
        points: The x value and the estimate of each point; a point without an estimate is left out.
        factor: What the estimates are multiplied by.
        color: The colour, here and below as matplotlib's `errorbar` takes it.
        marker: The marker of the points.
        label: The name in the legend.
        linestyle: How the points are joined.
        markerfacecolor: The colour inside the markers; None for `color`.
    """
    known = [(x, estimate) for x, estimate in points if estimate is not None]
    if not known:
        return
    x, y = [x for x, _ in known], [factor * estimate.value for _, estimate in known]
    below = [0 if low is None else factor * (value - low) for _, (value, low, _) in known]
    above = [0 if high is None else factor * (high - value) for _, (value, _, high) in known]
    axes.errorbar(
        x,
        y,
        [below, above],
        capsize=3,
        linewidth=1.5,
        markersize=6,
        color=color,
        marker=marker,
        label=label,
        linestyle=linestyle,
        markerfacecolor=markerfacecolor,
    )


def reach_list(row: RowResult) -> str:
    """List for each tile the share of games that reached it and, in brackets, that ended with it.

    The format is that of the programs of TDL2048 and its descendants.
    """
    tiles = np.concatenate([trial.tiles for trial in row.trials])
    scores = np.concatenate([trial.scores for trial in row.trials])
    lines = [f"{len(scores)}\tavg = {scores.mean():.0f}, max = {scores.max()}"]
    for tile in sorted(set(tiles.tolist())):
        reached, ended = 100 * (tiles >= tile).mean(), 100 * (tiles == tile).mean()
        lines += [f"\t{tile}\t{reached:.1f}%\t({ended:.1f}%)"]
    return "\n".join(lines)
