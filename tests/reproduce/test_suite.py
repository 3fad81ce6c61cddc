"""Suites: each job is run once, whatever interrupts it, and the report is the same in the end."""

import dataclasses
import multiprocessing
import random
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.reproduce.tiny import HANG_SECONDS, QUICK, InterruptAfter, RecordingCallback, tiny_experiment
from tests.training.sessions import tiny
from tilewright._core.locks import try_lock
from tilewright.errors import UnreachedError
from tilewright.reproduce.experiments import Experiment, Row
from tilewright.reproduce.report import make_report, write_markdown
from tilewright.reproduce.results import collect_rows
from tilewright.reproduce.store import Store
from tilewright.reproduce.suite import plan_trials, run_suite


def report(experiment: Experiment, store: Store, folder: Path) -> str:
    return write_markdown(make_report(experiment, QUICK, store), folder).read_text()


def test_finished_jobs_are_not_run_again(experiment: Experiment, undisturbed: Store) -> None:
    callback = RecordingCallback()
    run_suite(plan_trials(experiment, QUICK), undisturbed, workers=2, callback=callback)
    assert (callback.missing, callback.finished) == ([], [])
    # Two seeds of two configurations; evaluations of four rows and two seeds, the slow and the untrained in two parts.
    assert len(callback.planned) == 2 * 2 + 2 * (1 + 2 + 1 + 2)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_interrupted_at_any_time_the_report_is_the_same(
    experiment: Experiment, undisturbed: Store, tmp_path: Path, seed: int
) -> None:
    store, rng, interrupted = Store(tmp_path / "store"), random.Random(seed), 0
    while interrupted < 3:
        try:
            run_suite(
                plan_trials(experiment, QUICK),
                store,
                workers=rng.choice([1, 2]),
                callback=InterruptAfter(rng.randint(1, 12)),
            )
        except KeyboardInterrupt:
            interrupted += 1
        else:
            break
    assert interrupted
    run_suite(plan_trials(experiment, QUICK), store, workers=2)
    assert report(experiment, store, tmp_path / "report") == report(experiment, undisturbed, tmp_path / "other")
    assert not list(tmp_path.rglob("checkpoint.safetensors"))


def test_a_job_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    experiment = tiny_experiment(tmp_path)
    hopeless = tmp_path / "hopeless.toml"
    tiny(lambda_=0.0, games=90, stages=("4096",), start_pool=10).save(hopeless)
    experiment = dataclasses.replace(experiment, rows=(Row("hopeless", str(hopeless)), *experiment.rows))
    store = Store(tmp_path / "store")
    failed = run_suite(plan_trials(experiment, QUICK), store, workers=2)
    assert [(job.label, type(error)) for job, error in failed] == [
        ("hopeless: training", UnreachedError),
        ("hopeless, seed 1: training", UnreachedError),
    ]
    assert [row.name for row in collect_rows(experiment, QUICK, store)] == ["plain", "plain, slow", "staged", "random"]


def test_a_training_that_another_process_runs_is_waited_for_while_others_go_on(
    experiment: Experiment, tmp_path: Path
) -> None:
    store, trials = Store(tmp_path), plan_trials(experiment, QUICK)
    taken = trials[0].training
    assert taken is not None
    rest = {job.key for trial in trials for job in trial.jobs if taken not in (job, getattr(job, "training", None))}
    callback = RecordingCallback(awaited=rest)
    with ThreadPoolExecutor(1) as pool:
        with try_lock(store.run_folder(taken.key, taken.name) / "lock") as locked:
            assert locked
            suite = pool.submit(run_suite, trials, store, workers=1, callback=callback)
            assert callback.all_finished.wait(HANG_SECONDS)
            assert {job.key for job in store.jobs()} == rest
        assert suite.result(HANG_SECONDS) == []
    assert {job.key for job in store.jobs()} == {job.key for trial in trials for job in trial.jobs}


def test_a_model_that_is_gone_is_trained_again_where_an_evaluation_needs_it(
    experiment: Experiment, tmp_path: Path
) -> None:
    store, trials = Store(tmp_path), plan_trials(experiment, QUICK)[:1]
    run_suite(trials, store, workers=1)
    training, evaluation = trials[0].jobs
    before = store.find(evaluation.key)
    (store.run_folder(training.key) / "model.safetensors").unlink()
    callback = RecordingCallback()
    run_suite(trials, store, workers=1, callback=callback)
    assert callback.missing == []
    with sqlite3.connect(store.file) as connection:
        connection.execute("DELETE FROM jobs WHERE key = ?", (evaluation.key,))
    run_suite(trials, store, workers=1, callback=callback)
    assert callback.finished == [training.key, evaluation.key]
    after = store.find(evaluation.key)
    assert before is not None
    assert after is not None
    assert after.result["scores"] == before.result["scores"]


def test_trials_that_share_a_training_share_its_run_folder_which_has_a_readable_name(
    experiment: Experiment, undisturbed: Store
) -> None:
    """The slow row has the configuration of the first one."""
    folders = {folder.name for folder in (undisturbed.folder / "trainings").iterdir()}
    assert folders == {f"{name}_seed={seed}" for name in ("plain", "staged") for seed in (0, 1)}


def _run(experiment: Experiment, folder: Path) -> None:
    run_suite(plan_trials(experiment, QUICK), Store(folder), workers=1)


@pytest.mark.slow
def test_two_processes_at_once_make_the_same_results(
    experiment: Experiment, undisturbed: Store, tmp_path: Path
) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_run, args=(experiment, tmp_path / "store")) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(HANG_SECONDS)
        assert process.exitcode == 0
    store = Store(tmp_path / "store")
    assert {job.key for job in store.jobs()} == {job.key for job in undisturbed.jobs()}
    assert report(experiment, store, tmp_path / "report") == report(experiment, undisturbed, tmp_path / "other")
