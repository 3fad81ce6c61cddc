"""Training sessions: what n-tuple and deep networks have in common, and how a session is opened."""

import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, ClassVar, Protocol, overload

from tilewright import __version__
from tilewright._core.appending import PATIENCE, write_patiently
from tilewright._core.parallel import check_threads
from tilewright._core.registry import load_object
from tilewright._core.signals import stop_signals
from tilewright.errors import FileError, UsageError
from tilewright.play.statistics import Estimate
from tilewright.training.callbacks import Callbacks, as_callback
from tilewright.training.config import AnyConfig, TrainingConfig
from tilewright.training.event_log import EventLog
from tilewright.training.run_folder import EvaluationPoint, Point, RunFolder, SavedProgress, TrainingPoint

if TYPE_CHECKING:
    from tilewright._core.cluster import Cluster
    from tilewright._core.locks import FileLock
    from tilewright.training.ntuple_session import NTupleSession

__all__ = ["EVALUATION_SEED", "SYNC_MINUTES", "AnyModel", "SessionProgress", "TrainingSession", "open_session"]

EVALUATION_SEED = 2**31  # evaluations play other games than training
NTUPLE_SESSION = "tilewright.training.ntuple_session:NTupleSession"
DEEP_SESSION = "tilewright.deep.session:DeepSession"
# Keys that a resumed run may change, besides its budget: none of them changes what is learned.
MAY_CHANGE = {"minutes", "evaluate_games", "evaluate_minutes", "checkpoint_minutes"}
SYNC_MINUTES = 2.0  # from one synchronisation of the workers of a cluster to the next
RETRY_MINUTES = 0.5  # until a checkpoint that could not be written is tried again, at most


class SessionProgress(SavedProgress, Protocol):
    """How far a session is."""

    @property
    def moves(self) -> int:
        """Moves since the start of the training."""

    @property
    def seconds(self) -> float:
        """Time of training since its start, without evaluations."""


class AnyModel(Protocol):
    """A trained network that can be written to a file."""

    def save(self, path: Path, *, force: bool) -> None:
        """Write the model to a file."""


class TrainingSession(ABC):
    """A training in a run folder: learns, evaluates, saves, can be stopped at any time and resumed later.

    Use `open_session` to make one.

    Attributes:
        config: The configuration.
        folder: The run folder.
        threads: The number of threads.
        progress: Games, moves and seconds so far.
        points: The rows of the learning curve so far.
        clock: Measures the time of training, in seconds.
    """

    budget: ClassVar[str]  # the key of the configuration that limits the training, besides `minutes`
    config: AnyConfig
    progress: SessionProgress

    def __init__(self, config: AnyConfig, folder: RunFolder, threads: int | None, callbacks: Callbacks) -> None:
        threads = self.default_threads() if threads is None else threads
        check_threads(threads)
        self.config, self.folder, self.threads = config, folder, threads
        self.callback = as_callback(callbacks)
        self.points: list[TrainingPoint] = []
        self.clock: Callable[[], float] = time.perf_counter
        self._stop = threading.Event()
        self._give_up = threading.Event()  # a second signal: saving is not tried again
        self._unsaved: set[str] = set()  # what could not be written when it was last tried
        self._lock_on_folder: FileLock | None = None

    @staticmethod
    @abstractmethod
    def default_threads() -> int:
        """The best number of threads for this kind of network."""

    @property
    @abstractmethod
    def done(self) -> float:
        """How much of the budget is used up, from 0 to 1."""

    @abstractmethod
    def status(self) -> str:
        """The state of the training in one line."""

    def _start(self) -> None:  # noqa: B027  (most sessions have nothing to prepare)
        """Prepare a session that has no checkpoint yet."""

    def _warm_up(self) -> None:  # noqa: B027  (most sessions have nothing to warm up)
        """Do what is done once, so that only training is timed."""

    @abstractmethod
    def _advance(self, pause: float) -> None:
        """Learn for a while, at most until `pause` seconds of training."""

    @abstractmethod
    def _evaluate(self) -> tuple[Estimate, float]:
        """Play the config's `evaluate_games` games: their mean score and the fraction won."""

    @abstractmethod
    def _pending_point(self) -> TrainingPoint | None:
        """A row of the learning curve for the games that have none yet, or None if all have one."""

    @abstractmethod
    def _save(self) -> None:
        """Write a checkpoint."""

    @abstractmethod
    def _load(self) -> None:
        """Go back to the last checkpoint."""

    @abstractmethod
    def _model(self, origin: dict[str, str]) -> AnyModel:
        """The network as it is now."""

    @property
    def is_stopped(self) -> bool:
        """Whether the session was asked to stop."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Ask the session to end after the current games; it saves then. Callable from any thread."""
        self._stop.set()

    def run(self) -> SessionProgress:
        """Train until the budget is used up or `stop` is called, then save model and checkpoint.

        In the main thread, Ctrl-C, SIGTERM and SIGHUP call `stop`; a second Ctrl-C raises KeyboardInterrupt at once.
        Files that do not fit on a full disk are written later. The folder is locked until the end.

        Returns:
            The progress.

        Raises:
            DivergedError: Weights became infinite; the last checkpoint is kept.
            UnreachedError: No game reached the next stage; what was learned is saved.
            FileError: Something could not be written at the end; the message says what is saved, and what is not.
            UsageError: Another session writes to the folder.
        """
        self.lock()
        try:
            self._warm_up()
            self._events = EventLog(self.folder.path, self.progress.games)
            with self._stopping_on_signals():
                self.callback.on_training_start(self)
                self._train()
                self._finish()
                self.callback.on_training_end(self)
        finally:
            self.unlock()
        return self.progress

    def _train(self) -> None:
        """Learn until the budget is used up or the session is stopped; evaluate and save on the way."""
        evaluate_at, save_at = self._due(self.config.evaluate_minutes), self._due(self.config.checkpoint_minutes)
        while self.done < 1 and not self.is_stopped:
            self._advance(min(evaluate_at, save_at))
            if self.progress.seconds >= evaluate_at and not self.is_stopped:
                self._log_evaluation()
                evaluate_at = self._due(self.config.evaluate_minutes)
            if self.progress.seconds >= save_at:
                saved = self._try("checkpoint", self._save)
                minutes = self.config.checkpoint_minutes
                save_at = self._due(minutes if saved else min(minutes, RETRY_MINUTES))

    def lock(self) -> None:
        """Lock the folder against other sessions, unless this one has done so.

        Raises:
            UsageError: Another session writes to the folder.
        """
        if self._lock_on_folder is None:
            self._lock_on_folder = self.folder.lock()

    def unlock(self) -> None:
        """Let other sessions write to the folder; `run` does it at its end."""
        if self._lock_on_folder is not None:
            self._lock_on_folder.release()
            self._lock_on_folder = None

    def start_or_resume(self, *, resume: bool) -> None:
        """Prepare the session: from its last checkpoint, or from the start if there is none."""
        if not resume:
            self._start()
            return
        self.folder.remove_unfinished()
        if self.folder.checkpoint_file.exists():
            self._load()
        else:
            self._start()
        self.folder.drop_rows_after(self.progress)
        self.points = self.folder.curve_points()

    def _due(self, minutes: float) -> float:
        """The time of training at which something is due that happens every so many minutes."""
        return self.progress.seconds + 60 * minutes if minutes else float("inf")

    def _log(self, point: TrainingPoint) -> None:
        """Add a row to the learning curve."""
        self.points.append(point)
        self._append(point)
        self._try("TensorBoard events", lambda: self._events.add(point))
        self.callback.on_log(self, point)

    def _append(self, *points: Point) -> None:
        """Append rows to the file of their kind; what cannot be written now is written with a later row."""
        self._try("rows of the learning curve", lambda: self.folder.append(*points))

    def _log_evaluation(self) -> None:
        score, win_rate = self._evaluate()
        low = score.value if score.low is None else score.low  # a single game has no interval
        high = score.value if score.high is None else score.high
        games, seconds = self.progress.games, round(self.progress.seconds, 3)
        point = EvaluationPoint(games, seconds, self.config.evaluate_games, score.value, low, high, win_rate)
        self._append(point)
        self._try("TensorBoard events", lambda: self._events.add(point))
        self.callback.on_evaluation(self, point)

    def _try(self, what: str, write: Callable[[], None]) -> bool:
        """Write something; a full disk does not end hours of training.

        Returns:
            Whether it was written. The callback learns of every failure, and of the end of all failures.
        """
        try:
            write()
        except FileError as error:
            self._unsaved.add(what)
            self._save_error = error
            self.callback.on_save_failed(self, error)
            return False
        if what in self._unsaved:
            self._unsaved.remove(what)
            if not self._unsaved:
                self.callback.on_save_recovered(self)
        return True

    def _finish(self) -> None:
        """Complete the learning curve and save the model, then the checkpoint: the model matters more.

        On a full disk, what is missing is tried again for a while; a second signal ends that.
        """
        rest = self._pending_point()
        if rest is not None:
            self._append(rest)
        missing: dict[str, Callable[[], None]] = {
            "model": lambda: self._model(self._origin()).save(self.folder.model_file, force=True),
            "checkpoint": self._save,
            "rows of the learning curve": self.folder.flush_rows,
            "TensorBoard events": self._events.flush,
        }
        saved: list[str] = []

        def write_missing() -> None:
            for what, write in list(missing.items()):
                if self._try(what, write):
                    saved.append(what)
                    del missing[what]
            if missing:
                raise self._save_error

        try:
            write_patiently(write_missing, self._patience, self._give_up.wait)
        except FileError as error:
            raise self._incomplete(list(missing), saved, error) from error.__cause__

    def _patience(self) -> float:
        return 0.0 if self._give_up.is_set() else PATIENCE

    def _incomplete(self, missing: list[str], saved: list[str], error: FileError) -> FileError:
        """The error of a session that could not save everything."""
        if "checkpoint" in saved:
            rest = "a resumed run continues from here, and writes what is missing"
        elif self.folder.checkpoint_file.is_file():
            rest = "a resumed run continues from the previous checkpoint, and plays the games since then again"
        else:
            rest = "there is no checkpoint to resume from"
        kept = f"saved: {', '.join(saved)}" if saved else "nothing is saved"
        return FileError(f"{error}; not saved: {', '.join(missing)}; {kept}; {rest}")

    def _origin(self) -> dict[str, str]:
        """What the model's file says about its training."""
        return {
            "config": self.config.to_toml(),
            "seed": str(self.config.seed),
            "games": str(self.progress.games),
            "moves": str(self.progress.moves),
            "seconds": f"{self.progress.seconds:.1f}",
            "threads": str(self.threads),
            "revision": __version__,
        }

    @contextmanager
    def _stopping_on_signals(self) -> Iterator[None]:
        """The first signal stops the session. A second Ctrl-C interrupts it; any other ends the attempts to save.

        A closed terminal may send SIGHUP twice, so a second one must not end the saving itself. SIGHUP stays ignored
        where it is, as under nohup.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def stop(number: int, frame: FrameType | None) -> None:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if self.is_stopped:
                self._give_up.set()
            self.stop()
            if not signalled:
                signalled.append(number)
                self.callback.on_stop_requested(self)

        signalled: list[int] = []
        before = {number: signal.signal(number, stop) for number in stop_signals()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@overload
def open_session(
    config: TrainingConfig,
    folder: str | Path,
    *,
    resume: bool = False,
    threads: int | None = None,
    callbacks: Callbacks = None,
    cluster: "Cluster | None" = None,
    sync_minutes: float = SYNC_MINUTES,
) -> "NTupleSession": ...
@overload
def open_session(
    config: AnyConfig,
    folder: str | Path,
    *,
    resume: bool = False,
    threads: int | None = None,
    callbacks: Callbacks = None,
    cluster: "Cluster | None" = None,
    sync_minutes: float = SYNC_MINUTES,
) -> TrainingSession: ...
def open_session(
    config: AnyConfig,
    folder: str | Path,
    *,
    resume: bool = False,
    threads: int | None = None,
    callbacks: Callbacks = None,
    cluster: "Cluster | None" = None,
    sync_minutes: float = SYNC_MINUTES,
) -> TrainingSession:
    """Open a training session; `run()` trains.

    Args:
        config: A TrainingConfig or a DeepConfig.
        folder: The run folder, which is made if needed.
        resume: Whether to continue the run in the folder. Its budget and its evaluations may differ in `config`.
        threads: The number of threads; None for the best number.
        callbacks: A callback or several.
        cluster: The cluster whose workers learn; None for threads of this process. `threads` is the number of workers.
        sync_minutes: The time after which the workers of a cluster combine what they have learned.

    Raises:
        UsageError: The folder already holds a run, the run was started with another configuration, another session
            writes to the folder, or a deep network is to be trained on a cluster.
        FileError: There is no run to resume, or the folder cannot be written.
        MissingExtraError: A deep network needs PyTorch, which is not installed.
    """
    is_ntuple = isinstance(config, TrainingConfig)
    kind: type[TrainingSession] = load_object(NTUPLE_SESSION if is_ntuple else DEEP_SESSION, "deep")
    run = RunFolder(Path(folder))
    if resume:
        _check_resumable(run, config, MAY_CHANGE | {kind.budget})
    else:
        run.check_free()
    if cluster is None:
        session = kind(config, run, threads, callbacks)
    elif isinstance(config, TrainingConfig):
        session = _distributed_session(config, run, threads, callbacks, cluster, sync_minutes)
    else:
        raise UsageError("deep networks are trained in one process, not on a cluster")
    if not resume:
        session.start_or_resume(resume=False)  # writes nothing, and may fail
    session.lock()
    try:
        if resume:
            session.start_or_resume(resume=True)
        else:
            run.check_free()  # somebody may have been quicker
            run.remove_unfinished()  # of a session that was killed before it had a configuration
        config.save(run.config_file)
    except BaseException:
        session.unlock()
        raise
    return session


def _distributed_session(
    config: TrainingConfig,
    run: RunFolder,
    workers: int | None,
    callbacks: Callbacks,
    cluster: "Cluster",
    sync_minutes: float,
) -> TrainingSession:
    """A session whose games are played by workers of a cluster."""
    from tilewright.training.distributed import DistributedTrainer
    from tilewright.training.ntuple_session import NTupleSession

    workers = cluster.processors if workers is None else workers
    check_threads(workers)
    if not 0 < sync_minutes < float("inf"):
        raise UsageError(f"sync_minutes={sync_minutes:g}: must be above 0")
    return NTupleSession(
        config, run, workers, callbacks, DistributedTrainer(config, cluster, workers), sync_minutes=sync_minutes
    )


def _check_resumable(folder: RunFolder, config: AnyConfig, may_change: set[str]) -> None:
    """Raise UsageError unless the run in the folder was started with the same way of learning."""
    started = folder.read_config()
    if type(started) is not type(config):
        raise UsageError(f"{folder.path} holds a run of another kind: {started.agent_name}, not {config.agent_name}")
    new = config.to_dict()
    for key, value in started.to_dict().items():
        if key not in may_change and value != new[key]:
            raise UsageError(
                f"{folder.path} was started with {key} = {value!r}, not {new[key]!r}; a resumed run cannot change it"
            )
