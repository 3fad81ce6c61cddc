"""The papers' figures drawn again: learning curves with bands over seeds, and figures against playouts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tilewright._core.plots import INK, SOFT, new_figure, shorten, style
from tilewright.play.statistics import Estimate
from tilewright.reproduce.results import Found, heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CURVES", "draw", "reach_list"]

# Okabe & Ito's colours, which people with any colour vision tell apart; lines differ in their dashes as well.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
DASHES = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))
MARKERS = "osD^vP*"


@dataclass(frozen=True)
class Curve:
    """What of the training games is drawn."""

    label: str
    key: str  # of a point
    stated: str = ""  # the paper's figure that is drawn with it, as a dotted line
    factor: float = 1
    tiles: bool = False  # a scale on which every tile has its line


CURVES = {
    "curve-score": Curve("mean score", "score_mean", "score"),
    "curve-max": Curve("highest score", "score_max"),
    "curve-win": Curve("won, %", "win_rate", "win", factor=100),
    "curve-length": Curve("moves of a game", "length"),
    "curve-largest": Curve("largest tile", "largest", tiles=True),
}


def draw(name: str, rows: Sequence[Found]) -> "Figure":
    """The figure of that name: `curve-score`, `points-win`, …"""
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


def _draw_curves(axes: "Axes", curve: Curve, rows: Sequence[Found]) -> None:
    counted = "games"
    for i, found in enumerate(rows):
        colour, dashes = COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)]
        runs = [sample.training["curve"] for sample in found.samples if sample.training]
        if not runs or not all(runs):
            continue
        counted = "moves" if "epsilon" in runs[0][0] else "games"  # deep networks count moves
        for stage in sorted({point.get("stage", 1) for point in runs[0]}):
            length, values = _together(runs, counted, curve, stage)
            label = found.row.label if stage == 1 else None
            axes.plot(length, values.mean(axis=0), color=colour, linestyle=dashes, linewidth=1.8, label=label)
            if len(values) > 1:
                axes.fill_between(length, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.18, linewidth=0)
        if curve.key == "score_mean":
            _draw_normalised(axes, found, colour)
        stated = found.row.paper.get(curve.stated)
        if stated is not None:
            axes.axhline(curve.factor * stated.value, color=colour, linestyle=":", linewidth=1.2)
    if any(curve.stated in found.row.paper for found in rows):
        axes.plot([], [], color=INK, linestyle=":", linewidth=1.2, label="the paper's network, trained")
    axes.set_xlabel(f"{'steps' if counted == 'moves' else 'games'} of training", color=INK)
    axes.set_ylabel(curve.label, color=INK)
    if curve.tiles:
        _tiles(axes)
    else:
        axes.set_ylim(bottom=0)
    shorten(axes.xaxis)
    if curve.factor == 1 and not curve.tiles:
        shorten(axes.yaxis)


def _tiles(axes: "Axes") -> None:
    from matplotlib.ticker import NullLocator, ScalarFormatter

    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.yaxis.set_minor_locator(NullLocator())


def _together(
    runs: Sequence[Sequence[dict[str, Any]]], counted: str, curve: Curve, stage: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The points that all seeds have: how long was trained, the mean over seeds, and values by seed."""
    parts = [[point for point in _with_lengths(run) if point.get("stage", 1) == stage] for run in runs]
    n = min(len(part) for part in parts)
    length = np.array([[point[counted] for point in part[:n]] for part in parts], np.float64).mean(axis=0)
    return length, curve.factor * np.array([[point[curve.key] for point in part[:n]] for part in parts], np.float64)


def _with_lengths(run: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each point with the mean number of moves of its games."""
    before = [{"games": 0, "moves": 0}, *run[:-1]]
    return [
        {**point, "length": (point["moves"] - last["moves"]) / max(1, point["games"] - last["games"])}
        for last, point in zip(before, run, strict=True)
    ]


def _draw_normalised(axes: "Axes", found: Found, colour: str) -> None:
    """What the stage before makes of the games that a stage begins with."""
    training = found.samples[0].training
    stages = training["stages"] if training else []
    for i, stage in enumerate(stages):
        end = stages[i + 1]["games"] if i + 1 < len(stages) else training["games"] if training else 0
        axes.plot([stage["games"], end], [stage["baseline_score"]] * 2, color=colour, linestyle=":", linewidth=1.4)
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
        shorten(axes.yaxis)


def _draw_series(axes: "Axes", points: Sequence[tuple[float, Estimate | None]], factor: float, **looks: Any) -> None:
    known = [(x, estimate) for x, estimate in points if estimate is not None]
    if not known:
        return
    x, y = [x for x, _ in known], [factor * estimate.value for _, estimate in known]
    below = [0 if low is None else factor * (value - low) for _, (value, low, _) in known]
    above = [0 if high is None else factor * (high - value) for _, (value, _, high) in known]
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
