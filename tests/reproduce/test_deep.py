"""Experiments with deep networks: the same jobs, reports and resumption as with n-tuple networks."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.deep.small import AFTERSTATE, SMALL, train
from tests.reproduce.tiny import InterruptAfter
from tilewright.agents import make_agent
from tilewright.games import make_game
from tilewright.play.evaluate import evaluate
from tilewright.reproduce.experiments import Experiment, PaperValue, Row, Scale
from tilewright.reproduce.figures import CURVES, draw_figure
from tilewright.reproduce.report import make_report, write_html, write_markdown
from tilewright.reproduce.results import collect_rows
from tilewright.reproduce.store import Store
from tilewright.reproduce.suite import FIRST_EVALUATION_SEED, plan_trials, run_suite
from tilewright.training.run_folder import DeepPoint

SCALE = Scale("quick", evaluation_games=40, training_steps=512)


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    folder = tmp_path_factory.mktemp("configs")
    SMALL.save(folder / "dqn.toml")
    AFTERSTATE.save(folder / "afterstate.toml")
    rows = (
        Row("dqn", str(folder / "dqn.toml"), paper={"ends-16": PaperValue(0.5, 0.0)}),
        Row("afterstate", str(folder / "afterstate.toml")),
    )
    return Experiment(
        "deep", "Deep", "table", "Table", "", columns=("score", "largest", "ends-4", "ends-8", "ends-16", "ends-32"),
        figures=tuple(CURVES), rows=rows, scales={"quick": SCALE, "full": SCALE}, paper_games=100,
    )  # fmt: skip


def test_a_row_is_what_training_and_evaluating_by_hand_give(experiment: Experiment, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    trials = plan_trials(experiment, SCALE)
    run_suite(trials, store, workers=2)
    rows = collect_rows(experiment, SCALE, store)
    for trial, row, config in zip(trials, rows, (SMALL, AFTERSTATE), strict=True):
        folder = tmp_path / config.algorithm
        session = train(trial.training.config, folder)  # type: ignore[union-attr, arg-type]
        agent = make_agent(f"{config.algorithm}:model={session.folder.model_file}")
        played = evaluate(agent, make_game(config.game), games=40, seed=FIRST_EVALUATION_SEED, threads=1)
        (result,) = row.trials
        assert np.array_equal(played.scores, result.scores)
        assert result.training is not None
        assert result.training["moves"] == 512
        ends = [row.cells[f"ends-{tile}"].ours for tile in (4, 8, 16, 32)]
        assert sum(rate.value for rate in ends if rate) == 1
        points: list[Any] = session.points
        line = draw_figure("curve-largest", [row]).axes[0].lines[0]
        assert line.get_xdata() == pytest.approx([point.moves for point in points]), "deep networks count moves"
        largest = [point.largest for point in points if isinstance(point, DeepPoint)]
        assert line.get_ydata() == pytest.approx(largest)
    page = write_html(make_report(experiment, SCALE, store), tmp_path / "report")
    assert page.read_text().count('src="data:image/png;base64,') == len(CURVES)


def test_interrupted_the_report_is_the_same(experiment: Experiment, tmp_path: Path) -> None:
    for name, signs in (("undisturbed", 0), ("interrupted", 3)):
        store = Store(tmp_path / name)
        if signs:
            with pytest.raises(KeyboardInterrupt):
                run_suite(plan_trials(experiment, SCALE), store, workers=2, callback=InterruptAfter(signs))
        run_suite(plan_trials(experiment, SCALE), store, workers=2)
        write_markdown(make_report(experiment, SCALE, store), tmp_path / f"{name}-report")
    first, second = ((tmp_path / f"{name}-report" / "report.md").read_text() for name in ("undisturbed", "interrupted"))
    assert first == second
