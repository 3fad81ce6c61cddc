"""Sweeps: every combination and seed is trained and evaluated once, and the tables say all of it."""

import csv
import dataclasses
import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from tests.reproduce.tiny import GAME, InterruptAfter, RecordingCallback
from tests.training.sessions import tiny, train
from tilewright.agents import make_agent
from tilewright.agents.base import Agent
from tilewright.errors import ConfigError, FileError, JobsFailedError, MissingExtraError, SpecError, UsageError
from tilewright.games import make_game
from tilewright.games.board import Board
from tilewright.play.evaluate import evaluate
from tilewright.reproduce.runner import load_results, run_experiments
from tilewright.reproduce.suite import FIRST_EVALUATION_SEED, SEEDS_PER_TRIAL
from tilewright.reproduce.sweep import SweepResult, sweep
from tilewright.rng import Stream

OVER: dict[str, list[Any]] = {"alpha": [0.25, 0.5], "step_size": ["fixed", "tc"]}
CONFIG = tiny(lambda_=0.0, games=60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sweep")


@pytest.fixture(scope="module")
def result(folder: Path) -> SweepResult:
    return sweep(CONFIG, OVER, seeds=2, evaluate_games=110, out=folder, threads=2, n_step=3)


def test_there_is_a_row_for_every_combination_and_seed(result: SweepResult) -> None:
    columns = result.to_dict()
    combinations = list(zip(columns["alpha"], columns["step_size"], columns["seed"], strict=True))
    assert combinations == [(a, s, seed) for a in OVER["alpha"] for s in OVER["step_size"] for seed in (0, 1)]
    assert set(columns["n_step"]) == {3}
    assert set(columns["games"]) == {110}
    assert set(columns["training_games"]) == {60}
    assert all(value is not None for value in columns["max100"]), "110 games have one group of 100"
    assert {len(column) for column in columns.values()} == {8}


def test_a_row_is_what_training_and_evaluating_by_hand_give(result: SweepResult, tmp_path: Path) -> None:
    session = train(dataclasses.replace(CONFIG, alpha=0.25, step_size="tc", n_step=3, seed=1), tmp_path / "run")
    agent = make_agent("ntuple", model=str(session.folder.model_file))
    seed = FIRST_EVALUATION_SEED + SEEDS_PER_TRIAL
    played = evaluate(agent, make_game(GAME), games=110, seed=seed, threads=1)
    row = {name: column[3] for name, column in result.to_dict().items()}
    assert (row["alpha"], row["step_size"], row["seed"]) == (0.25, "tc", 1)
    assert (row["score_mean"], row["score_low"], row["score_high"]) == played.score
    assert (row["win_rate"], row["win_rate_low"], row["win_rate_high"]) == played.win_rate
    assert row["score_median"] == np.median(played.scores)
    assert row["moves"] == played.moves.sum()


def test_run_folders_have_readable_names(result: SweepResult, folder: Path) -> None:
    assert sorted(path.name for path in (folder / "trainings").iterdir()) == [
        f"tuples_alpha={alpha}_step_size={step_size}_n_step=3_seed={seed}"
        for alpha in ("0.25", "0.5") for step_size in ("fixed", "tc") for seed in (0, 1)
    ]  # fmt: skip
    for path in result.to_dict()["run_folder"]:
        assert (folder / str(path) / "model.safetensors").is_file()
        # No character that a spec or a shell would take for something else.
        make_agent(f"ntuple:model={path}/model.safetensors")


def test_results_that_are_there_are_used_again(result: SweepResult, folder: Path) -> None:
    callback = RecordingCallback()
    again = sweep(CONFIG, OVER, seeds=2, evaluate_games=110, out=str(folder), threads=1, callback=callback, n_step=3)
    assert callback.missing == []
    assert again.to_dict() == result.to_dict()
    callback = RecordingCallback()
    more = sweep(
        CONFIG, {**OVER, "alpha": [0.5, 0.125]}, seeds=1, evaluate_games=110, out=folder, callback=callback, n_step=3
    )
    assert len(callback.planned) == 8
    assert len(callback.missing) == 4, "alpha = 0.5 is known already"
    assert more.report != result.report


def test_a_sweep_that_was_interrupted_gives_the_same_table(result: SweepResult, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        sweep(CONFIG, OVER, seeds=2, evaluate_games=110, out=tmp_path, threads=2, callback=InterruptAfter(5), n_step=3)
    again = sweep(CONFIG, OVER, seeds=2, evaluate_games=110, out=tmp_path, threads=2, n_step=3).to_dict()
    times = {"seconds", "training_seconds", "date"}
    before = result.to_dict()
    assert {name: again[name] for name in again if name not in times} == {
        name: before[name] for name in before if name not in times
    }


def test_the_report_compares_the_combinations(result: SweepResult) -> None:
    text = result.report.with_name("report.md").read_text()
    title, date, remarks = text.split("\n\n")[:3]
    assert title == "# Sweep of tuples, alpha, step_size"
    assert date.startswith("results of 2")
    assert remarks.startswith("2 trainings of each combination, evaluated with 110")
    rows = [line.split(" | ")[0] for line in text.splitlines() if line.startswith("| alpha")]
    assert rows == [f"| alpha = {alpha}, step_size = {s}" for alpha in ("0.25", "0.5") for s in ("fixed", "tc")]
    assert "paper" not in text


def test_csv_parquet_and_data_frames_say_the_same(result: SweepResult, folder: Path, tmp_path: Path) -> None:
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    columns = result.to_dict()
    result.to_csv(tmp_path / "trials.csv")
    result.to_csv(str(tmp_path / "trials.parquet"))
    for table in (
        result.to_frame(),
        pandas.read_csv(tmp_path / "trials.csv"),
        pandas.read_csv(result.report.with_name("trials.csv")),
        pandas.read_parquet(tmp_path / "trials.parquet"),
    ):
        assert list(table.columns) == list(columns)
        for name, values in columns.items():
            found = [None if pandas.isna(value) else value for value in table[name]]
            assert found == (pytest.approx(values) if isinstance(values[0], float) else values)


def test_the_results_of_a_folder_are_loaded_with_the_same_columns(result: SweepResult, tmp_path: Path) -> None:
    sweep(CONFIG, {"alpha": [0.5]}, evaluate_games=20, out=tmp_path)
    run_experiments(["goenawan-2020/table-2"], out=tmp_path, threads=2)
    columns = load_results(tmp_path).to_dict()
    assert columns["experiment"] == [*columns["experiment"][:1], "goenawan-2020/table-2", "goenawan-2020/table-2"]
    assert str(columns["experiment"][0]).startswith("sweep/tuples_alpha_")
    assert columns["row"] == ["alpha = 0.5", "random, the authors' rules", "random, true rules"]
    assert columns["alpha"] == [0.5, None, None]
    assert columns["games"] == [20, 100, 100]
    fixed = [name for name in result.to_dict() if not name.startswith("reach_") and name not in ("step_size", "n_step")]
    assert [name for name in columns if not name.startswith("reach_")] == fixed


def test_without_pandas_or_pyarrow_the_pip_line_is_named(
    result: SweepResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"pip install pandas$"):
        result.to_frame()
    with pytest.raises(MissingExtraError, match=r"pip install pyarrow$"):
        result.to_csv(tmp_path / "trials.parquet")
    result.to_csv(tmp_path / "trials.csv")
    with (tmp_path / "trials.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["score_mean"] for row in rows] == [str(mean) for mean in result.to_dict()["score_mean"]]


def test_the_plot_has_a_line_for_every_combination_of_the_other_keys(result: SweepResult) -> None:
    axes = result.plot()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("alpha", "mean score")
    assert [container.get_label() for container in axes.containers] == ["step_size = fixed", "step_size = tc"]
    means = np.array(result.to_dict()["score_mean"], np.float64).reshape(2, 2, 2).mean(axis=2)  # alpha, step_size
    for i, container in enumerate(axes.containers):
        line = container.lines[0]  # type: ignore[attr-defined]
        assert line.get_xdata().tolist() == [0.25, 0.5]
        assert line.get_ydata() == pytest.approx(means[:, i])
    by_name = dataclasses.replace(result, over=dict(reversed(OVER.items()))).plot("win")
    assert (by_name.get_xlabel(), by_name.get_ylabel()) == ("step_size", "win rate")
    assert [label.get_text() for label in by_name.get_xticklabels()] == ["fixed", "tc"]
    with pytest.raises(UsageError, match="column 'wins'"):
        result.plot("wins")


def test_a_result_shows_the_best_combination(result: SweepResult) -> None:
    means = np.array(result.to_dict()["score_mean"], np.float64).reshape(4, 2).mean(axis=1)
    alpha, step_size = divmod(int(means.argmax()), 2)
    best = {"alpha": OVER["alpha"][alpha], "step_size": OVER["step_size"][step_size]}
    assert result.best == best
    assert repr(result) == (
        "SweepResult(tuples over alpha, step_size: 8 trials; best: "
        f"alpha={best['alpha']}, step_size={best['step_size']} with mean score {means.max():,.0f})"
    )
    page = result._repr_html_()
    assert page.startswith('<div class="wide"><table><thead><tr><th>alpha</th><th>step_size</th><th>mean score</th>')
    assert page.count("<tr>") == 5


def test_keys_with_the_name_of_another_column_get_a_prefix(tmp_path: Path) -> None:
    found = sweep(CONFIG, {"games": [30, 60]}, evaluate_games=20, out=tmp_path)
    columns = found.to_dict()
    assert (columns["config.games"], columns["games"], columns["training_games"]) == ([30, 60], [20, 20], [30, 60])
    assert found.best == {"games": columns["config.games"][int(np.argmax(columns["score_mean"]))]}  # type: ignore[arg-type]


def test_the_length_of_the_trainings_can_be_set(tmp_path: Path) -> None:
    columns = sweep(CONFIG, {"alpha": [0.25]}, evaluate_games=20, out=tmp_path, games=40).to_dict()
    assert (columns["training_games"], columns["config.games"], columns["games"]) == ([40], [40], [20])


def test_lists_are_values_and_failures_are_told(tmp_path: Path) -> None:
    config = tiny(lambda_=0.0, games=90, start_pool=10, stages=("16",))
    found = sweep(config, {"stages": [["16"], ["4096"]]}, evaluate_games=20, out=tmp_path)
    assert found.to_dict()["stages"] == ['["16"]']
    (failure,) = found.failures
    assert failure.label == "stages = ['4096']: training"
    assert "1 trials, 1 failed job;" in repr(found)
    with pytest.raises(JobsFailedError, match=r"^stages = \['4096'\]: training: none of "):
        sweep(config, {"stages": [["4096"]]}, evaluate_games=20, out=tmp_path)  # the failed training is resumed


@dataclasses.dataclass(frozen=True)
class OwnAgent(Agent):
    """An agent of a user: counts the free cells after a move, and remembers which model it was given."""

    name: ClassVar[str] = "own"
    model: str = ""

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        assert Path(self.model).is_file()
        moves = {move: board.game.slide(board, move)[0] for move in board.game.legal(board)}
        return {move: sum(row.count(0) for row in after.tiles) for move, after in moves.items()}


def test_an_agent_of_ones_own_is_evaluated_with_the_trained_model(tmp_path: Path) -> None:
    spec = f"{__name__}:OwnAgent,model={{model}}"
    found = sweep(CONFIG, {"alpha": [0.25, 0.5]}, evaluate_games=20, agent=spec, out=tmp_path).to_dict()
    assert found["agent"] == [spec, spec]
    model = tmp_path / str(found["run_folder"][0]) / "model.safetensors"
    played = evaluate(OwnAgent(model=str(model)), GAME, games=20, seed=FIRST_EVALUATION_SEED)
    assert found["score_mean"] == [played.score.value] * 2, "it plays the same, whatever was trained"


def test_presets_files_and_configurations_are_sources(tmp_path: Path) -> None:
    CONFIG.save(tmp_path / "mine.toml")
    sources: list[Any] = [tmp_path / "mine.toml", str(tmp_path / "mine.toml"), CONFIG]
    tables = [
        sweep(source, {"alpha": [0.5]}, evaluate_games=20, out=tmp_path / f"out{i}", lambda_=0.25).to_dict()
        for i, source in enumerate(sources)
    ]
    assert [table["config"] for table in tables] == [["mine"], ["mine"], ["tuples"]]
    assert tables[0]["score_mean"] == tables[1]["score_mean"] == tables[2]["score_mean"]
    assert tables[0]["lambda"] == [0.25]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"over": {}}, ConfigError, r"over = \{\}: must have at least one key with a list of values"),
        ({"over": ["alpha"]}, ConfigError, r"over = \['alpha'\]: must have at least one key with a list of values"),
        ({"over": {"alpha": 0.5}}, ConfigError, "over: alpha = 0.5: must be a list of values"),
        ({"over": {"step_size": "tc"}}, ConfigError, "over: step_size = 'tc': must be a list of values"),
        ({"over": {"alpha": []}}, ConfigError, r"over: alpha = \[\]: must be a list of values"),
        ({"over": {"alpha": [1.0, 1.0]}}, ConfigError, r"over: alpha = \[1.0, 1.0\]: has a value twice"),
        ({"over": {"alpha": [3.0]}}, ConfigError, "alpha = 3.0: must be"),
        ({"over": {"alphas": [1.0]}}, ConfigError, r"unknown key 'alphas' \(did you mean 'alpha'"),
        ({"over": {"seed": [1]}}, ConfigError, "seed: a sweep chooses the seeds itself; seeds is their number"),
        ({"minutes": 1.0}, ConfigError, "minutes: cannot be chosen"),
        ({"alpha": 1.0}, ConfigError, "alpha: is varied and set at the same time"),
        (
            {"config": "minute"},
            ConfigError,
            "trains for 1.1 minutes; a sweep needs a number of games, such as games=5000",
        ),
        ({"config": 7}, ConfigError, "7: must be the name of a preset, the path of a file, or a configuration"),
        ({"config": "minutes"}, ConfigError, r"there is no preset or file 'minutes' \(did you mean 'minute'"),
        ({"agent": "random"}, SpecError, r"agent random: must have an option with the value \{model\}"),
        ({"agent": "ntuples:model={model}"}, SpecError, "there is no agent 'ntuples'"),
        ({"seeds": 0}, UsageError, "seeds = 0: must be a whole number of at least 1"),
        ({"evaluate_games": "10"}, UsageError, "evaluate_games = '10': must be a whole number of at least 1"),
        ({"threads": 0}, UsageError, "threads=0: at least one is needed"),
        ({"out": "a,b"}, UsageError, "a,b: a folder of results must not have a comma in its name"),
    ],
)
def test_a_wrong_argument_is_one_sentence(
    tmp_path: Path, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    arguments: dict[str, Any] = {"config": CONFIG, "over": {"alpha": [0.5]}, "out": tmp_path} | options
    with pytest.raises(error, match=message) as raised:
        sweep(**arguments)
    assert "\n" not in str(raised.value)


def test_a_folder_without_results_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="nowhere: there is no such folder"):
        load_results(tmp_path / "nowhere")
    with pytest.raises(FileError, match=r"results\.sqlite: no trial is finished"):
        load_results(tmp_path)
