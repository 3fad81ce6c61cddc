"""Reports of experiments: the paper's results beside ours, as one HTML page or as Markdown with pictures."""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright import __version__
from tilewright._core.files import write_text
from tilewright._core.html import HTML, embedded, page
from tilewright._core.outputs import FileKind
from tilewright._core.plots import save_png
from tilewright.reproduce.experiments import SCALES, Experiment, Scale, all_experiments
from tilewright.reproduce.figures import draw_figure, reach_list
from tilewright.reproduce.results import RowResult, collect_rows, format_difference, format_estimate, heading
from tilewright.reproduce.store import Store, machine_name
from tilewright.reproduce.verdict import TestedComparison, Verdict, compare_rows, judge

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Column", "Report", "Table", "html_table", "make_report", "write_html", "write_markdown"]

MARKDOWN = FileKind("Markdown report", lambda head: head.startswith(b"# ") and b"\n- tilewright " in head)
DIFFERS = "≠"  # beside a result that a two-sample test tells from the paper's


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: The heading.
        group: The heading above it, which neighbouring columns share; empty for none.
    """

    name: str
    group: str = ""


@dataclass(frozen=True)
class Table:
    """A table of texts.

    Attributes:
        columns: The columns.
        lines: The lines, with a cell for every column.
    """

    columns: Sequence[Column]
    lines: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Report:
    """The content of a report.

    Attributes:
        title: The title.
        text: Remarks on the experiment.
        table: The results.
        lists: The reach lists by row.
        figures: The plots by name.
        facts: How the results were made.
        link: The address of the paper.
        claim: What the paper found.
        verdict: What the results say about it, if they do.
        tests: The claims of the paper, tested; without lines if there are none.
        date: The day of the last result; empty if there is none.
    """

    title: str
    text: str
    table: Table
    lists: Mapping[str, str]
    figures: Mapping[str, "Figure"]
    facts: Sequence[str]
    link: str
    claim: str
    verdict: Verdict | None
    tests: Table
    date: str


def make_report(experiment: Experiment, scale: Scale, store: Store) -> Report:
    """Make the report of the rows of an experiment that are finished."""
    rows = collect_rows(experiment, scale, store)
    tested = compare_rows(experiment.comparisons, _rows_by_name(experiment, scale, rows, store))
    return Report(
        f"{experiment.paper_title}, {experiment.title}",
        experiment.text,
        _table(experiment, rows),
        {row.name: reach_list(row) for row in rows} if "reach-list" in experiment.figures else {},
        {name: draw_figure(name, rows) for name in experiment.figures if name != "reach-list" and rows},
        _facts(experiment, scale, rows),
        experiment.link,
        experiment.claim,
        judge(experiment, scale, rows, tested),
        _tests(tested),
        max((trial.date[:10] for row in rows for trial in row.trials), default=""),
    )


def _rows_by_name(
    experiment: Experiment, scale: Scale, rows: Sequence[RowResult], store: Store
) -> dict[str, RowResult]:
    """Return the rows that comparisons may name: of the experiment, and as `table-1: LABEL` of its paper's others."""
    found = {row.name: row for row in rows}
    named = [name for comparison in experiment.comparisons for name in (comparison.better, comparison.worse)]
    for other in dict.fromkeys(name.partition(": ")[0] for name in named if name not in found):
        source = all_experiments().get(f"{experiment.paper}/{other}")
        if source is not None:
            others = collect_rows(source, source.scales[scale.name], store)
            found |= {f"{other}: {row.name}": row for row in others}
    return found


def write_html(report: Report, folder: Path, *, force: bool = False) -> Path:
    """Write `report.html`, a page that needs no other file; `force` replaces a file of another kind.

    Returns:
        The path of the page.
    """
    body = [
        *_html_head(report),
        f"<p>{html.escape(report.text)}</p>",
        html_table(report.table),
        *([f"<h2>The paper's claims, tested</h2>{html_table(report.tests, words=True)}"] if report.tests.lines else []),
        *(f"<h2>{html.escape(label)}</h2><pre>{html.escape(text)}</pre>" for label, text in report.lists.items()),
        *(embedded(figure, name) for name, figure in report.figures.items()),
        "<h2>How it was made</h2><ul>" + "".join(f"<li>{html.escape(fact)}</li>" for fact in report.facts) + "</ul>",
    ]
    path = folder / "report.html"
    write_text(path, page(report.title, "\n".join(body)), HTML, force=force)
    return path


def _html_head(report: Report) -> list[str]:
    parts = []
    if report.verdict is not None and report.verdict.word:
        word = html.escape(report.verdict.word)
        kind = word.replace(" ", "-")
        parts.append(f'<p class="verdict {kind}"><b>{word}</b> {html.escape(report.verdict.why)}</p>')
    if report.claim:
        parts.append(f"<p>The paper: {html.escape(report.claim)}</p>")
    about = [f'<a href="{html.escape(report.link)}">the paper</a>'] if report.link else []
    about += [f"results of {report.date}"] if report.date else []
    return [*parts, *([f'<p class="about">{" · ".join(about)}</p>'] if about else [])]


def write_markdown(report: Report, folder: Path, *, force: bool = False) -> Path:
    """Write `report.md`, and its figures beside it; `force` replaces files of another kind.

    Returns:
        The path of the Markdown file.
    """
    for name, figure in report.figures.items():
        save_png(figure, folder / f"{name}.png", force=force)
    verdict = []
    if report.verdict is not None and report.verdict.word:
        verdict = [f"**{report.verdict.word}** – {report.verdict.why}"]
    about = [f"[the paper]({report.link})"] if report.link else []
    about += [f"results of {report.date}"] if report.date else []
    parts = [
        f"# {report.title}",
        *verdict,
        *([f"The paper: {report.claim}"] if report.claim else []),
        *([" · ".join(about)] if about else []),
        report.text,
        markdown_table(report.table),
        *([f"## The paper's claims, tested\n\n{markdown_table(report.tests)}"] if report.tests.lines else []),
        *(f"## {label}\n\n```\n{text}\n```" for label, text in report.lists.items()),
        *(f"![{name}]({name}.png)" for name in report.figures),
        "\n".join(f"- {fact}" for fact in report.facts),
    ]
    path = folder / "report.md"
    write_text(path, "\n\n".join(parts) + "\n", MARKDOWN, force=force)
    return path


def _table(experiment: Experiment, rows: Sequence[RowResult]) -> Table:
    """Make the table; a column has a second one for the paper's results if it states any."""
    stated = {name for name in experiment.columns if any(name in row.row.paper for row in rows)}
    columns = [Column("")]
    for name in experiment.columns:
        here = Column("here", heading(name))
        columns += [here, Column("paper", heading(name))] if name in stated else [Column(heading(name))]
    lines = []
    for row in rows:
        line = [row.name]
        for name in experiment.columns:
            cell = row.cells[name]
            differs = cell.differs and not row.row.beside
            line.append(format_estimate(name, cell.ours) + (f" {DIFFERS}" if differs else ""))
            if name in stated:
                line.append(format_estimate(name, cell.paper))
        lines.append(line)
    return Table(columns, lines)


def _tests(tested: Sequence[TestedComparison]) -> Table:
    columns = [Column(name) for name in ("better, by the paper", "than", "in", "here", "against", "difference", "")]
    lines = []
    for test in tested:
        column, difference = test.comparison.column, test.difference
        outcome = {1: "holds", -1: "reversed", 0: "open"}[test.sign(len(tested))]
        lines.append(
            [
                test.comparison.better,
                test.comparison.worse,
                heading(column),
                format_estimate(column, test.better),
                format_estimate(column, test.worse),
                "–" if difference is None else format_difference(column, difference),
                outcome,
            ]
        )
    return Table(columns, lines)


def _facts(experiment: Experiment, scale: Scale, rows: Sequence[RowResult]) -> list[str]:
    trials = [trial for row in rows for trial in row.trials]
    machines = sorted({machine for trial in trials for machine in trial.machines}) or [machine_name()]
    versions = sorted({version for trial in trials for version in trial.versions}) or [__version__]
    full = experiment.scales.get("full", scale)
    facts = [f"experiment {experiment.path}, scale {scale.name}: {SCALES[scale.name]}"] if scale.name in SCALES else []
    if _effort(scale) != _effort(full):
        facts.append(f"here: {_effort(scale)}; full scale: {_effort(full)}. Results may differ for that reason")
    else:
        facts.append(f"here: {_effort(scale)}")
    if scale.changes:
        facts.append("changed at this scale: " + ", ".join(f"{key} = {value}" for key, value in scale.changes.items()))
    if scale.shrink > 1:
        facts.append(f"the tiles of the borders between stages are divided by {scale.shrink}")
    if experiment.best_by and scale.selection_games and scale.seeds > 1:
        facts.append(
            f"the best of {scale.seeds} seeds by {heading(experiment.best_by)} in {scale.selection_games:,} games; "
            "intervals are over its other games"
        )
    elif scale.seeds > 1:
        facts.append(f"{scale.seeds} seeds; intervals are over the seeds")
    else:
        facts.append("one seed; intervals are over the games")
    facts.append(f"tilewright {', '.join(versions)} on {'; '.join(machines)}")
    if "max100" in experiment.columns:
        facts.append("max100: mean of the maxima of groups of 100 games")
    if "curve-max" in experiment.figures:
        facts.append(
            "the highest score of a later stage is that of the first of its games, as large a part of them as of all "
            "games reach the stage"
        )
    if any(row.paper for row in experiment.rows):
        facts.append(
            f"{DIFFERS} beside a result: a two-sample test tells it from the paper's at 5 %, which happens by chance "
            f"to one in twenty; without {DIFFERS} the two may still differ"
        )
    if experiment.comparisons:
        facts.append("a claim holds or is reversed by its test at 5 % divided by the number of claims (Bonferroni)")
    return facts


def _effort(scale: Scale) -> str:
    parts = [f"{scale.training_games:,} training games"] if scale.training_games else []
    parts += [f"{scale.stage_games:,} training games a stage"] if scale.stage_games else []
    parts += [f"{scale.training_steps:,} training steps"] if scale.training_steps else []
    parts += [f"{scale.seeds} seed{'s' if scale.seeds > 1 else ''}", f"{scale.evaluation_games:,} evaluation games"]
    if scale.slow_evaluation_games and scale.slow_evaluation_games != scale.evaluation_games:
        parts[-1] += f" ({scale.slow_evaluation_games:,} with three plies)"
    return ", ".join(parts)


def html_table(table: Table, *, words: bool = False) -> str:
    """Return a table as HTML; columns of a group share a heading above their own.

    Args:
        table: The table.
        words: Whether cells are sentences, whose lines may break, rather than numbers.
    """
    grouped = any(column.group for column in table.columns)
    heads = []
    if grouped:
        heads.append("".join(_group_heads(table.columns)))
        heads.append("".join(f"<th>{html.escape(c.name)}</th>" for c in table.columns if c.group))
    else:
        heads.append("".join(f"<th>{html.escape(column.name)}</th>" for column in table.columns))
    head = "".join(f"<tr>{line}</tr>" for line in heads)
    cell_of = html.escape if words else _number_cell
    rows = ("<tr>" + "".join(f"<td>{cell_of(cell)}</td>" for cell in line) + "</tr>" for line in table.lines)
    kind = "wide words" if words else "wide"
    return f'<div class="{kind}"><table><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table></div>'


def _number_cell(text: str) -> str:
    """Return a cell whose interval in brackets is on a line of its own, which makes wide tables narrower."""
    return re.sub(r"^([\d.,]+ %) (\([^)]*\))(.*)$", r"\1\3<br><small>\2</small>", html.escape(text))


def _group_heads(columns: Sequence[Column]) -> list[str]:
    """Return the upper headings: one for each group, and two lines high for a column without one."""
    heads, last = [], ""
    for column in columns:
        if not column.group:
            heads.append(f'<th rowspan="2">{html.escape(column.name)}</th>')
        elif column.group != last:
            width = sum(other.group == column.group for other in columns)
            heads.append(f'<th colspan="{width}">{html.escape(column.group)}</th>')
        last = column.group
    return heads


def markdown_table(table: Table) -> str:
    """Return a table as Markdown, which has no headings above others: a group is part of the heading."""
    names = [f"{column.group}, {column.name}" if column.group else column.name for column in table.columns]
    lines = [names, ["---"] * len(names), *table.lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
