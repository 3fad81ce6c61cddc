"""Reports of experiments: the paper's results beside ours, as one HTML page or as Markdown with pictures."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright import __version__
from tilewright._core.files import write_text
from tilewright._core.html import HTML, embedded, page
from tilewright._core.inputs import read_text
from tilewright._core.outputs import FileKind
from tilewright._core.plots import save_png
from tilewright.reproduce.experiments import SCALES, Experiment, Scale
from tilewright.reproduce.figures import draw_figure, reach_list
from tilewright.reproduce.results import RowResult, collect_rows, format_estimate, heading
from tilewright.reproduce.store import Store, machine_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["INDEX", "INDEX_NAME", "Report", "html_table", "make_report", "write_html", "write_index", "write_markdown"]

INDEX_NAME, INDEX_HEAD = "README.md", "# Results\n\nEach report ends with how it was made.\n"
INDEX = FileKind("list of reports", lambda head: head.startswith(INDEX_HEAD.encode()))
MARKDOWN = FileKind("Markdown report", lambda head: head.startswith(b"# ") and b"\n- tilewright " in head)
DIFFERS = "≠"  # beside a result whose 95 % interval does not overlap the paper's
Table = list[list[str]]


@dataclass(frozen=True)
class Report:
    """The content of a report.

    Attributes:
        title: The title.
        text: Remarks on the experiment.
        table: The lines of the table; the first is the heading.
        lists: The reach lists by row.
        figures: The plots by name.
        facts: How the results were made.
    """

    title: str
    text: str
    table: Table
    lists: Mapping[str, str]
    figures: Mapping[str, "Figure"]
    facts: Sequence[str]


def make_report(experiment: Experiment, scale: Scale, store: Store) -> Report:
    """Make the report of the rows of an experiment that are finished."""
    rows = collect_rows(experiment, scale, store)
    return Report(
        f"{experiment.paper_title}, {experiment.title}",
        experiment.text,
        _table(experiment, rows),
        {row.name: reach_list(row) for row in rows} if "reach-list" in experiment.figures else {},
        {name: draw_figure(name, rows) for name in experiment.figures if name != "reach-list" and rows},
        _facts(experiment, scale, rows),
    )


def write_html(report: Report, folder: Path, *, force: bool = False) -> Path:
    """Write `report.html`, a page that needs no other file; `force` replaces a file of another kind.

    Returns:
        The path of the page.
    """
    body = [
        f"<p>{html.escape(report.text)}</p>",
        html_table(report.table),
        *(f"<h2>{html.escape(label)}</h2><pre>{html.escape(text)}</pre>" for label, text in report.lists.items()),
        *(embedded(figure, name) for name, figure in report.figures.items()),
        "<h2>How it was made</h2><ul>" + "".join(f"<li>{html.escape(fact)}</li>" for fact in report.facts) + "</ul>",
    ]
    path = folder / "report.html"
    write_text(path, page(report.title, "\n".join(body)), HTML, force=force)
    return path


def write_markdown(report: Report, folder: Path, *, force: bool = False) -> Path:
    """Write `report.md`, and its figures beside it; `force` replaces files of another kind.

    Returns:
        The path of the Markdown file.
    """
    for name, figure in report.figures.items():
        save_png(figure, folder / f"{name}.png", force=force)
    parts = [
        f"# {report.title}",
        report.text,
        _markdown_table(report.table),
        *(f"## {label}\n\n```\n{text}\n```" for label, text in report.lists.items()),
        *(f"![{name}]({name}.png)" for name in report.figures),
        "\n".join(f"- {fact}" for fact in report.facts),
    ]
    path = folder / "report.md"
    write_text(path, "\n\n".join(parts) + "\n", MARKDOWN, force=force)
    return path


def write_index(folder: Path, *, force: bool = False) -> Path:
    """Write `README.md`, a list of all Markdown reports in a folder; `force` replaces a file of another kind.

    Returns:
        The path of the list.
    """
    lines = [INDEX_HEAD]
    for report in sorted(folder.glob("*/*/report.md")):
        title = read_text(report).partition("\n")[0].removeprefix("# ")
        scale = report.parent.name.rpartition("-")[2]
        lines.append(f"- [{title}]({report.relative_to(folder).as_posix()}) ({scale})")
    path = folder / INDEX_NAME
    write_text(path, "\n".join(lines) + "\n", INDEX, force=force)
    return path


def _table(experiment: Experiment, rows: Sequence[RowResult]) -> Table:
    """Make the table; a column has a second one for the paper's results if it states any."""
    stated = {name for name in experiment.columns if any(name in row.row.paper for row in rows)}
    head = [""]
    for name in experiment.columns:
        head += [f"{heading(name)}: here", "paper"] if name in stated else [heading(name)]
    table = [head]
    for row in rows:
        line = [row.name]
        for name in experiment.columns:
            cell = row.cells[name]
            line.append(format_estimate(name, cell.ours) + (f" {DIFFERS}" if cell.agrees is False else ""))
            if name in stated:
                line.append(format_estimate(name, cell.paper))
        table.append(line)
    return table


def _facts(experiment: Experiment, scale: Scale, rows: Sequence[RowResult]) -> list[str]:
    trials = [trial for row in rows for trial in row.trials]
    machines = sorted({machine for trial in trials for machine in trial.machines}) or [machine_name()]
    versions = sorted({version for trial in trials for version in trial.versions}) or [__version__]
    full = experiment.scales.get("full", scale)
    facts = [f"experiment {experiment.path}, scale {scale.name}: {SCALES[scale.name]}"] if scale.name in SCALES else []
    if _effort(scale) != _effort(full):
        facts.append(f"here: {_effort(scale)}; full scale: {_effort(full)}. Results may differ for that reason")
    if scale.changes:
        facts.append("changed at this scale: " + ", ".join(f"{key} = {value}" for key, value in scale.changes.items()))
    if scale.shrink > 1:
        facts.append(f"the tiles of the borders between stages are divided by {scale.shrink}")
    if scale.seeds > 1:
        facts.append(f"{scale.seeds} seeds; intervals are over the seeds")
    else:
        facts.append("one seed; intervals are over the games")
    facts.append(f"tilewright {', '.join(versions)} on {'; '.join(machines)}")
    if "max100" in experiment.columns:
        facts.append("max100: mean of the maxima of groups of 100 games")
    if any(row.paper for row in experiment.rows):
        facts.append(f"{DIFFERS} beside a result: its 95 % interval and the paper's do not overlap")
    return facts


def _effort(scale: Scale) -> str:
    parts = [f"{scale.training_games:,} training games"] if scale.training_games else []
    parts += [f"{scale.stage_games:,} training games a stage"] if scale.stage_games else []
    parts += [f"{scale.training_steps:,} training steps"] if scale.training_steps else []
    parts += [f"{scale.seeds} seed{'s' if scale.seeds > 1 else ''}", f"{scale.evaluation_games:,} evaluation games"]
    if scale.slow_evaluation_games and scale.slow_evaluation_games != scale.evaluation_games:
        parts[-1] += f" ({scale.slow_evaluation_games:,} with three plies)"
    return ", ".join(parts)


def html_table(table: Table) -> str:
    """Return a table as HTML; its first line is the heading."""
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in table[0])
    rows = ("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>" for line in table[1:])
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(rows)}</table></div>'


def _markdown_table(table: Table) -> str:
    lines = [table[0], ["---"] * len(table[0]), *table[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
