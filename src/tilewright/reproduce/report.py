"""The report of an experiment: paper and ours side by side, as a page of its own or as Markdown with pictures."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright import __version__
from tilewright._core.files import write_text
from tilewright._core.html import embedded, page
from tilewright._core.plots import save_png
from tilewright.reproduce.experiments import SCALES, Experiment, Scale
from tilewright.reproduce.figures import draw, reach_list
from tilewright.reproduce.results import Found, find_all, heading, written
from tilewright.reproduce.store import Store, machine
from tilewright.reproduce.suite import pieces_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Report", "make_report", "write_index", "write_markdown", "write_page"]

APART = "≠"  # beside a figure whose 95 % interval does not overlap the paper's
Table = list[list[str]]


@dataclass(frozen=True)
class Report:
    """What is said of an experiment, whatever it is written as."""

    title: str
    text: str
    table: Table
    lists: Mapping[str, str]  # reach lists by the labels of their rows
    figures: Mapping[str, "Figure"]
    facts: Sequence[str]  # how it was made


def make_report(experiment: Experiment, scale: Scale, store: Store) -> Report:
    """The report of what is finished."""
    rows = find_all(experiment, scale, store)
    return Report(
        f"{experiment.paper_title}, {experiment.title}",
        experiment.text,
        _table(experiment, rows),
        {found.row.label: reach_list(found) for found in rows} if "reach-list" in experiment.figures else {},
        {name: draw(name, rows) for name in experiment.figures if name != "reach-list" and rows},
        _facts(experiment, scale, store),
    )


def write_page(report: Report, folder: Path) -> Path:
    """Write report.html, a page that needs nothing else."""
    body = [
        f"<p>{html.escape(report.text)}</p>",
        _html_table(report.table),
        *(f"<h2>{html.escape(label)}</h2><pre>{html.escape(text)}</pre>" for label, text in report.lists.items()),
        *(embedded(figure, name) for name, figure in report.figures.items()),
        "<h2>How it was made</h2><ul>" + "".join(f"<li>{html.escape(fact)}</li>" for fact in report.facts) + "</ul>",
    ]
    path = folder / "report.html"
    write_text(path, page(report.title, "\n".join(body)))
    return path


def write_markdown(report: Report, folder: Path) -> Path:
    """Write report.md, with its figures beside it."""
    for name, figure in report.figures.items():
        save_png(figure, folder / f"{name}.png")
    parts = [
        f"# {report.title}",
        report.text,
        _markdown_table(report.table),
        *(f"## {label}\n\n```\n{text}\n```" for label, text in report.lists.items()),
        *(f"![{name}]({name}.png)" for name in report.figures),
        "\n".join(f"- {fact}" for fact in report.facts),
    ]
    path = folder / "report.md"
    write_text(path, "\n\n".join(parts) + "\n")
    return path


def write_index(folder: Path) -> Path:
    """Write README.md: a list of all the Markdown reports under `folder`, whenever they were made."""
    lines = ["# Results", "", "Written by `tilewright reproduce --markdown`; how each was made is said at its end.", ""]
    for report in sorted(folder.glob("*/*/report.md")):
        title = report.read_text("utf-8").partition("\n")[0].removeprefix("# ")
        scale = report.parent.name.rpartition("-")[2]
        lines.append(f"- [{title}]({report.relative_to(folder).as_posix()}) ({scale})")
    path = folder / "README.md"
    write_text(path, "\n".join(lines) + "\n")
    return path


def _table(experiment: Experiment, rows: Sequence[Found]) -> Table:
    """The first line is the heading. Columns of which the paper says nothing have only ours."""
    stated = {name for name in experiment.columns if any(name in found.row.paper for found in rows)}
    head = [""]
    for name in experiment.columns:
        head += [f"{heading(name)}: here", "paper"] if name in stated else [heading(name)]
    table = [head]
    for found in rows:
        line = [_name(found, rows)]
        for name in experiment.columns:
            cell = found.cells[name]
            line.append(written(name, cell.ours) + (f" {APART}" if cell.agrees is False else ""))
            if name in stated:
                line.append(written(name, cell.paper))
        table.append(line)
    return table


def _name(found: Found, rows: Sequence[Found]) -> str:
    """The row's label, with the beginning of its series where another row has the same one."""
    row = found.row
    shared = sum(other.row.label == row.label for other in rows) > 1
    return f"{row.series.partition(',')[0]}: {row.label}" if shared else row.label


def _facts(experiment: Experiment, scale: Scale, store: Store) -> list[str]:
    jobs = [
        finished for piece in pieces_of(experiment, scale) for job in piece.jobs if (finished := store.find(job.key))
    ]
    machines = sorted({job.machine for job in jobs}) or [machine()]
    versions = sorted({job.version for job in jobs}) or [__version__]
    full = experiment.scales["full"]
    facts = [f"scale {scale.name}: {SCALES[scale.name]}"] if scale.name in SCALES else []
    if _effort(scale) != _effort(full):
        facts.append(f"here {_effort(scale)}; the full scale {_effort(full)}. Where that differs, so may the figures")
    if scale.changes:
        facts.append("changed at this scale: " + ", ".join(f"{key} = {value}" for key, value in scale.changes.items()))
    if scale.shrink > 1:
        facts.append(f"the tiles of stage borders are divided by {scale.shrink}")
    facts += [
        _seeds(scale),
        f"tilewright {', '.join(versions)} on {'; '.join(machines)}",
    ]
    if any(row.paper for row in experiment.rows):
        facts.append(f"{APART} beside a figure: its 95 % interval and the paper's do not overlap")
    if scale.name in SCALES:
        facts.append(f"command: tilewright reproduce {experiment.path} --scale {scale.name}")
    return facts


def _seeds(scale: Scale) -> str:
    return f"{scale.seeds} seeds, intervals over seeds" if scale.seeds > 1 else "one seed, intervals over games"


def _effort(scale: Scale) -> str:
    parts = [f"{scale.games:,} games of training"] if scale.games else []
    parts += [f"{scale.stage_games:,} games of training a stage"] if scale.stage_games else []
    parts += [f"{scale.steps:,} steps of training"] if scale.steps else []
    parts += [f"{scale.seeds} seed{'s' if scale.seeds > 1 else ''}", f"{scale.tests:,} games of test"]
    if scale.slow_tests and scale.slow_tests != scale.tests:
        parts[-1] += f" ({scale.slow_tests:,} with three plies)"
    return ", ".join(parts)


def _html_table(table: Table) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in table[0])
    rows = ("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>" for line in table[1:])
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(rows)}</table></div>'


def _markdown_table(table: Table) -> str:
    lines = [table[0], ["---"] * len(table[0]), *table[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
