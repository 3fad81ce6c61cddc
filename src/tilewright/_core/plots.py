"""The common style of all figures: colours, frame, a second axis, and how figures are saved."""

import io
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright._core.files import write_bytes
from tilewright._core.outputs import FileKind

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = [
    "BLUE",
    "INK",
    "ORANGE",
    "PNG",
    "SOFT",
    "given_or_new",
    "new_figure",
    "png",
    "save_png",
    "second_scale",
    "shorten",
    "style",
]

INK, SOFT, BLUE, ORANGE = "#2b2b33", "#8a8a94", "#1f6f9f", "#d9822b"
PNG = FileKind("PNG image", lambda head: head.startswith(b"\x89PNG\r\n\x1a\n"))


def new_figure(width: float = 8.0, height: float = 4.2) -> "Figure":
    """Make a figure without pyplot, so that nothing is shown or kept; sizes are in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=130, layout="constrained")


def given_or_new(axes: "Axes | None", size: tuple[float, float] | None = None) -> "Axes":
    """Return axes as they are, or those of a new pyplot figure for None; `size` is in inches."""
    if axes is not None:
        return axes
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]


def style(axes: "Axes") -> "Axes":
    """Give axes a light frame: two spines and horizontal grid lines."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e6e6ea", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=9)
    return axes


def second_scale(axes: "Axes", label: str) -> "Axes":
    """Add a second y-axis on the right, for a dashed line."""
    second = axes.twinx()
    second.set_ylabel(f"{label} (dashed)", color=SOFT)
    second.spines[["top", "left"]].set_visible(False)
    second.tick_params(colors=SOFT, labelsize=9)
    return second


def shorten(axis: "Axis") -> None:
    """Write large tick labels as 20 k and 1.5 M."""
    from matplotlib.ticker import FuncFormatter

    def short(value: float, _: int) -> str:
        for size, name in ((1e6, " M"), (1e3, " k")):
            if abs(value) >= size:
                return f"{value / size:g}{name}"
        return f"{value:g}"

    axis.set_major_formatter(FuncFormatter(short))


def png(figure: "Figure") -> bytes:
    """The figure as the content of a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def save_png(figure: "Figure", path: Path, *, force: bool = False) -> None:
    """Write the figure to a PNG file; `force` replaces a file of another kind."""
    write_bytes(path, png(figure), PNG, force=force)
