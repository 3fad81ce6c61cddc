"""What every training session does: learn, test, save, stop at any time and go on later.

`train.NTupleSession` learns the networks of tuples, `deep.session.DeepSession` those of PyTorch.
"""

import dataclasses
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, ClassVar, TypeVar

from tilewright import __version__
from tilewright._core.config import Config
from tilewright.errors import FileError, UsageError
from tilewright.play.statistics import Estimate
from tilewright.training.run_folder import EvaluationPoint, EventLog, StagePoint

__all__ = ["TEST_SEED", "Callback", "TrainingSession", "open_in_folder"]

TEST_SEED = 2**31  # tests along the way play other games than training does
# Keys that may be others when a run goes on, beside its budget: none of them changes what is learned.
MAY_CHANGE = {"minutes", "evaluate_games", "evaluate_minutes", "checkpoint_minutes"}

S = TypeVar("S", bound="TrainingSession")


class Callback:
    """Is told what happens in a session; every method may be left out."""

    def on_games(self, session: Any) -> None:
        """Some games of a session of any kind were finished; called from the threads that played them."""

    def on_point(self, point: Any) -> None:
        """The learning curve has a new point."""

    def on_test(self, point: EvaluationPoint) -> None:
        """The network was tested."""

    def on_collected(self, session: Any) -> None:
        """Some games were played to find boards for the next stage; called from the threads that played them."""

    def on_stage(self, point: StagePoint) -> None:
        """The next stage begins."""

    def on_unsaved(self, problem: FileError) -> None:
        """A checkpoint could not be written; learning goes on, and the next is tried in its turn."""

    def on_stopping(self) -> None:
        """The session was asked to stop and will, after the games under way."""


class TrainingSession(ABC):
    """Training by a recipe in a run folder."""

    budget: ClassVar[str]  # the key of the recipe that counts how long to train, beside its minutes
    progress: Any
    points: list[Any]

    def __init__(self, config: Any, folder: Any, threads: int | None, callback: Callback | None) -> None:
        threads = self.default_threads() if threads is None else threads
        if threads < 1:
            raise UsageError(f"threads={threads}: at least one is needed")
        self.config, self.folder, self.threads = config, folder, threads
        self.callback = callback or Callback()
        self.points = []
        self._stop = threading.Event()

    @staticmethod
    @abstractmethod
    def default_threads() -> int:
        """How many threads serve this kind best."""

    @property
    @abstractmethod
    def done(self) -> float:
        """How much of the budget is used up, from 0 to 1."""

    @abstractmethod
    def figures(self) -> str:
        """Where it is, in one line."""

    def _warm_up(self) -> None:  # noqa: B027  (nor to warm up)
        """Do what is to be done once, so that only training is timed."""

    @abstractmethod
    def _advance(self, pause: float) -> None:
        """Learn on for a while: at the most until so many seconds of training."""

    @abstractmethod
    def _play_test(self) -> tuple[Estimate, float]:
        """The mean score of the recipe's test games, and how many of them were won."""

    @abstractmethod
    def _save(self) -> None:
        """Write a checkpoint."""

    @abstractmethod
    def _load(self) -> None:
        """Go back to the last checkpoint."""

    @abstractmethod
    def _model(self, origin: dict[str, str]) -> Any:
        """The network as it is."""

    def run(self) -> Any:
        """Train until the budget is used up or `stop` is called, then save the model; returns the progress."""
        self._warm_up()
        test_at, save_at = self._next(self.config.evaluate_minutes), self._next(self.config.checkpoint_minutes)
        with self._stopping_on_signals(), EventLog(self.folder, self.progress.games) as self._events:
            while self.done < 1 and not self._stop.is_set():
                self._advance(min(test_at, save_at))
                if self.progress.seconds >= test_at and not self._stop.is_set():
                    self._test()
                    test_at = self._next(self.config.evaluate_minutes)
                if self.progress.seconds >= save_at:
                    self._save_or_tell()
                    save_at = self._next(self.config.checkpoint_minutes)
            self._finish()
        return self.progress

    def stop(self) -> None:
        """Ask the session to end after the games under way."""
        self._stop.set()

    def begin(self) -> None:  # noqa: B027  (most have nothing to make ready)
        """Make ready a session that was not saved yet."""

    def resume(self) -> None:
        """Go back to the last checkpoint; without one the session begins anew."""
        self.folder.remove_unfinished()
        if self.folder.checkpoint_file.exists():
            self._load()
        else:
            self.begin()
        self.folder.forget_after(self.progress)
        self.points = self.folder.curve_points()

    def _next(self, minutes: float) -> float:
        """When something is due again, in seconds of training."""
        return float(self.progress.seconds + 60 * minutes) if minutes else float("inf")

    def _add(self, point: Any) -> None:
        """The learning curve goes on."""
        self.points.append(point)
        self.folder.append(point)
        self._events.add(point)
        self.callback.on_point(point)

    def _test(self) -> None:
        score, won = self._play_test()
        low = score.value if score.low is None else score.low  # a single game has no interval but its score
        high = score.value if score.high is None else score.high
        now = self.progress
        point = EvaluationPoint(
            now.games, round(now.seconds, 3), self.config.evaluate_games, score.value, low, high, won
        )
        self.folder.append(point)
        self._events.add(point)
        self.callback.on_test(point)

    def _save_or_tell(self) -> None:
        """Hours of learning are not given up because a disk is full for a while."""
        try:
            self._save()
        except FileError as problem:
            self.callback.on_unsaved(problem)

    def _finish(self) -> None:
        """Save the model, then the checkpoint: where there is room for one of them only, what was learned is there."""
        self._model(self._origin()).save(self.folder.model_file)
        self._save()

    def _origin(self) -> dict[str, str]:
        """Where the model comes from: what its file says of it."""
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
        """The first Ctrl-C or SIGTERM stops the session cleanly; a second Ctrl-C interrupts at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def stop(number: int, frame: FrameType | None) -> None:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self.stop()
            self.callback.on_stopping()

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def open_in_folder(
    kind: type[S], config: Config, folder: Any, *, resume: bool, threads: int | None, callback: Callback | None
) -> S:
    """A session in a run folder: a new one, or with `resume` the one that is there, as far as it got."""
    _check(folder, config, MAY_CHANGE | {kind.budget}, resume=resume)
    session = kind(config, folder, threads, callback)
    session.resume() if resume else session.begin()
    config.save(folder.config_file)
    return session


def _check(folder: Any, config: Config, may_change: set[str], *, resume: bool) -> None:
    """Raise UsageError unless a session can begin there, or with `resume` go on.

    Budget and tests may change when a run goes on; how it learns may not.
    """
    if not resume:
        if folder.config_file.exists():
            raise UsageError(f"{folder.path} holds a run already: --resume goes on with it, --out takes another folder")
        return
    begun = folder.config()
    for field in dataclasses.fields(config):
        old, new = getattr(begun, field.name), getattr(config, field.name)
        if field.name not in may_change and old != new:
            key = field.name.rstrip("_")
            raise UsageError(f"{folder.path} was begun with {key} = {old!r}, not {new!r}; it cannot be resumed so")
