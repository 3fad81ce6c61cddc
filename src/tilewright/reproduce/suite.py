"""Suites: the jobs that experiments need at a scale, and running those that are missing."""

import dataclasses
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tilewright._core.cluster import Cluster
from tilewright._core.files import write_bytes
from tilewright._core.locks import try_lock
from tilewright._core.tables import Scalar
from tilewright.errors import TilewrightError
from tilewright.reproduce.experiments import Experiment, Row, Scale
from tilewright.reproduce.jobs import (
    EvaluationJob,
    Job,
    JobResult,
    Stopped,
    TrainingJob,
    remove_checkpoint,
    run_anywhere,
    run_evaluation,
    run_training,
)
from tilewright.reproduce.store import Store, TrialRecord
from tilewright.training.config import AnyConfig, TrainingConfig, read_config

__all__ = ["FIXED_KEYS", "SuiteCallback", "Trial", "config_name", "plan_evaluation_of", "plan_trials", "run_suite"]

FIRST_EVALUATION_SEED = 1_000_000  # evaluations play other games than training
SEEDS_PER_TRIAL = 10_000
FIRST_SEED_OF_BEST = 5_000  # after the seeds that the best of several trainings was chosen by
BLOCK, SLOW_BLOCK = 1_000, 20  # games of one evaluation job; a suite that is stopped loses fewer games than that
CURVE_POINTS = 60
LOCK_SECONDS = 0.5  # until a training that another process is running is looked at again
# A suite counts games or steps, and evaluates at the end.
FIXED_KEYS: Mapping[str, float] = {"evaluate_minutes": 0.0, "checkpoint_minutes": 2.0, "minutes": 0.0}


@dataclass(frozen=True)
class Trial:
    """A row of an experiment with one of its seeds: a training, if any, and the evaluations of its model.

    Attributes:
        record: What the store keeps of the trial.
        row: The row.
        training: The training, if any.
        evaluations: The evaluations; together they have the games of the scale.
    """

    record: TrialRecord
    row: Row
    training: TrainingJob | None
    evaluations: tuple[EvaluationJob, ...]

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The training, if any, and the evaluations."""
        return (*(() if self.training is None else (self.training,)), *self.evaluations)


def plan_trials(experiment: Experiment, scale: Scale) -> list[Trial]:
    """Plan the trials of an experiment.

    Returns:
        One trial for every row and seed, in the order of the rows.
    """
    return [_plan(experiment, row, scale, seed) for row in experiment.rows_at(scale) for seed in range(scale.seeds)]


def plan_evaluation_of(experiment: Experiment, trial: Trial, scale: Scale) -> Trial:
    """Plan a trial with the same training, and with all games of the scale, none of which the trial has played."""
    record, row = trial.record, trial.row
    label = f"{record.row}, the best seed"
    games, agent, game = scale.games_of(row), record.agent, record.game
    evaluations = _evaluations(
        experiment, row, games, record.seed, agent, game, trial.training, label, FIRST_SEED_OF_BEST
    )
    best = dataclasses.replace(record, row=label, evaluations=tuple(job.key for job in evaluations))
    return Trial(best, row, trial.training, evaluations)


def _plan(experiment: Experiment, row: Row, scale: Scale, seed: int) -> Trial:
    label = experiment.row_name(row) + (f", seed {seed}" if seed else "")
    training, keys = None, {}
    if row.config:
        changes = _changes(row, scale)
        config = _config(row, scale, changes, seed)
        keys = {key: _scalar(getattr(config, _field(key))) for key in changes}
        training = TrainingJob(config, _run_name(row.config, changes, seed), f"{label}: training")
    game = row.game or (training.config.game if training else "2048")
    agent = row.agent or (f"{training.config.agent_name}:model={{model}}" if training else "")
    games = scale.selection_games if experiment.best_by and scale.selection_games else scale.games_of(row)
    evaluations = _evaluations(experiment, row, games, seed, agent, game, training, label)
    record = TrialRecord(
        experiment.path,
        scale.name,
        experiment.row_name(row),
        seed,
        config_name(row.config) if row.config else "",
        keys,
        agent,
        game,
        training.key if training else "",
        tuple(job.key for job in evaluations),
    )
    return Trial(record, row, training, evaluations)


def _evaluations(
    experiment: Experiment,
    row: Row,
    games: int,
    seed: int,
    agent: str,
    game: str,
    training: TrainingJob | None,
    label: str,
    first_number: int = 0,
) -> tuple[EvaluationJob, ...]:
    block = SLOW_BLOCK if row.slow or training is None else BLOCK
    first_seed = FIRST_EVALUATION_SEED + SEEDS_PER_TRIAL * seed + first_number
    jobs = []
    for number, first in enumerate(range(0, games, block)):
        count = min(block, games - first)
        jobs.append(
            EvaluationJob(
                agent,
                game,
                count,
                first_seed + number,
                training,
                board_sums="board-sum" in experiment.columns,
                label=f"{label}: {count:,} games",
            )
        )
    return tuple(jobs)


def _changes(row: Row, scale: Scale) -> dict[str, object]:
    """Return the keys that a row and a scale set, with their values."""
    changes = {**row.changes, **scale.changes}
    if scale.training_games:
        changes["games"] = scale.training_games
    if scale.training_steps:
        changes["total_steps"] = scale.training_steps
    return changes


def _config(row: Row, scale: Scale, changes: Mapping[str, object], seed: int) -> AnyConfig:
    config = read_config(row.config, **{**changes, **FIXED_KEYS, "seed": seed})
    if not isinstance(config, TrainingConfig):
        return config
    if scale.stage_games:
        config = dataclasses.replace(config, games=scale.stage_games * (1 + len(config.stages)))
    if scale.shrink > 1:
        config = dataclasses.replace(config, stages=tuple(_shrink(stage, scale.shrink) for stage in config.stages))
    if "curve_games" not in changes:
        config = dataclasses.replace(config, curve_games=max(10, config.games // CURVE_POINTS))
    return config


def _shrink(stage: str, divisor: int) -> str:
    """Divide the tiles of a stage: `16384+8192` by 32 is `512+256`."""
    return "+".join(str(int(tile) // divisor) for tile in stage.split("+"))


def config_name(config: str | Path | AnyConfig) -> str:
    """Return what a person calls a configuration: the preset, the name of the file, or the network.

    >>> config_name("configs/mine.toml")
    'mine'
    """
    return Path(config).stem if isinstance(config, str | Path) else config.subject


def _run_name(config: str | AnyConfig, changes: Mapping[str, object], seed: int) -> str:
    """Return a readable name of a run folder: `minute_alpha=0.5_step_size=tc_seed=0`."""
    parts = [f"{key}={_text(value)}" for key, value in changes.items()]
    return "_".join([config_name(config), *parts, f"seed={seed}"])


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _scalar(value: Scalar | tuple[str, ...]) -> Scalar:
    """Return a value of a configuration as a cell of a table; a list is written as JSON."""
    return json.dumps(value) if isinstance(value, tuple) else value


def _field(key: str) -> str:
    return "lambda_" if key == "lambda" else key


class SuiteCallback:
    """Base of callbacks of a suite; every method may be overridden. They are called from several threads."""

    def on_plan(self, jobs: Sequence[Job], missing: Sequence[Job]) -> None:
        """Called before the first job is run; once more if the results decide on further jobs.

        Args:
            jobs: All jobs.
            missing: The jobs that have no result yet.
        """

    def on_progress(self, job: Job, done: float) -> None:
        """Called now and then while a job runs.

        Args:
            job: The job.
            done: The part that is done, from 0 to 1; at 1 its result is stored.
        """


class _RunJob(Protocol):
    """Runs a job and stores its result; returns False if another process is running the same training."""

    def __call__(self, job: Job, store: Store, callback: SuiteCallback, stop: threading.Event) -> bool: ...


def run_suite(
    trials: Sequence[Trial],
    store: Store,
    *,
    workers: int,
    callback: SuiteCallback | None = None,
    cluster: Cluster | None = None,
) -> list[tuple[Job, TilewrightError]]:
    """Run every job that the store does not have yet.

    Ctrl-C keeps the results of finished jobs. Trainings that were stopped continue from their last checkpoint, except
    on a cluster, which runs every job from its start.

    Args:
        trials: The trials.
        store: Where the results are kept.
        workers: The number of jobs that run at the same time.
        callback: Called when something happens.
        cluster: A Ray cluster that runs the jobs.

    Returns:
        The jobs that failed with their errors, in the order of the jobs. A failed job stops only the jobs that need it.
    """
    callback, stop = callback or SuiteCallback(), threading.Event()
    run: _RunJob = _run_here if cluster is None else _RunOnCluster(cluster)
    jobs: dict[str, Job] = {}
    for job in (job for trial in trials for job in trial.jobs):
        jobs.setdefault(job.key, job)
    store.add_trials(trial.record for trial in trials)
    missing = _missing_jobs(list(jobs.values()), store)
    callback.on_plan(list(jobs.values()), missing)
    waiting = {job.key: job for job in missing}
    running: dict[Future[bool], Job] = {}
    errors: dict[str, TilewrightError] = {}
    with ThreadPoolExecutor(workers) as pool:
        try:
            while waiting or running:
                for job in list(_ready_jobs(waiting, running)):
                    del waiting[job.key]
                    running[pool.submit(run, job, store, callback, stop)] = job
                done, _ = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    job = running.pop(future)
                    try:
                        if not future.result():
                            waiting[job.key] = job
                    except TilewrightError as error:
                        errors[job.key] = error
                        waiting = {key: other for key, other in waiting.items() if not _needs(other, job)}
        except BaseException:
            stop.set()
            raise
    return [(job, errors[key]) for key, job in jobs.items() if key in errors]


def _missing_jobs(jobs: Sequence[Job], store: Store) -> list[Job]:
    """Return the jobs without a result, and trainings whose model is gone although an evaluation needs it."""
    evaluations = [job for job in jobs if isinstance(job, EvaluationJob) and store.find(job.key) is None]
    needed = {job.training.key for job in evaluations if job.training}
    trainings = []
    for job in jobs:
        if isinstance(job, TrainingJob):
            gone = job.key in needed and not _model_file(store, job).exists()
            if gone or store.find(job.key) is None:
                trainings.append(job)
            else:
                remove_checkpoint(_run_folder(store, job))  # its process was killed before it could
    return [*trainings, *evaluations]


def _needs(job: Job, training: Job) -> bool:
    return isinstance(job, EvaluationJob) and job.training is not None and job.training.key == training.key


def _ready_jobs(waiting: dict[str, Job], running: dict[Future[bool], Job]) -> Iterator[Job]:
    """Yield the waiting jobs whose training, if they need one, is finished."""
    trainings = {job.key for job in (*waiting.values(), *running.values()) if isinstance(job, TrainingJob)}
    for job in waiting.values():
        if isinstance(job, TrainingJob) or job.training is None or job.training.key not in trainings:
            yield job


class _RunOnCluster:
    """Sends a job to the cluster with the model that it needs, and gets its result and the model that it made."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._models: dict[str, object] = {}  # references to models on the cluster, by the keys of their trainings
        self._lock = threading.Lock()

    def __call__(self, job: Job, store: Store, callback: SuiteCallback, stop: threading.Event) -> bool:
        callback.on_progress(job, 0.0)

        def progress(_: int, done: float) -> None:
            callback.on_progress(job, min(done, 0.999))

        shared = [self._put_model(job, store)]
        for _, (result, model) in self._cluster.map(
            run_anywhere, [(job,)], shared, until=stop.is_set, progress=progress
        ):
            if isinstance(job, TrainingJob) and model is not None:
                write_bytes(_model_file(store, job), model)
            _add_result(store, job, result)
            callback.on_progress(job, 1.0)
        return True

    def _put_model(self, job: Job, store: Store) -> object:
        """Return a reference to the model of an evaluation, or None."""
        if isinstance(job, TrainingJob) or job.training is None:
            return None
        with self._lock:
            if job.training.key not in self._models:
                model = _model_file(store, job.training).read_bytes()
                self._models[job.training.key] = self._cluster.put(model)
            return self._models[job.training.key]


def _run_here(job: Job, store: Store, callback: SuiteCallback, stop: threading.Event) -> bool:
    def report(done: float) -> bool:
        callback.on_progress(job, min(done, 0.999))
        return not stop.is_set()

    if stop.is_set():
        return True
    try:
        if isinstance(job, TrainingJob):
            folder = _run_folder(store, job)
            with try_lock(folder / "lock") as locked:
                if not locked:
                    return stop.wait(LOCK_SECONDS)
                if store.find(job.key) is None or not _model_file(store, job).exists():
                    _add_result(store, job, run_training(job, folder, report))
                remove_checkpoint(folder)
        else:
            model = _model_file(store, job.training) if job.training else None
            _add_result(store, job, run_evaluation(job, model, report))
    except Stopped:
        return True
    callback.on_progress(job, 1.0)
    return True


def _run_folder(store: Store, job: TrainingJob) -> Path:
    return store.run_folder(job.key, job.name)


def _model_file(store: Store, job: TrainingJob) -> Path:
    return _run_folder(store, job) / "model.safetensors"


def _add_result(store: Store, job: Job, result: JobResult) -> None:
    store.add(job.key, job.kind, str(job), result)
