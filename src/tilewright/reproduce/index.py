"""The index of a folder of reports: for every experiment the paper's claim, what was found, and the verdict."""

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tilewright._core.files import write_text
from tilewright._core.html import HTML, page
from tilewright._core.inputs import read_text
from tilewright._core.outputs import FileKind
from tilewright.errors import FileError
from tilewright.reproduce.experiments import SCALES, Experiment, Scale, all_experiments
from tilewright.reproduce.report import Report

__all__ = ["INDEX", "INDEX_NAME", "Summary", "read_summaries", "write_html_index", "write_index", "write_summary"]

SUMMARY_FILE = "summary.json"
SUMMARY = FileKind("summary of a report", lambda head: head.startswith(b'{\n "experiment": '))
INDEX_NAME, INDEX_HEADING = "README.md", "# Results"
INDEX = FileKind("index of reports", lambda head: head.startswith(f"{INDEX_HEADING}\n".encode()))
NOT_RUN = "not run yet"
NO_CLAIM = "–"


@dataclass(frozen=True)
class Summary:
    """What the index says of a report; `summary.json` beside it.

    Attributes:
        experiment: The path of the experiment.
        scale: The name of the scale.
        ours: What was found, in a sentence.
        verdict: One of the four verdicts; empty if the paper states nothing to compare with.
        why: The reason for the verdict.
        date: The day of the last result.
        note: What a reader of the report should know, if a later correction concerns it.
    """

    experiment: str
    scale: str
    ours: str
    verdict: str
    why: str
    date: str
    note: str = ""


def write_summary(experiment: Experiment, scale: Scale, report: Report, folder: Path, *, force: bool = False) -> None:
    """Write `summary.json` into the folder of a report; `force` replaces a file of another kind."""
    verdict = report.verdict
    word, why, ours = (verdict.word, verdict.why, verdict.ours) if verdict else ("", "", "")
    summary = Summary(experiment.path, scale.name, ours, word, why, report.date)
    text = json.dumps(asdict(summary), ensure_ascii=False, indent=1) + "\n"
    write_text(folder / SUMMARY_FILE, text, SUMMARY, force=force)


def read_summaries(folder: Path) -> dict[str, list[tuple[Summary, Path]]]:
    """Read the summaries of all reports in a folder.

    Returns:
        For each experiment its summaries with the folders of the reports, the scale with the largest effort first.

    Raises:
        FileError: A summary is damaged.
    """
    found: dict[str, list[tuple[Summary, Path]]] = {}
    for file in sorted(folder.glob(f"*/*/{SUMMARY_FILE}")):
        try:
            summary = Summary(**json.loads(read_text(file)))
        except (TypeError, ValueError) as error:
            raise FileError(f"{file}: the summary is damaged: {error}") from None
        found.setdefault(summary.experiment, []).append((summary, file.parent))
    order = list(SCALES)
    for summaries in found.values():
        summaries.sort(key=lambda item: -order.index(item[0].scale) if item[0].scale in order else 1)
    return found


def write_index(folder: Path, *, force: bool = False) -> Path:
    """Write `README.md`, the index of all Markdown reports in a folder; `force` replaces a file of another kind.

    Returns:
        The path of the index.
    """
    lines = [INDEX_HEADING, "", _INTRODUCTION]
    summaries = read_summaries(folder)
    for paper, experiments in _papers().items():
        first = experiments[0]
        title = f"[{first.paper_title}]({first.link})" if first.link else first.paper_title
        lines += [
            "",
            f"## {title}",
            "",
            "| experiment | the paper | here | verdict | why |",
            "| --- | --- | --- | --- | --- |",
        ]
        for experiment in experiments:
            runs = summaries.get(f"{paper}/{experiment.name}", [])
            lines.append(_markdown_line(experiment, runs, folder))
    lines += _other_reports(folder, summaries)
    path = folder / INDEX_NAME
    write_text(path, "\n".join(lines) + "\n", INDEX, force=force)
    return path


def _other_reports(folder: Path, summaries: Mapping[str, Sequence[tuple[Summary, Path]]]) -> list[str]:
    """List the Markdown reports that have no place among the experiments of the papers."""
    listed = {path for name in all_experiments() for _, path in summaries.get(name, [])}
    lines = []
    for report in sorted(folder.glob("*/*/report.md")):
        if report.parent not in listed:
            title = read_text(report).partition("\n")[0].removeprefix("# ")
            lines.append(f"- [{title}]({report.relative_to(folder).as_posix()})")
    return ["", "## Other reports", "", *lines] if lines else []


def write_html_index(folder: Path, *, force: bool = False) -> Path:
    """Write `index.html`, the index of all HTML reports in a folder; `force` replaces a file of another kind.

    Returns:
        The path of the index.
    """
    summaries = read_summaries(folder)
    parts = [f"<p>{html.escape(_INTRODUCTION)}</p>"]
    for paper, experiments in _papers().items():
        first = experiments[0]
        title = html.escape(first.paper_title)
        title = f'<a href="{html.escape(first.link)}">{title}</a>' if first.link else title
        rows = [_html_line(one, summaries.get(f"{paper}/{one.name}", []), folder) for one in experiments]
        head = "".join(f"<th>{name}</th>" for name in ("experiment", "the paper", "here", "verdict", "why"))
        parts.append(f'<h2>{title}</h2><table class="index"><tr>{head}</tr>{"".join(rows)}</table>')
    path = folder / "index.html"
    write_text(path, page("The papers, reproduced", "\n".join(parts)), HTML, force=force)
    return path


_INTRODUCTION = (
    "Each experiment has one of four verdicts. Reproduced: the paper's claims hold, and the results agree with the "
    "paper. Direction only: at least one claim holds and none is reversed, but results differ or a claim is open; or "
    "the paper states only results, and ours are as good, or most agree. Contradicted: with at least half of the "
    "paper's effort, a claim is reversed; or the paper states only results, and most of ours differ. Not at this "
    "scale: no claim is seen; or a claim is reversed or a result not reached with less effort or a different "
    "configuration. The verdict follows from the largest scale that was run. Each report says how it was made."
)


def _papers() -> dict[str, list[Experiment]]:
    papers: dict[str, list[Experiment]] = {}
    for experiment in all_experiments().values():
        papers.setdefault(experiment.paper, []).append(experiment)
    return papers


def _markdown_line(experiment: Experiment, runs: Sequence[tuple[Summary, Path]], folder: Path) -> str:
    links = [f"[{summary.scale}]({(path / 'report.md').relative_to(folder).as_posix()})" for summary, path in runs]
    name = f"{experiment.title} ({', '.join(links)})" if links else experiment.title
    cells = [name, experiment.claim or NO_CLAIM, *_findings(runs)]
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _html_line(experiment: Experiment, runs: Sequence[tuple[Summary, Path]], folder: Path) -> str:
    places = [(summary.scale, (path / "report.html").relative_to(folder).as_posix()) for summary, path in runs]
    links = [f'<a href="{html.escape(place)}">{html.escape(scale)}</a>' for scale, place in places]
    name = html.escape(experiment.title) + (f" ({', '.join(links)})" if links else "")
    ours, verdict, why = map(html.escape, _findings(runs))
    kind = verdict.replace(" ", "-")
    claim = html.escape(experiment.claim or NO_CLAIM)
    return (
        f'<tr><td>{name}</td><td>{claim}</td><td>{ours}</td><td class="verdict {kind}"><b>{verdict}</b></td>'
        f"<td>{why}</td></tr>"
    )


def _findings(runs: Sequence[tuple[Summary, Path]]) -> tuple[str, str, str]:
    """What was found, the verdict and the reason, of the run with the largest effort."""
    if not runs:
        return NO_CLAIM, NOT_RUN, ""
    summary = runs[0][0]
    why = " ".join(filter(None, (summary.why, summary.note, f"({summary.date})" if summary.date else "")))
    return summary.ours or NO_CLAIM, summary.verdict or NO_CLAIM, why
