"""The results of an evaluation as estimates, tables, files, plots and text."""

import csv
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from tilewright import Evaluation, UsageError, evaluate, make_game
from tilewright.errors import FileError, MissingExtraError
from tilewright.games.episode import Episode
from tilewright.play.recording import read_games
from tilewright.play.statistics import mean_of


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Evaluation, Path]:
    """An evaluation, and the recordings of its games."""
    path = tmp_path_factory.mktemp("games") / "games.jsonl"
    return evaluate("greedy", "2048:win_tile=128", games=40, seed=3, record=path), path


def made(
    scores: list[int], codes: list[int], game: str = "2048", seed: int = 0, numbers: list[int] | None = None
) -> Evaluation:
    """An evaluation of invented games."""
    moves = np.full(len(scores), 10, np.int64)
    given = None if numbers is None else np.array(numbers, np.int64)
    return Evaluation("mine", make_game(game), seed, 1, np.array(scores), moves, np.array(codes), 2.0, given)


def test_the_columns_are_those_of_the_recorded_games(recorded: tuple[Evaluation, Path]) -> None:
    result, path = recorded
    games = list(read_games(path))
    largest = [max(max(row) for row in game.board(-1).tiles) for game in games]
    assert result.to_dict() == {
        "number": [game.number for game in games],
        "seed": [3] * 40,
        "score": [game.score for game in games],
        "moves": [len(game.actions) for game in games],
        "largest_tile": largest,
        "won": [tile >= 128 for tile in largest],
    }


def test_games_without_a_winning_tile_are_neither_won_nor_lost() -> None:
    assert evaluate("random", "threes", games=3).to_dict()["won"] == [None, None, None]


def test_a_frame_has_one_row_per_game(recorded: tuple[Evaluation, Path]) -> None:
    result, _ = recorded
    frame = result.to_frame()
    assert frame.shape == (40, 6)
    assert frame.to_dict("list") == result.to_dict()
    assert frame["score"].mean() == result.score.value


def test_without_pandas_the_message_names_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pip install pandas"):
        made([1], [1]).to_frame()


@pytest.mark.parametrize("kind", [str, Path])
def test_csv_has_one_row_per_game(recorded: tuple[Evaluation, Path], kind: type, tmp_path: Path) -> None:
    result, _ = recorded
    result.to_csv(kind(tmp_path / "games.csv"))
    rows = list(csv.DictReader((tmp_path / "games.csv").read_text().splitlines()))
    assert list(rows[0]) == ["number", "seed", "score", "moves", "largest_tile", "won"]
    assert [int(row["score"]) for row in rows] == result.scores.tolist()
    assert [row["won"] for row in rows] == [str(won) for won in result.to_dict()["won"]]


def test_a_name_that_ends_in_parquet_gets_parquet(recorded: tuple[Evaluation, Path], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    recorded[0].to_csv(tmp_path / "games.parquet")
    assert parquet.read_table(tmp_path / "games.parquet").to_pydict() == recorded[0].to_dict()


def test_a_table_that_cannot_be_written_says_why() -> None:
    with pytest.raises(FileError, match="cannot be written"):
        made([1], [1]).to_csv("/dev/null/games.csv")


def test_the_plot_shows_the_percentage_of_each_largest_tile() -> None:
    axes = Figure().add_subplot()
    assert made([1] * 8, [5, 5, 5, 7, 7, 7, 7, 8]).plot(axes) is axes
    heights = [bar.get_height() for bar in axes.patches]  # type: ignore[attr-defined]
    assert heights == [37.5, 0.0, 50.0, 12.5]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["32", "64", "128", "256"]
    assert [text.get_text() for text in axes.texts] == ["37.5", "0.0", "50.0", "12.5"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("largest tile", "games, %")


def test_without_axes_the_plot_is_a_pyplot_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    axes = made([1, 2], [5, 6]).plot()
    assert axes.figure is pyplot.gcf()
    pyplot.close("all")


def test_the_repr_is_one_short_line() -> None:
    assert repr(made([1000, 2000, 3000], [10, 11, 11])) == (
        "<Evaluation mine on 2048: 3 games, mean score 2,000 ± 2,484, 66.7 % won>"
    )
    assert repr(made([2000], [8], "threes")) == "<Evaluation mine on threes: 1 game, mean score 2,000>"


def test_a_notebook_shows_the_results_and_the_rate_of_each_tile(recorded: tuple[Evaluation, Path]) -> None:
    result, _ = recorded
    shown = result._repr_html_()
    cells = dict(re.findall(r"<tr><th>(.*?)</th><td>(.*?)</td></tr>", shown))
    assert result.win_rate is not None
    assert cells["won"] == f"{100 * result.win_rate.value:.1f} %"
    assert cells["highest score"] == f"{max(result.scores):,}"
    assert cells["mean score"] in repr(result)
    assert {f"reached {tile}" for tile in result.reach} <= set(cells)


def test_a_notebook_shows_specs_as_text() -> None:
    result = made([1], [1])
    object.__setattr__(result, "agent", "ntuple:model=<b>.safetensors")
    assert "<b>" not in result._repr_html_()


def test_a_comparison_is_the_mean_of_paired_differences() -> None:
    first, second = (evaluate(agent, games=60, seed=5) for agent in ("greedy", "random"))
    assert first.compare(second) == mean_of(first.scores - second.scores)
    assert second.compare(first).value == -first.compare(second).value
    assert first.compare(first) == (0, 0, 0)


def test_a_comparison_pairs_games_by_their_numbers() -> None:
    first = made([100, 200, 300], [5, 5, 5], numbers=[0, 2, 3])
    second = made([1, 2, 3, 4], [5, 5, 5, 5])
    assert first.compare(second) == mean_of(np.array([100 - 1, 200 - 3, 300 - 4]))


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (made([1], [1], "threes"), "on the same games, but their games are 2048 and threes"),
        (made([1], [1], seed=4), "on the same games, but their seeds are 0 and 4"),
        (made([1], [1], numbers=[7]), "the evaluations have no games in common"),
        ("greedy", "compared with an Evaluation, not with str"),
    ],
)
def test_games_that_differ_are_not_compared(other: Evaluation, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        made([1, 2], [1, 1]).compare(other)


def test_the_numbers_of_a_row_name_the_episode_that_it_describes() -> None:
    row = {name: column[2] for name, column in evaluate("greedy", "threes", games=4, seed=6).to_dict().items()}
    assert (row["number"], row["seed"]) == (2, 6)
    assert isinstance(row["seed"], int)
    assert isinstance(row["number"], int)
    assert Episode(make_game("threes"), row["seed"], row["number"]).board == Episode(make_game("threes"), 6, 2).board
