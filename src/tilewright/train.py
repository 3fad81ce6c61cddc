"""A training session: play, learn, watch, test, save; stop at any time and go on later."""

import dataclasses
import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, TypeVar

from tilewright import __version__
from tilewright.agents.ntuple import ModelAgent
from tilewright.config import Config
from tilewright.engines.local import default_threads, spread
from tilewright.errors import FileError, UnreachedError, UsageError
from tilewright.evaluation import evaluate
from tilewright.intervals import Estimate
from tilewright.learning.recipe import Recipe
from tilewright.learning.starts import Boards
from tilewright.learning.trainer import Trainer
from tilewright.playing import Results
from tilewright.runs import CurvePoint, EvaluationPoint, EventLog, Progress, RunFolder, StagePoint

__all__ = [
    "Running",
    "Session",
    "Watcher",
    "begin_in_folder",
    "check_folder",
    "open_session",
    "origin_of",
    "point_of_test",
    "stopping_on_signals",
]

IMPROVEMENT = 1.01  # learning is saturated when the mean score grows by less than this
MAY_CHANGE = {"games", "minutes", "evaluate_games", "evaluate_minutes", "checkpoint_minutes"}  # when a run goes on
TEST_SEED = 2**31  # tests along the way play other games than training does
MOST_COLLECTED = 50  # games played for each board wanted, before a session makes do with fewer


class Running(Protocol):
    """What can be watched, stopped and resumed: a session of any kind."""

    recipe: Any
    folder: Any
    progress: Any
    points: list[Any]
    threads: int
    watcher: "Watcher"

    @property
    def done(self) -> float: ...

    def figures(self) -> str: ...

    def run(self) -> Any: ...

    def stop(self) -> None: ...

    def resume(self) -> None: ...


S = TypeVar("S", bound=Running)


class Watcher:
    """Is told what happens in a session; every method may be left out."""

    def on_games(self, session: Any) -> None:
        """Some games of a session of any kind (`Running`) were finished; called from the threads that played them."""

    def on_point(self, point: Any) -> None:
        """The learning curve has a new point."""

    def on_test(self, point: EvaluationPoint) -> None:
        """The network was tested."""

    def on_collected(self, session: "Session") -> None:
        """Some games were played to find boards for the next stage; called from the threads that played them."""

    def on_stage(self, point: StagePoint) -> None:
        """The next stage begins."""

    def on_unsaved(self, problem: FileError) -> None:
        """A checkpoint could not be written; learning goes on, and the next is tried in its turn."""

    def on_stopping(self) -> None:
        """The session was asked to stop and will, after the games under way."""


class Session:
    """Training by a recipe in a run folder."""

    def __init__(
        self, recipe: Recipe, folder: RunFolder, *, threads: int | None = None, watcher: Watcher | None = None
    ) -> None:
        self.recipe, self.folder = recipe, folder
        self.threads = default_threads() if threads is None else threads
        if self.threads < 1:
            raise UsageError(f"threads={threads}: at least one is needed")
        self.watcher = watcher or Watcher()
        self.trainer = Trainer(recipe)
        self.progress = Progress()
        self.points: list[CurvePoint] = []
        self._stop = threading.Event()
        self._lock = threading.Lock()

    def resume(self) -> None:
        """Go back to the last checkpoint; without one the session begins anew."""
        self.folder.remove_unfinished()
        if self.folder.checkpoint.exists():
            self.progress = self.folder.load_checkpoint(self.trainer)
        if self.progress.collected and not self._stage_is_over():  # the budget was raised: it learns on
            self.progress.collected = 0
            self.trainer.forget_found()
        self.folder.forget_after(self.progress)
        self.points = self.folder.curve_points()

    def stop(self) -> None:
        """Ask the session to end after the games under way."""
        self._stop.set()

    @property
    def done(self) -> float:
        """How much of the budget is used up, from 0 to 1."""
        return self._used(self.progress.games, self.progress.seconds)

    def _used(self, games: int, seconds: float) -> float:
        recipe = self.recipe
        by_games = games / recipe.games if recipe.games else 0.0
        by_time = seconds / (60 * recipe.minutes) if recipe.minutes else 0.0
        return min(1.0, max(by_games, by_time))

    def figures(self) -> str:
        """Where it is, in one line."""
        now = self.progress
        text = f"stage {now.stage + 1} of {self.stages}  " if self.stages > 1 else ""
        text += f"{now.games:,} games  {now.moves / max(now.seconds, 1e-9) / 1e6:.2f} M moves/s"
        if self.points:
            last = self.points[-1]
            text += f"  mean {last.score_mean:,.0f}"
            if self.trainer.game.win_code is not None:
                text += f"  won {100 * last.win_rate:.1f} %"
        return text

    @property
    def stages(self) -> int:
        """How many stages are learned one after the other."""
        return 1 + len(self.recipe.stages) if self.recipe.collect else 1

    def _stage_ends(self) -> tuple[int, float]:
        """After how many games or seconds; the stages that are left have equal parts of what is left."""
        now, recipe = self.progress, self.recipe
        began = self._used(now.stage_games, now.stage_seconds)
        part = began + (1 - began) / (self.stages - now.stage)
        return (
            round(part * recipe.games) if recipe.games else 2**62,
            part * 60 * recipe.minutes if recipe.minutes else float("inf"),
        )

    def _stage_is_over(self) -> bool:
        games, seconds = self._stage_ends()
        last = self.progress.stage + 1 == self.stages
        return not last and (self.progress.games >= games or self.progress.seconds >= seconds)

    def run(self) -> Progress:
        """Train until the budget is used up or `stop` is called, then save the model."""
        self.trainer.warm_up()  # so that only training is timed
        events = EventLog(self.folder, self.progress.games)
        test_at = self._next(self.recipe.evaluate_minutes)
        save_at = self._next(self.recipe.checkpoint_minutes)
        with stopping_on_signals(self), events:
            self._events = events
            while self.done < 1 and not self._stop.is_set():
                if not self._stage_is_over():
                    self._train_until(min(test_at, save_at))
                    self.trainer.check_finite()
                    self._consider_step()
                elif not self._has_collected():
                    self._collect()
                else:
                    self._enter_next_stage()
                if self.progress.seconds >= test_at and not self._stop.is_set():
                    self._test()
                    test_at = self._next(self.recipe.evaluate_minutes)
                if self.progress.seconds >= save_at:
                    with going_on_unsaved(self.watcher):
                        self.folder.save_checkpoint(self.trainer, self.progress)
                    save_at = self._next(self.recipe.checkpoint_minutes)
            self._finish()
        return self.progress

    def _next(self, minutes: float) -> float:
        """When something is due again, in seconds of training."""
        return self.progress.seconds + 60 * minutes if minutes else float("inf")

    def _train_until(self, pause: float) -> None:
        """Train to the next pause, to the next look at the step, or to the end of the stage."""
        recipe, before = self.recipe, self.progress.seconds
        limit, end = self._stage_ends()
        self.trainer.asleep = self.done < recipe.stages_after
        if self.trainer.asleep:
            limit = min(limit, math.ceil(recipe.stages_after * recipe.games) or limit)
            end = min(end, recipe.stages_after * 60 * recipe.minutes or end)
        pause = min(pause, end)
        if recipe.patience:
            limit = min(limit, self.progress.decided_at + recipe.patience)
        began = time.perf_counter()

        def elapsed() -> float:
            return before + time.perf_counter() - began

        first = self.progress.games

        def work(start: int, count: int) -> None:
            results = self.trainer.learn(first + start, count)
            with self._lock:
                self.progress.seconds = elapsed()
                self._note(results)
            self.watcher.on_games(self)

        def is_over() -> bool:
            """A pause comes after some games at the earliest: however short the time, the session gets on."""
            return self._stop.is_set() or (self.progress.games > first and elapsed() >= pause)

        spread(work, limit - first, self.threads, until=is_over)
        self.progress.seconds = elapsed()

    def _note(self, results: Results) -> None:
        """Count finished games, and make a point of the curve of every so many."""
        win = self.trainer.game.win_code
        for score, moves, code in zip(*(array.tolist() for array in results), strict=True):
            waiting = self.progress.waiting
            waiting["games"] += 1
            waiting["moves"] += moves
            waiting["score"] += score
            waiting["best"] = max(waiting["best"], score)
            waiting["wins"] += win is not None and code >= win
            self.progress.games += 1
            self.progress.moves += moves
            if waiting["games"] == self.recipe.curve_games:
                self._add_point()

    def _add_point(self) -> None:
        waiting, n = self.progress.waiting, self.recipe.curve_games
        point = CurvePoint(
            self.progress.games,
            round(self.progress.seconds, 3),
            self.progress.moves,
            waiting["score"] / n,
            waiting["best"],
            waiting["wins"] / n,
            float(self.trainer.share[0]),
            self.progress.stage + 1,
        )
        self.progress.waiting = Progress().waiting
        self.points.append(point)
        self.folder.append(point)
        self._events.add(point)
        self.watcher.on_point(point)

    def _consider_step(self) -> None:
        """Make the step smaller when the last games were no better than as many before them."""
        patience, now = self.recipe.patience, self.progress
        if not patience or now.games < now.decided_at + patience:
            return
        now.decided_at = now.games
        stage = [p for p in self.points if p.stage == now.stage + 1]
        last = [p.score_mean for p in stage if now.games - patience < p.games <= now.games]
        earlier = [p.score_mean for p in stage if now.games - 2 * patience < p.games <= now.games - patience]
        if last and earlier and sum(last) / len(last) < IMPROVEMENT * sum(earlier) / len(earlier):
            self.trainer.share *= self.recipe.decay
            now.decays += 1

    def _has_collected(self) -> bool:
        """Whether there are enough boards for the next stage, or as many as can be hoped for."""
        return len(self.trainer.found.cells) >= self.recipe.collect or self._gives_up()

    def _gives_up(self) -> bool:
        return self.progress.collected >= MOST_COLLECTED * self.recipe.collect

    def _collect(self) -> None:
        """Play some games without learning, and keep where they reach the next stage."""
        before, began, first = self.progress.seconds, time.perf_counter(), self.progress.collected
        pieces: dict[int, Boards] = {}

        def work(start: int, count: int) -> None:
            boards = self.trainer.collect(first + start, count)
            with self._lock:
                pieces[start] = boards
                self.progress.collected += count
                self.progress.seconds = before + time.perf_counter() - began
            self.watcher.on_collected(self)

        size = max(100, self.recipe.collect // 10)
        spread(work, size - first % size, self.threads, until=self._stop.is_set)
        self.trainer.keep([boards for _, boards in sorted(pieces.items(), key=lambda piece: piece[0])])
        if self._gives_up() and not len(self.trainer.found.cells):
            self._finish()
            condition, played = self.recipe.stages[self.progress.stage], self.progress.collected
            raise UnreachedError(
                f"none of {played:,} games reached {condition}: stage {self.progress.stage + 2} has no boards to begin "
                "on; train the stage before it longer"
            )

    def _enter_next_stage(self) -> None:
        now, found = self.progress, self.trainer.found
        now.stage += 1
        point = StagePoint(
            now.stage + 1,
            now.games,
            round(now.seconds, 3),
            len(found.cells),
            now.collected,
            float(found.finals.mean()),
        )
        now.stage_games, now.stage_seconds, now.decided_at, now.collected = now.games, now.seconds, now.games, 0
        now.waiting = Progress().waiting
        self.trainer.enter_next_stage()
        self.folder.append(point)
        with going_on_unsaved(self.watcher):
            self.folder.save_checkpoint(self.trainer, now)
        self.watcher.on_stage(point)

    def _test(self) -> None:
        agent = ModelAgent(self.trainer.model({}))
        games = self.recipe.evaluate_games
        found = evaluate(agent, self.trainer.game, games=games, seed=TEST_SEED, threads=self.threads)
        point = point_of_test(self.progress, found.score, found.games, found.win_rate.value if found.win_rate else 0.0)
        self.folder.append(point)
        self._events.add(point)
        self.watcher.on_test(point)

    def _finish(self) -> None:
        """Save the model, then the checkpoint: where there is room for one of them only, what was learned is there."""
        self.trainer.model(origin_of(self)).save(self.folder.model)
        self.folder.save_checkpoint(self.trainer, self.progress)


@contextmanager
def going_on_unsaved(watcher: Watcher) -> Iterator[None]:
    """Hours of learning are not given up because a disk is full for a while."""
    try:
        yield
    except FileError as problem:
        watcher.on_unsaved(problem)


def point_of_test(progress: Any, score: Estimate, games: int, win_rate: float) -> EvaluationPoint:
    """What a test of so many games found; one of a single game has no interval but its score."""
    low = score.value if score.low is None else score.low
    high = score.value if score.high is None else score.high
    return EvaluationPoint(progress.games, round(progress.seconds, 3), games, score.value, low, high, win_rate)


def origin_of(session: Running) -> dict[str, str]:
    """Where a model comes from: what its file says of it."""
    return {
        "recipe": session.recipe.to_toml(),
        "seed": str(session.recipe.seed),
        "games": str(session.progress.games),
        "moves": str(session.progress.moves),
        "seconds": f"{session.progress.seconds:.1f}",
        "threads": str(session.threads),
        "revision": __version__,
    }


def open_session(
    recipe: Recipe,
    path: Path,
    *,
    resume: bool = False,
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> Session:
    """A session in the folder `path`: a new one, or with `resume` the one that is there, as far as it got."""
    folder = RunFolder(path)
    check_folder(folder, recipe, MAY_CHANGE, resume=resume)
    return begin_in_folder(Session(recipe, folder, threads=threads, watcher=watcher), resume=resume)


def check_folder(folder: RunFolder, recipe: Config, may_change: set[str], *, resume: bool) -> None:
    """Raise UsageError unless a session can begin there, or with `resume` go on.

    Budget and tests may change when a run goes on; how it learns may not.
    """
    if not resume:
        if folder.config.exists():
            raise UsageError(f"{folder.path} holds a run already: --resume goes on with it, --out takes another folder")
        return
    begun = folder.recipe()
    for field in dataclasses.fields(recipe):
        old, new = getattr(begun, field.name), getattr(recipe, field.name)
        if field.name not in may_change and old != new:
            key = field.name.rstrip("_")
            raise UsageError(f"{folder.path} was begun with {key} = {old!r}, not {new!r}; it cannot be resumed so")


def begin_in_folder(session: S, *, resume: bool) -> S:
    """Bring a session to where its folder is, and keep its recipe there."""
    if resume:
        session.resume()
    session.recipe.save(session.folder.config)
    return session


@contextmanager
def stopping_on_signals(session: Running) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM stops the session cleanly; a second Ctrl-C interrupts at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        session.stop()
        session.watcher.on_stopping()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
