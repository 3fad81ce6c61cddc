"""Which jobs an experiment needs at a scale, and running those that are missing."""

import dataclasses
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilewright._core.cluster import Cluster
from tilewright._core.files import try_lock, write_bytes
from tilewright.errors import TilewrightError
from tilewright.reproduce.experiments import Experiment, Row, Scale
from tilewright.reproduce.jobs import Job, Stopped, Test, Training, clean_up, run_anywhere, run_test, run_training
from tilewright.reproduce.store import Store
from tilewright.training.config import AnyConfig, TrainingConfig, read_config

__all__ = ["Observer", "Piece", "pieces_of", "run_suite"]

FIRST_TEST = 1_000_000  # tests play other games than training
BLOCK, SLOW_BLOCK = 1_000, 20  # games of a test that are kept together: a stopped suite loses fewer than that
NOT_LEARNING: dict[str, Any] = {"evaluate_minutes": 0.0, "checkpoint_minutes": 2.0, "minutes": 0.0}
POINTS = 60  # of a learning curve
PATIENCE = 0.5  # seconds until a training that another process has under way is looked at again


@dataclass(frozen=True)
class Piece:
    """A row and one of its seeds: a training, if any, and the tests of what it gave."""

    row: Row
    seed: int
    training: Training | None
    tests: tuple[Test, ...]

    @property
    def jobs(self) -> tuple[Job, ...]:
        return (*(() if self.training is None else (self.training,)), *self.tests)


def pieces_of(experiment: Experiment, scale: Scale) -> list[Piece]:
    """Everything that the experiment needs, in the order of its rows."""
    boards = "board-sum" in experiment.columns
    return [_piece(row, scale, seed, boards) for row in experiment.rows_at(scale) for seed in range(scale.seeds)]


def _piece(row: Row, scale: Scale, seed: int, boards: bool) -> Piece:
    training = Training(_recipe(row, scale, seed)) if row.config else None
    game = row.game or (training.config.game if training else "2048")
    games = scale.slow_tests if row.slow and scale.slow_tests else scale.tests
    block = SLOW_BLOCK if row.slow or training is None else BLOCK
    agent = row.agent or (f"{training.config.player}:model={{model}}" if training else "")
    tests = [
        Test(agent, game, min(block, games - first), FIRST_TEST + 10_000 * seed + number, training, boards)
        for number, first in enumerate(range(0, games, block))
    ]
    return Piece(row, seed, training, tuple(tests))


def _recipe(row: Row, scale: Scale, seed: int) -> AnyConfig:
    changes = {**row.changes, **scale.changes, **NOT_LEARNING, "seed": seed}
    if scale.games:
        changes["games"] = scale.games
    if scale.steps:
        changes["total_steps"] = scale.steps
    config = read_config(row.config, **changes)
    if not isinstance(config, TrainingConfig):
        return config
    if scale.stage_games:
        config = dataclasses.replace(config, games=scale.stage_games * (1 + len(config.stages)))
    if scale.shrink > 1:
        config = dataclasses.replace(config, stages=tuple(_shrunk(stage, scale.shrink) for stage in config.stages))
    if "curve_games" not in changes:
        config = dataclasses.replace(config, curve_games=max(10, config.games // POINTS))
    return config


def _shrunk(stage: str, divisor: int) -> str:
    """`16384+8192` by 32 is `512+256`."""
    return "+".join(str(int(tile) // divisor) for tile in stage.split("+"))


class Observer:
    """Is told how a suite gets on, from several threads; every method may be left out."""

    def on_plan(self, jobs: Sequence[Job], missing: Sequence[Job]) -> None:
        """All jobs, and those that will be run."""

    def on_progress(self, job: Job, done: float) -> None:
        """How much of a job is done, from 0 to 1; at 1 its result is kept."""


def run_suite(
    pieces: Sequence[Piece],
    store: Store,
    *,
    workers: int,
    observer: Observer | None = None,
    cluster: Cluster | None = None,
) -> list[tuple[Job, TilewrightError]]:
    """Run every job that the store does not have yet, so many at once. Ctrl-C keeps what is finished.

    Trainings go on where they were, unless on a `cluster`, which runs a job from its beginning. A job that fails does
    not stop those that need nothing of it; the answer has the errors, in the order of the jobs.
    """
    observer, stop = observer or Observer(), threading.Event()
    run = _run if cluster is None else _OnCluster(cluster)
    jobs = list({job.key: job for piece in pieces for job in piece.jobs}.values())
    missing = _missing(jobs, store)
    observer.on_plan(jobs, missing)
    waiting = {job.key: job for job in missing}
    running: dict[Future[bool], Job] = {}
    errors: dict[str, TilewrightError] = {}
    with ThreadPoolExecutor(workers) as pool:
        try:
            while waiting or running:
                for job in list(_ready(waiting, running)):
                    del waiting[job.key]
                    running[pool.submit(run, job, store, observer, stop)] = job
                done, _ = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    job = running.pop(future)
                    try:
                        if not future.result():
                            waiting[job.key] = job
                    except TilewrightError as error:
                        errors[job.key] = error
                        waiting = {key: one for key, one in waiting.items() if not _needs(one, job)}
        except BaseException:
            stop.set()
            raise
    return [(job, errors[job.key]) for job in jobs if job.key in errors]


def _missing(jobs: Sequence[Job], store: Store) -> list[Job]:
    """Those that are not finished, and finished trainings whose model is gone though one of the others needs it."""
    tests = [job for job in jobs if isinstance(job, Test) and store.find(job.key) is None]
    needed = {job.training.key for job in tests if job.training}
    trainings = []
    for job in jobs:
        if isinstance(job, Training):
            gone = job.key in needed and not _model_file(store, job).exists()
            if gone or store.find(job.key) is None:
                trainings.append(job)
            else:
                clean_up(store.run_folder(job.key))  # of a process that was killed before it did
    return [*trainings, *tests]


def _needs(job: Job, training: Job) -> bool:
    return isinstance(job, Test) and job.training is not None and job.training.key == training.key


def _ready(waiting: dict[str, Job], running: dict[Future[bool], Job]) -> Iterator[Job]:
    """Jobs whose training, if they need one, is neither missing nor under way."""
    trainings = {job.key for job in (*waiting.values(), *running.values()) if isinstance(job, Training)}
    for job in waiting.values():
        if isinstance(job, Training) or job.training is None or job.training.key not in trainings:
            yield job


class _OnCluster:
    """The driver's side: a job goes to the cluster with the model it needs, and comes back with the one it made."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._models: dict[str, Any] = {}  # those that went there already, by the keys of their trainings
        self._lock = threading.Lock()

    def __call__(self, job: Job, store: Store, observer: Observer, stop: threading.Event) -> bool:
        observer.on_progress(job, 0.0)

        def progress(_: int, done: float) -> None:
            observer.on_progress(job, min(done, 0.999))

        shared = [self._share(job, store)]
        for _, (result, made) in self._cluster.map(
            run_anywhere, [(job,)], shared, until=stop.is_set, progress=progress
        ):
            if isinstance(job, Training):
                write_bytes(_model_file(store, job), made)
            store.add(job.key, _kind(job), str(job), result)
            observer.on_progress(job, 1.0)
        return True

    def _share(self, job: Job, store: Store) -> Any:
        """The model of a test where the cluster's workers read it, or None."""
        if isinstance(job, Training) or job.training is None:
            return None
        with self._lock:
            if job.training.key not in self._models:
                model = _model_file(store, job.training).read_bytes()
                self._models[job.training.key] = self._cluster.share(model)
            return self._models[job.training.key]


def _model_file(store: Store, job: Training) -> Path:
    return store.run_folder(job.key) / "model.safetensors"


def _kind(job: Job) -> str:
    return "training" if isinstance(job, Training) else "test"


def _run(job: Job, store: Store, observer: Observer, stop: threading.Event) -> bool:
    """Says whether nothing is left to do; false while another process has the training under way."""

    def report(done: float) -> bool:
        observer.on_progress(job, min(done, 0.999))
        return not stop.is_set()

    if stop.is_set():
        return True
    try:
        if isinstance(job, Training):
            folder = store.run_folder(job.key)
            with try_lock(folder / "lock") as mine:
                if not mine:
                    return stop.wait(PATIENCE)
                if store.find(job.key) is None or not _model_file(store, job).exists():
                    store.add(job.key, _kind(job), str(job), run_training(job, folder, report))
                clean_up(folder)
        else:
            model = _model_file(store, job.training) if job.training else None
            store.add(job.key, _kind(job), str(job), run_test(job, model, report))
    except Stopped:
        return True
    observer.on_progress(job, 1.0)
    return True
