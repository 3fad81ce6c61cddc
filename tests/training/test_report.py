"""Figures and reports of a run: what they show is what the run's files say."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

from tests.training.sessions import tiny, train
from tilewright import evaluate, make_agent, make_game
from tilewright._core.plots import BLUE, SOFT
from tilewright.errors import FileError
from tilewright.ntuple.model import Model, load_model
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.training.report import draw_curve, draw_tiles, full_rows, save_curve, summarise, write_report
from tilewright.training.run_folder import CurvePoint, EvaluationPoint, RunFolder, StagePoint


def point(games: int, stage: int = 1, win_rate: float = 0.0, window: int = 100) -> CurvePoint:
    return CurvePoint(games, games / 10, 50 * games, window, 10.0 * games, 99, win_rate, 1.0, stage)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """Two stages, wins in the second, two evaluations, and a last row of 30 games."""
    folder = RunFolder(tmp_path)
    rows = [point(100), point(200), point(300, 2, 0.25), point(400, 2, 0.5), point(430, 2, 1.0, window=30)]
    for row in rows:
        folder.append(row)
    folder.append(StagePoint(2, 210, 21.0, 50, 80, 1234.5))
    for games in (150, 350):
        folder.append(EvaluationPoint(games, games / 10, 20, 10.0 * games, 9.0 * games, 12.0 * games, 0.5))
    tiny().save(folder.config_file)
    return folder


def test_moves_of_games_that_are_not_over_count(folder: RunFolder) -> None:
    """A deep network has learned from them, and no row of the curve has them."""
    origin = {"games": "430", "moves": "21999", "seconds": "44.0"}
    shape = NTupleArchitecture(("01",), symmetric=False)
    weights = np.zeros(shape.table_size, np.float32)
    Model(make_game("2048"), shape, "afterstate", weights, origin=origin).save(folder.model_file)
    assert summarise(folder) == "430 games and 21,999 moves of training in 44 s."


def numbers(data: Any) -> list[float]:
    """The coordinates of a line, which matplotlib types very widely."""
    return [float(value) for value in data]


def lines_of(axes: Axes) -> dict[str, tuple[list[float], list[float]]]:
    """The data of the lines with a label."""
    found = {str(line.get_label()): line for line in axes.get_lines() if not str(line.get_label()).startswith("_")}
    return {label: (numbers(line.get_xdata()), numbers(line.get_ydata())) for label, line in found.items()}


def test_the_figure_shows_training_evaluations_stages_and_wins(folder: RunFolder) -> None:
    axes, wins = draw_curve(folder).get_axes()
    assert (axes.get_xlabel(), axes.get_ylabel(), wins.get_ylabel()) == (
        "games of training",
        "mean score",
        "won, % (dashed)",
    )
    lines = lines_of(axes)
    assert lines["training games"] == ([100, 200], [1000, 2000])
    assert lines["the previous stage, from the same boards"] == ([210, 400], [1234.5, 1234.5])
    blue = [line for line in axes.get_lines() if to_hex(line.get_color()) == BLUE]
    assert [numbers(line.get_xdata()) for line in blue] == [[100, 200], [300, 400]]  # no line from stage to stage
    [errorbar] = axes.containers
    assert errorbar.get_label() == "evaluations"
    assert numbers(errorbar[0].get_xdata()) == [150, 350]
    segments = errorbar[2][0].get_segments()
    assert [[tuple(end) for end in segment] for segment in segments] == [
        [(150, 1350), (150, 1800)],
        [(350, 3150), (350, 4200)],
    ]
    assert [text.get_text() for text in axes.texts] == [" stage 2"]
    [dashed] = wins.get_lines()
    assert (dashed.get_linestyle(), to_hex(dashed.get_color())) == ("--", SOFT)
    assert numbers(dashed.get_ydata()) == [0, 0, 25, 50]
    legend = axes.get_legend()
    assert legend is not None
    assert sorted(text.get_text() for text in legend.get_texts()) == [
        "evaluations",
        "the previous stage, from the same boards",
        "training games",
    ]


def test_tick_labels_of_large_numbers_are_short(folder: RunFolder) -> None:
    axes = draw_curve(folder).get_axes()[0]
    format_tick = axes.yaxis.get_major_formatter()
    assert [format_tick(value) for value in (0, 500, 20_000, 1_500_000)] == ["0", "500", "20 k", "1.5 M"]


def test_a_run_without_games_has_empty_axes(tmp_path: Path) -> None:
    [axes] = draw_curve(RunFolder(tmp_path)).get_axes()
    assert axes.get_lines()[:] == []
    assert axes.get_legend() is None


def test_an_evaluation_outside_its_own_interval_is_drawn(folder: RunFolder) -> None:
    folder.append(EvaluationPoint(900, 9.0, 10, 100.0, 150.0, 50.0, 0.5))
    draw_curve(folder)


def test_a_last_row_of_few_games_is_left_out_unless_it_is_the_only_one() -> None:
    rows = [point(100), point(200), point(230, window=30)]
    assert full_rows(rows) == rows[:2]
    assert full_rows(rows[:2]) == rows[:2]
    assert full_rows(rows[2:]) == rows[2:]
    assert full_rows([]) == []


def test_the_tiles_are_those_of_the_evaluation() -> None:
    game = tiny().make_game()
    evaluation = evaluate(make_agent("random"), game, games=50, seed=3)
    [axes] = draw_tiles(evaluation).get_axes()
    tiles = [game.value(code) for code in evaluation.codes.tolist()]
    labels = [label.get_text() for label in axes.get_xticklabels()]
    heights = {int(label): bar.get_height() for label, bar in zip(labels, axes.patches, strict=True)}  # type: ignore[attr-defined]
    assert {tile: height for tile, height in heights.items() if height} == {
        tile: pytest.approx(100 * tiles.count(tile) / 50) for tile in {*tiles}
    }
    assert [text.get_text() for text in axes.texts] == [f"{height:.1f}" for height in heights.values()]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("largest tile", "games, %")


def test_the_curve_is_saved_as_an_image(folder: RunFolder) -> None:
    save_curve(folder)
    content = folder.curve_file.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(content[start : start + 4], "big") for start in (16, 20))
    assert width > height > 300


def test_the_report_states_totals_players_and_configuration(folder: RunFolder) -> None:
    game = tiny().make_game()
    results = [evaluate(make_agent(name), game, games=20, seed=1) for name in ("greedy", "random")]
    path = write_report(folder, results)
    text = path.read_text()
    assert "<p>430 games and 21,500 moves of training in 43 s.</p>" in text
    assert re.findall("<h2>(.*?)</h2>", text) == [
        "Learning curve",
        "Players",
        "Largest tiles of greedy",
        "Configuration",
    ]
    assert re.findall(r'<img alt="([^"]*)"', text) == [
        "Mean score against games of training",
        "Largest tiles of greedy",
    ]
    rows = re.findall(r"<tr><td>(.*?)</td></tr>", text)
    for row, result in zip(rows, results, strict=True):
        agent, games, mean, margin, won, tile = row.split("</td><td>")
        assert result.score.margin is not None
        assert result.win_rate is not None
        assert (agent, games, mean) == (result.agent, "20", f"{result.score.value:,.0f}")
        assert (margin, won) == (f"{result.score.margin:,.0f}", f"{100 * result.win_rate.value:.1f} %")
        assert tile == f"{max(result.reach):,}"
    assert "game = &quot;2048:rows=3,columns=3,win_tile=64&quot;" in text
    assert not re.search(r"https?:|<script|<link|@import|url\(", text)


def test_the_report_of_a_run_states_the_totals_of_its_model(tmp_path: Path) -> None:
    folder = train(tiny(games=310), tmp_path / "a <b> & c").folder
    text = write_report(folder).read_text()
    origin = load_model(folder.model_file).origin
    assert "<title>a &lt;b&gt; &amp; c</title>" in text
    assert f"<p>{int(origin['games']):,} games and {int(origin['moves']):,} moves of training in " in text
    assert origin["games"] == "310"


def test_a_folder_without_a_run_has_no_report(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no config"):
        write_report(RunFolder(tmp_path))
