"""Suites: each job is run once, whatever interrupts them, and the report is the same in the end."""

import multiprocessing
import random
import re
from pathlib import Path

import numpy as np
import pytest

from tests.reproduce.tiny import QUICK, tiny_experiment
from tilewright.agents import make_agent
from tilewright.evaluation import evaluate
from tilewright.games import make_game
from tilewright.intervals import Estimate, mean_of
from tilewright.reproduce.experiments import Experiment
from tilewright.reproduce.findings import Cell, find_all, written
from tilewright.reproduce.jobs import Job
from tilewright.reproduce.page import make_report, write_markdown, write_page
from tilewright.reproduce.store import Store
from tilewright.reproduce.suite import FIRST_TEST, Observer, pieces_of, run_suite


class Counting(Observer):
    def __init__(self) -> None:
        self.planned = self.missing = 0
        self.finished: list[str] = []

    def on_plan(self, jobs: object, missing: object) -> None:
        self.planned, self.missing = len(jobs), len(missing)  # type: ignore[arg-type]

    def on_progress(self, job: Job, done: float) -> None:
        if done == 1:
            self.finished.append(job.key)


class InterruptAfter(Observer):
    """Ctrl-C after so many signs of progress."""

    def __init__(self, signs: int) -> None:
        self.left = signs

    def on_progress(self, job: Job, done: float) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    return tiny_experiment(tmp_path_factory.mktemp("recipes"))


@pytest.fixture(scope="module")
def undisturbed(experiment: Experiment, tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("store"))
    run_suite(pieces_of(experiment, QUICK), store, workers=2)
    return store


def report(experiment: Experiment, store: Store, folder: Path) -> str:
    return write_markdown(make_report(experiment, QUICK, store), folder).read_text()


def test_what_is_finished_is_not_run_again(experiment: Experiment, undisturbed: Store) -> None:
    counting = Counting()
    run_suite(pieces_of(experiment, QUICK), undisturbed, workers=2, observer=counting)
    assert (counting.missing, counting.finished) == (0, [])
    # Two seeds of two recipes; tests of four rows and two seeds, the slow and the untrained ones in two parts.
    assert counting.planned == 2 * 2 + 2 * (1 + 2 + 1 + 2)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_interrupted_at_any_time_the_report_is_the_same(
    experiment: Experiment, undisturbed: Store, tmp_path: Path, seed: int
) -> None:
    store, rng, interrupted = Store(tmp_path / "store"), random.Random(seed), 0
    while interrupted < 3:
        try:
            run_suite(
                pieces_of(experiment, QUICK),
                store,
                workers=rng.choice([1, 2]),
                observer=InterruptAfter(rng.randint(1, 12)),
            )
        except KeyboardInterrupt:
            interrupted += 1
        else:
            break
    assert interrupted
    run_suite(pieces_of(experiment, QUICK), store, workers=2)
    assert report(experiment, store, tmp_path / "report") == report(experiment, undisturbed, tmp_path / "other")
    assert not list(tmp_path.rglob("checkpoint.safetensors"))


def _run(experiment: Experiment, folder: Path) -> None:
    run_suite(pieces_of(experiment, QUICK), Store(folder), workers=1)


@pytest.mark.slow
def test_two_processes_at_once_make_the_same_results(
    experiment: Experiment, undisturbed: Store, tmp_path: Path
) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_run, args=(experiment, tmp_path / "store")) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    store = Store(tmp_path / "store")
    assert {job.key for job in store.all()} == {job.key for job in undisturbed.all()}
    assert report(experiment, store, tmp_path / "report") == report(experiment, undisturbed, tmp_path / "other")


def test_the_figures_are_those_of_the_games(experiment: Experiment, undisturbed: Store) -> None:
    """Random moves need no training: the same games, played again, with means over the two seeds."""
    found = find_all(experiment, QUICK, undisturbed)
    assert [one.row.label for one in found] == ["plain", "plain, slow", "staged", "random"]
    game, means = make_game("2048:rows=3,columns=3,win_tile=64"), []
    for seed in range(2):
        parts = [
            evaluate(
                make_agent("random"), game, games=games, seed=FIRST_TEST + 10_000 * seed + number, threads=1
            ).scores
            for number, games in enumerate((20, 10))
        ]
        means.append(np.concatenate(parts).mean())
    assert found[3].cells["score"].ours == mean_of(np.array(means))
    assert found[3].samples[0].training is None
    sums = found[3].samples[0].board_sums
    assert len(sums) == 30
    assert (sums >= found[3].samples[0].tiles).all()
    stages = found[2].samples[1].training["stages"]  # type: ignore[index]
    assert [stage["stage"] for stage in stages] == [2, 3]


def test_a_report_marks_what_disagrees_with_the_paper(
    experiment: Experiment, undisturbed: Store, tmp_path: Path
) -> None:
    text = report(experiment, undisturbed, tmp_path)
    slow = next(line for line in text.splitlines() if line.startswith("| plain, slow |"))
    assert re.search(r"\| [\d,]+ ± [\d,]+ ≠ \| 50,000 ± 1 \|", slow)
    assert "![curve-score](curve-score.png)" in text
    assert (tmp_path / "curve-win.png").read_bytes().startswith(b"\x89PNG")
    page = write_page(make_report(experiment, QUICK, undisturbed), tmp_path).read_text()
    assert "A text &amp; a half." in page
    assert page.count('src="data:image/png;base64,') == 2
    assert "## random\n\n```\n60\tavg = " in text


def test_results_are_exported_as_csv(undisturbed: Store, tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    count = undisturbed.export_csv(path)
    lines = path.read_text().splitlines()
    assert len(lines) == count + 1
    assert lines[0] == "key,kind,about,games,score_mean,moves,seconds,machine,version,at"
    assert sum(",training," in line for line in lines) == 4


@pytest.mark.parametrize(
    ("ours", "paper", "agrees"),
    [
        (Estimate(10, 9, 11), Estimate(12, 11, 13), True),
        (Estimate(10, 9, 11), Estimate(13, 12, 14), False),
        (Estimate(10, None, None), Estimate(13, 12, 14), None),
        (None, Estimate(13, 12, 14), None),
        (Estimate(10, 9, 11), None, None),
    ],
)
def test_figures_agree_where_their_intervals_overlap(
    ours: Estimate | None, paper: Estimate | None, agrees: bool | None
) -> None:
    assert Cell(ours, paper).agrees is agrees


@pytest.mark.parametrize(
    ("column", "estimate", "text"),
    [
        ("score", Estimate(51320.9, 50962.5, 51679.3), "51,321 ± 358"),
        ("win", Estimate(0.906, 0.896, 0.915), "90.6 % (89.6 – 91.5)"),
        ("reach-2048", Estimate(0.5, None, None), "50.0 %"),
        ("max", Estimate(261526, None, None), "261,526"),
        ("seconds", Estimate(7.25, None, None), "7.2 s"),
        ("learning-seconds", Estimate(7967.5, 1, 2), "2 h 13 min"),
        ("seconds", Estimate(288197, None, None), "3 d 8 h"),
        ("score", None, "–"),
    ],
)
def test_figures_are_written_for_people(column: str, estimate: Estimate | None, text: str) -> None:
    assert written(column, estimate) == text
