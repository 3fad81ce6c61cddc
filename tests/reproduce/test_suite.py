"""Suites: each job is run once, whatever interrupts them, and the report is the same in the end."""

import dataclasses
import multiprocessing
import random
import re
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tests.reproduce.tiny import QUICK, tiny_experiment
from tests.training.sessions import tiny
from tilewright._core.files import try_lock
from tilewright.agents import make_agent
from tilewright.errors import FileError, UnreachedError
from tilewright.games import make_game
from tilewright.play.evaluate import evaluate
from tilewright.play.statistics import Estimate, mean_of
from tilewright.reproduce.experiments import Experiment, Row
from tilewright.reproduce.figures import draw
from tilewright.reproduce.jobs import Job
from tilewright.reproduce.report import make_report, write_markdown, write_page
from tilewright.reproduce.results import Cell, find_all, written
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


def test_a_job_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    experiment = tiny_experiment(tmp_path)
    hopeless = tmp_path / "hopeless.toml"
    tiny(lambda_=0.0, games=90, stages=("4096",), start_pool=10).save(hopeless)
    experiment = dataclasses.replace(experiment, rows=(Row("hopeless", str(hopeless)), *experiment.rows))
    store = Store(tmp_path / "store")
    failed = run_suite(pieces_of(experiment, QUICK), store, workers=2)
    assert [(job.key, type(error)) for job, error in failed] == [
        (piece.training.key, UnreachedError) for piece in pieces_of(experiment, QUICK)[:2] if piece.training
    ]
    assert [one.row.label for one in find_all(experiment, QUICK, store)] == ["plain", "plain, slow", "staged", "random"]


def test_a_training_that_another_process_has_under_way_is_waited_for_while_others_go_on(
    experiment: Experiment, tmp_path: Path
) -> None:
    store, pieces = Store(tmp_path), pieces_of(experiment, QUICK)
    taken = pieces[0].training
    assert taken is not None
    rest = {job.key for piece in pieces for job in piece.jobs if taken not in (job, getattr(job, "training", None))}
    with ThreadPoolExecutor(1) as pool:
        with try_lock(store.run_folder(taken.key) / "lock") as mine:
            assert mine
            suite = pool.submit(run_suite, pieces, store, workers=1)
            until = time.monotonic() + 120
            while {job.key for job in store.all()} != rest and time.monotonic() < until:
                time.sleep(0.1)
            assert {job.key for job in store.all()} == rest
        assert suite.result(120) == []
    assert {job.key for job in store.all()} == {job.key for piece in pieces for job in piece.jobs}


def test_a_model_that_is_gone_is_trained_again_where_a_test_needs_it(experiment: Experiment, tmp_path: Path) -> None:
    store, pieces = Store(tmp_path), pieces_of(experiment, QUICK)[:1]
    run_suite(pieces, store, workers=1)
    training, test = pieces[0].jobs
    before = store.find(test.key)
    (store.run_folder(training.key) / "model.safetensors").unlink()
    counting = Counting()
    run_suite(pieces, store, workers=1, observer=counting)
    assert counting.missing == 0
    with sqlite3.connect(store.file) as connection:
        connection.execute("DELETE FROM finished WHERE key = ?", (test.key,))
    run_suite(pieces, store, workers=1, observer=counting)
    assert counting.finished == [training.key, test.key]
    after = store.find(test.key)
    assert before is not None
    assert after is not None
    assert after.result["scores"] == before.result["scores"]


def test_a_damaged_result_is_one_line(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add("k", "test", "10 games of random", {"scores": [1]})
    with sqlite3.connect(store.file) as connection:
        connection.execute("UPDATE finished SET result = '{\"scores\": [1'")
    with pytest.raises(FileError, match=r"results.sqlite: the result of 10 games of random \(k\) is damaged$"):
        store.find("k")


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


def test_trainings_too_short_for_a_curve_say_so(experiment: Experiment, undisturbed: Store) -> None:
    random_moves = find_all(experiment, QUICK, undisturbed)[3:]
    axes = draw("curve-length", random_moves).axes[0]
    assert [text.get_text() for text in axes.texts] == ["too few games for a curve"]
    assert axes.get_legend() is None


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
    ("column", "state_value", "text"),
    [
        ("score", Estimate(51320.9, 50962.5, 51679.3), "51,321 ± 358"),
        ("win", Estimate(0.906, 0.896, 0.915), "90.6 % (89.6 – 91.5)"),
        ("reach-2048", Estimate(0.5, None, None), "50.0 %"),
        ("reach-2048", Estimate(0.9997, 0.9994, 1.0), "99.97 % (99.94 – 100.0)"),
        ("reach-32768", Estimate(0.0, 0.0, 0.0004), "0.0 % (0.0 – 0.04)"),
        ("max", Estimate(261526, None, None), "261,526"),
        ("seconds", Estimate(7.25, None, None), "7.2 s"),
        ("learning-seconds", Estimate(7967.5, 1, 2), "2 h 13 min"),
        ("seconds", Estimate(288197, None, None), "3 d 8 h"),
        ("seconds", Estimate(59.97, None, None), "1 min 0 s"),
        ("seconds", Estimate(3599.7, None, None), "1 h 0 min"),
        ("score", None, "–"),
    ],
)
def test_figures_are_written_for_people(column: str, state_value: Estimate | None, text: str) -> None:
    assert written(column, state_value) == text
