"""Experiments with deep networks: the same jobs, reports and resumption as with any other."""

from pathlib import Path

import numpy as np
import pytest

from tests.deep.small import AFTERSTATE, SMALL, train
from tests.reproduce.test_suite import InterruptAfter
from tilewright.agents import make_agent
from tilewright.games import make_game
from tilewright.play.evaluate import evaluate
from tilewright.reproduce.experiments import Experiment, Row, Scale, Stated
from tilewright.reproduce.figures import CURVES
from tilewright.reproduce.report import make_report, write_markdown, write_page
from tilewright.reproduce.results import find_all
from tilewright.reproduce.store import Store
from tilewright.reproduce.suite import FIRST_TEST, pieces_of, run_suite

SCALE = Scale("quick", tests=40, steps=512)


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    folder = tmp_path_factory.mktemp("recipes")
    SMALL.save(folder / "dqn.toml")
    AFTERSTATE.save(folder / "afterstate.toml")
    rows = (
        Row("dqn", str(folder / "dqn.toml"), paper={"ends-16": Stated(0.5, 0.0)}),
        Row("afterstate", str(folder / "afterstate.toml")),
    )
    return Experiment(
        "deep", "Deep", "table", "Table", "", columns=("score", "largest", "ends-4", "ends-8", "ends-16", "ends-32"),
        figures=tuple(CURVES), rows=rows, scales={"quick": SCALE, "full": SCALE}, paper_games=100,
    )  # fmt: skip


def test_a_row_is_what_training_and_testing_by_hand_give(experiment: Experiment, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    run_suite(pieces_of(experiment, SCALE), store, workers=2)
    found = find_all(experiment, SCALE, store)
    for one, config in zip(found, (SMALL, AFTERSTATE), strict=True):
        folder = tmp_path / config.algorithm
        session = train(pieces_of(experiment, SCALE)[found.index(one)].training.config, folder)  # type: ignore[union-attr, arg-type]
        agent = make_agent(f"{config.algorithm}:model={session.folder.model_file}")
        played = evaluate(agent, make_game(config.game), games=40, seed=FIRST_TEST, threads=1)
        assert np.array_equal(played.scores, one.samples[0].scores)
        assert one.samples[0].training["moves"] == 512  # type: ignore[index]
        ends = [one.cells[f"ends-{tile}"].ours for tile in (4, 8, 16, 32)]
        assert sum(rate.value for rate in ends if rate) == 1
    page = write_page(make_report(experiment, SCALE, store), tmp_path / "report")
    assert page.read_text().count('src="data:image/png;base64,') == len(CURVES)


def test_interrupted_the_report_is_the_same(experiment: Experiment, tmp_path: Path) -> None:
    for name, signs in (("undisturbed", 0), ("interrupted", 3)):
        store = Store(tmp_path / name)
        if signs:
            with pytest.raises(KeyboardInterrupt):
                run_suite(pieces_of(experiment, SCALE), store, workers=2, observer=InterruptAfter(signs))
        run_suite(pieces_of(experiment, SCALE), store, workers=2)
        write_markdown(make_report(experiment, SCALE, store), tmp_path / f"{name}-report")
    first, second = ((tmp_path / f"{name}-report" / "report.md").read_text() for name in ("undisturbed", "interrupted"))
    assert first == second
