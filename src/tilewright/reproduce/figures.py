"""The papers' figures drawn again: learning curves with bands over seeds, and figures against playouts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tilewright.intervals import Estimate
from tilewright.plots import INK, SOFT, new_figure, style
from tilewright.reproduce.findings import Found, heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CURVES", "draw", "reach_list"]

# Okabe & Ito's colours, which people with any colour vision tell apart; lines differ in their dashes as well.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
DASHES = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))
MARKERS = "osD^vP*"
CURVES = {"curve-score": "score_mean", "curve-max": "score_max", "curve-win": "win_rate"}
_LABELS = {"score_mean": "mean score", "score_max": "highest score", "win_rate": "won, %"}


def draw(name: str, rows: Sequence[Found]) -> "Figure":
    """The figure of that name: `curve-score`, `points-win`, …"""
    figure = new_figure(8.0, 4.6)
    axes = style(figure.add_subplot())
    if name in CURVES:
        _draw_curves(axes, CURVES[name], rows)
    else:
        _draw_points(axes, name.removeprefix("points-"), rows)
    axes.legend(frameon=False, fontsize=9, loc="best")
    return figure


def _thousands(axes: "Axes", *, x: bool, y: bool) -> None:
    from matplotlib.ticker import FuncFormatter

    written = FuncFormatter(lambda value, _: f"{value / 1000:g} k" if abs(value) >= 1000 else f"{value:g}")
    if x:
        axes.xaxis.set_major_formatter(written)
    if y:
        axes.yaxis.set_major_formatter(written)


def _draw_curves(axes: "Axes", measure: str, rows: Sequence[Found]) -> None:
    factor = 100 if measure == "win_rate" else 1
    for i, found in enumerate(rows):
        colour, dashes = COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)]
        curves = [sample.training["curve"] for sample in found.samples if sample.training]
        if not curves:
            continue
        for stage in sorted({point.get("stage", 1) for point in curves[0]}):
            games, values = _together(curves, measure, stage)
            label = found.row.label if stage == 1 else None
            middle = factor * values.mean(axis=0)
            axes.plot(games, middle, color=colour, linestyle=dashes, linewidth=1.8, label=label)
            if len(values) > 1:
                spread = factor * values
                axes.fill_between(games, spread.min(axis=0), spread.max(axis=0), color=colour, alpha=0.18, linewidth=0)
        if measure == "score_mean":
            _draw_normalised(axes, found, colour)
        stated = found.row.paper.get("win" if measure == "win_rate" else "score")
        if stated is not None and measure != "score_max":
            axes.axhline(factor * stated.value, color=colour, linestyle=":", linewidth=1.2)
    axes.set_xlabel("games of training", color=INK)
    axes.set_ylabel(_LABELS[measure], color=INK)
    axes.set_ylim(bottom=0)
    _thousands(axes, x=True, y=measure != "win_rate")


def _together(
    curves: Sequence[Sequence[dict[str, Any]]], measure: str, stage: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The points that all seeds have: games, and values by seed."""
    parts = [[point for point in curve if point.get("stage", 1) == stage] for curve in curves]
    n = min(len(part) for part in parts)
    games = np.array([point["games"] for point in parts[0][:n]], np.float64)
    return games, np.array([[point[measure] for point in part[:n]] for part in parts], np.float64)


def _draw_normalised(axes: "Axes", found: Found, colour: str) -> None:
    """What the stage before makes of the games that a stage begins with."""
    training = found.samples[0].training
    stages = training["stages"] if training else []
    for i, stage in enumerate(stages):
        end = stages[i + 1]["games"] if i + 1 < len(stages) else training["games"] if training else 0
        axes.plot([stage["games"], end], [stage["normalised"]] * 2, color=colour, linestyle=":", linewidth=1.4)
        axes.axvline(stage["games"], color=SOFT, linewidth=0.6)


def _draw_points(axes: "Axes", column: str, rows: Sequence[Found]) -> None:
    series = list(dict.fromkeys(found.row.series for found in rows))
    factor = 100 if column == "win" else 1
    for i, name in enumerate(series):
        colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
        found = [one for one in rows if one.row.series == name]
        ours = [(one.row.x, one.cells[column].ours) for one in found]
        paper = [(one.row.x, one.cells[column].paper) for one in found]
        _draw_series(axes, ours, factor, color=colour, marker=marker, linestyle="-", label=f"{name}: here")
        if not name.endswith("true rules"):
            _draw_series(
                axes, paper, factor, color=colour, marker=marker, linestyle=":", markerfacecolor="white",
                label=f"{name}: paper",
            )  # fmt: skip
    axes.set_xlabel("playouts of every move", color=INK)
    axes.set_ylabel(f"{heading(column)}{', %' if column == 'win' else ', s' if column == 'seconds' else ''}", color=INK)
    if column == "seconds":
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
        _thousands(axes, x=False, y=column != "win")


def _draw_series(axes: "Axes", points: Sequence[tuple[float, Estimate | None]], factor: float, **looks: Any) -> None:
    known = [(x, estimate) for x, estimate in points if estimate is not None]
    if not known:
        return
    x, y = [x for x, _ in known], [factor * estimate.value for _, estimate in known]
    below = [factor * (value - (value if low is None else low)) for _, (value, low, _) in known]
    above = [factor * ((value if high is None else high) - value) for _, (value, _, high) in known]
    axes.errorbar(x, y, [below, above], capsize=3, linewidth=1.5, markersize=6, **looks)


def reach_list(found: Found) -> str:
    """How many games reached each tile and, in brackets, ended with it, as the programs of that school print it."""
    tiles = np.concatenate([sample.tiles for sample in found.samples])
    scores = np.concatenate([sample.scores for sample in found.samples])
    lines = [f"{len(scores)}\tavg = {scores.mean():.0f}, max = {scores.max()}"]
    for tile in sorted(set(tiles.tolist())):
        reached, ended = 100 * (tiles >= tile).mean(), 100 * (tiles == tile).mean()
        lines += [f"\t{tile}\t{reached:.1f}%\t({ended:.1f}%)"]
    return "\n".join(lines)
