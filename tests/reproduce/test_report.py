"""Reports and figures say what the results are."""

import dataclasses
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.reproduce.tiny import QUICK
from tilewright.play.statistics import Estimate
from tilewright.reproduce.experiments import Experiment, Row
from tilewright.reproduce.figures import draw_figure, reach_list
from tilewright.reproduce.report import Column, Table, html_table, make_report, write_html, write_markdown
from tilewright.reproduce.results import Cell, RowResult, collect_rows, format_estimate
from tilewright.reproduce.store import Store


def test_the_table_has_the_results_beside_the_papers(
    experiment: Experiment, undisturbed: Store, tmp_path: Path
) -> None:
    report = make_report(experiment, QUICK, undisturbed)
    rows = collect_rows(experiment, QUICK, undisturbed)
    assert [(column.group, column.name) for column in report.table.columns] == [
        ("", ""),
        ("win rate", "here"),
        ("win rate", "paper"),
        ("mean score", "here"),
        ("mean score", "paper"),
        ("", "highest score"),
        ("board sum", "here"),
        ("board sum", "paper"),
        ("", "reaches 32"),
    ]
    slow = report.table.lines[1]
    assert slow[0] == "plain, slow"
    assert slow[3] == f"{format_estimate('score', rows[1].cells['score'].ours)} ≠"
    assert slow[4] == "50,000 ± 1"
    text = write_markdown(report, tmp_path).read_text()
    assert f"| {' | '.join(slow)} |" in text
    assert re.search(r"\| [\d,]+ ± [\d,]+ ≠ \| 50,000 ± 1 \|", text)
    assert "![curve-score](curve-score.png)" in text
    assert (tmp_path / "curve-win.png").read_bytes().startswith(b"\x89PNG")
    assert text.endswith(
        "- 2 seeds; intervals are over the seeds\n"
        f"- tilewright {rows[0].trials[0].versions[0]} on {rows[0].trials[0].machines[0]}\n"
        "- ≠ beside a result: a two-sample test tells it from the paper's at 5 %, which happens by chance to one in "
        "twenty; without ≠ the two may still differ\n"
        "- a claim holds or is reversed by its test at 5 % divided by the number of claims (Bonferroni)\n"
    )
    assert "| win rate, here | win rate, paper |" in text
    assert report.verdict is not None
    assert text.splitlines()[2] == f"**{report.verdict.word}** – {report.verdict.why}"
    assert "The paper: Training beats random moves." in text
    assert f"[the paper](https://example.org/tiny) · results of {rows[0].trials[0].date[:10]}" in text
    page = write_html(report, tmp_path).read_text()
    assert '<th colspan="2">win rate</th>' in page
    assert "prefers-color-scheme: dark" in page
    assert f'<p class="verdict {report.verdict.word.replace(" ", "-")}"><b>{report.verdict.word}</b>' in page
    assert '<a href="https://example.org/tiny">the paper</a>' in page
    assert "A text &amp; a half." in page
    assert f"<td>{slow[3]}</td>" in page
    assert page.count('src="data:image/png;base64,') == 2


def test_a_reach_list_counts_the_games_of_all_seeds(experiment: Experiment, undisturbed: Store) -> None:
    row = collect_rows(experiment, QUICK, undisturbed)[3]
    first, *lines = reach_list(row).splitlines()
    scores = np.concatenate([trial.scores for trial in row.trials])
    assert first == f"60\tavg = {scores.mean():.0f}, max = {scores.max()}"
    ended = 0.0
    for line in lines:
        match = re.fullmatch(r"\t(\d+)\t([\d.]+)%\t\(([\d.]+)%\)", line)
        assert match is not None
        tile, reached, share = int(match[1]), float(match[2]), float(match[3])
        games = [tiles for trial in row.trials for tiles in trial.tiles.tolist()]
        assert reached == pytest.approx(100 * sum(largest >= tile for largest in games) / 60, abs=0.05)
        ended += share
    assert ended == pytest.approx(100, abs=0.5)
    assert make_report(experiment, QUICK, undisturbed).lists["random"] == reach_list(row)


def test_a_curve_is_the_mean_over_the_seeds(experiment: Experiment, undisturbed: Store) -> None:
    row = collect_rows(experiment, QUICK, undisturbed)[0]
    axes = draw_figure("curve-score", [row]).axes[0]
    line = next(line for line in axes.lines if line.get_label() == "plain")
    curves = [trial.training["curve"] for trial in row.trials if trial.training]
    assert line.get_xdata() == pytest.approx([point["games"] for point in curves[0]])
    means = [np.mean([curve[i]["score_mean"] for curve in curves]) for i in range(len(curves[0]))]
    assert line.get_ydata() == pytest.approx(means)
    dotted = [np.unique(line.get_ydata()).tolist() for line in axes.lines if line.get_linestyle() == ":"]
    assert dotted == [[900.0], []], "the paper's score, and the line of the legend"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("training games", "mean score")
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["plain", "the paper, after training"]


def test_a_curve_in_per_cent_of_perfect(experiment: Experiment, undisturbed: Store) -> None:
    """Perfect play scores 5,468.49 on the board of 3x3."""
    row = collect_rows(experiment, QUICK, undisturbed)[0]
    scores, shares = (draw_figure(name, [row]).axes[0].lines[0] for name in ("curve-score", "curve-of-perfect"))
    assert np.asarray(shares.get_ydata()) == pytest.approx(np.asarray(scores.get_ydata()) / 54.68486797410302)


def test_trainings_without_a_curve_say_so(experiment: Experiment, undisturbed: Store) -> None:
    random_moves = collect_rows(experiment, QUICK, undisturbed)[3:]
    axes = draw_figure("curve-length", random_moves).axes[0]
    assert [text.get_text() for text in axes.texts] == ["too few games for a curve"]
    assert axes.get_legend() is None


def test_points_are_drawn_with_their_intervals() -> None:
    rows = [
        RowResult(
            Row(f"{x} rollouts", series="score", x=x),
            f"{x} rollouts",
            (),
            {"win": Cell(Estimate(rate, rate - 0.1, rate + 0.2), Estimate(0.5, None, None))},
        )
        for x, rate in ((50, 0.2), (100, 0.4))
    ]
    axes = draw_figure("points-win", rows).axes[0]
    ours, paper = axes.containers
    assert (ours.get_label(), paper.get_label()) == ("score: here", "score: paper")
    line, _, (bars,) = ours.lines  # type: ignore[attr-defined]
    assert line.get_xdata().tolist() == [50, 100]
    assert line.get_ydata().tolist() == [20, 40], "in percent"
    assert [sorted(segment[:, 1]) for segment in bars.get_segments()] == [
        pytest.approx([10, 40]),
        pytest.approx([30, 60]),
    ]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("rollouts per move", "win rate, %")


def test_rows_of_the_same_label_are_told_apart_by_their_series(experiment: Experiment) -> None:
    rows = (Row("50", series="sum, true rules"), Row("50", series="score, true rules"), Row("100", series="sum"))
    same = dataclasses.replace(experiment, rows=rows)
    assert [same.row_name(row) for row in rows] == ["sum: 50", "score: 50", "100"]


def test_claims_are_tested_pair_by_pair_over_the_seeds(experiment: Experiment, undisturbed: Store) -> None:
    report = make_report(experiment, QUICK, undisturbed)
    rows = {row.name: row for row in collect_rows(experiment, QUICK, undisturbed)}
    (line,) = report.tests.lines
    differences = [
        a.score.value - b.score.value for a, b in zip(*(rows[n].trials for n in ("plain", "random")), strict=True)
    ]
    assert line[:3] == ["plain", "random", "mean score"]
    assert line[5].startswith(f"{np.mean(differences):+,.0f} ± ")
    assert line[5].endswith("(paired)")


def test_intervals_of_rates_are_on_a_line_of_their_own() -> None:
    page = html_table(Table([Column("row"), Column("rate")], [["a (b)", "7.0 % (4.2 – 11.4) ≠"]]))
    assert "<td>a (b)</td><td>7.0 % ≠<br><small>(4.2 – 11.4)</small></td>" in page


def test_a_table_without_groups_has_one_line_of_headings() -> None:
    assert html_table(Table([Column("a"), Column("b")], [["1", "2"]])).count("<tr>") == 2


def test_every_training_game_of_a_deep_network_is_a_point() -> None:
    tiles = [64, 128, 64, 256]
    training = {"games": 4, "moves": 9, "seconds": 1.0, "curve": [], "stages": [], "largest_tiles": tiles}
    row = RowResult(Row("CNN"), "CNN", (SimpleNamespace(training=training),), {})  # type: ignore[arg-type]
    axes = draw_figure("scatter-largest", [row]).axes[0]
    points = axes.collections[0].get_offsets()
    assert np.asarray(points).tolist() == [[1, 64], [2, 128], [3, 64], [4, 256]]
    assert axes.get_title() == "CNN"


def test_the_maxima_of_a_stage_are_those_of_its_share_of_games() -> None:
    curve = [
        {"games": 10.0 * i, "moves": 1.0, "score_mean": 5.0, "score_max": 100.0, "share_max": 40.0, "stage": 1}
        for i in (1, 2)
    ]
    training = {"games": 20, "moves": 9, "seconds": 1.0, "curve": curve, "stages": []}
    row = RowResult(Row("stages"), "stages", (SimpleNamespace(training=training),), {})  # type: ignore[arg-type]
    assert draw_figure("curve-max", [row]).axes[0].lines[0].get_ydata().tolist() == [40, 40]  # type: ignore[union-attr]
