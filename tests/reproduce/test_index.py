"""The index says for every experiment of the papers what was found, from the summaries beside the reports."""

import dataclasses
import json
from pathlib import Path

import pytest

from tests.reproduce.tiny import QUICK
from tilewright.errors import FileError
from tilewright.reproduce.experiments import Experiment, all_experiments
from tilewright.reproduce.index import Summary, read_summaries, write_html_index, write_index, write_summary
from tilewright.reproduce.report import make_report
from tilewright.reproduce.store import Store


def add_summary(folder: Path, path: str, scale: str, **parts: str) -> None:
    place = folder / f"{path}-{scale}"
    place.mkdir(parents=True)
    texts = {"ours": "ours | here", "verdict": "reproduced", "why": "It is.", "date": "2026-11-18", **parts}
    (place / "summary.json").write_text(json.dumps({"experiment": path, "scale": scale, **texts}))


def test_a_summary_is_that_of_its_report(experiment: Experiment, undisturbed: Store, tmp_path: Path) -> None:
    report = make_report(experiment, QUICK, undisturbed)
    place = tmp_path / "tiny-2026" / "table-1-quick"
    place.mkdir(parents=True)
    write_summary(experiment, QUICK, report, place)
    ((summary, folder),) = read_summaries(tmp_path)["tiny-2026/table-1"]
    assert folder == place
    assert report.verdict is not None
    assert summary == Summary(
        "tiny-2026/table-1", "quick", report.verdict.ours, report.verdict.word, report.verdict.why, report.date
    )


def test_every_experiment_is_listed_with_the_largest_scale_that_was_run(tmp_path: Path) -> None:
    add_summary(tmp_path, "chen-2019/values", "quick", verdict="not at this scale")
    add_summary(tmp_path, "chen-2019/values", "full")
    lines = write_index(tmp_path).read_text().splitlines()
    titles = [experiment.title for experiment in all_experiments().values()]
    assert [line for line in lines if any(line.startswith(f"| {title}") for title in titles)] != []
    assert sum(line.startswith("| ") and not line.startswith(("| ---", "| experiment")) for line in lines) == len(
        titles
    )
    (line,) = [line for line in lines if "(chen-2019/values-full/report.md)" in line]
    assert "[full](chen-2019/values-full/report.md), [quick](chen-2019/values-quick/report.md)" in line
    assert line.endswith("| ours / here | reproduced | It is. (2026-11-18) |")
    assert all_experiments()["chen-2019/values"].claim in line
    assert sum("| not run yet |" in line for line in lines) == len(titles) - 1
    page = write_html_index(tmp_path).read_text()
    assert '<td class="verdict reproduced"><b>reproduced</b></td>' in page
    assert '<a href="chen-2019/values-full/report.html">full</a>' in page
    assert page.count("<tr>") == len(titles) + len({one.paper for one in all_experiments().values()})


def test_a_damaged_summary_is_one_line(tmp_path: Path) -> None:
    add_summary(tmp_path, "chen-2019/values", "quick", other="key")
    with pytest.raises(FileError, match="the summary is damaged"):
        write_index(tmp_path)


def test_a_sweep_has_no_place_in_the_index(experiment: Experiment) -> None:
    assert dataclasses.replace(experiment, paper="sweep").path not in all_experiments()
