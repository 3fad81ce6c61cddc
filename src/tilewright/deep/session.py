"""A training session of a deep network, in a run folder like any other: stop at any time, go on later."""

import json
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import torch

from tilewright.deep.afterstate import AfterstateLearner
from tilewright.deep.dqn import DqnLearner
from tilewright.deep.learner import Learner
from tilewright.deep.playing import Player, play_together
from tilewright.deep.vecenv import Finished
from tilewright.errors import DivergedError, UsageError
from tilewright.intervals import mean_of
from tilewright.learning.deep_recipe import DeepRecipe
from tilewright.playing import make_results
from tilewright.runs import DeepPoint, DeepRunFolder, EventLog
from tilewright.train import (
    TEST_SEED,
    Watcher,
    begin_in_folder,
    check_folder,
    going_on_unsaved,
    origin_of,
    point_of_test,
    stopping_on_signals,
)

__all__ = ["DeepSession", "open_deep_session"]

LEARNERS: dict[str, Callable[[DeepRecipe], Learner]] = {"dqn": DqnLearner, "afterstate": AfterstateLearner}
MAY_CHANGE = {"steps", "minutes", "evaluate_games", "evaluate_minutes", "checkpoint_minutes"}  # when a run goes on


@dataclass
class DeepProgress:
    """How far a session is; part of every checkpoint."""

    games: int = 0
    moves: int = 0
    seconds: float = 0.0
    waiting: list[Finished] = field(default_factory=list)  # games that have no point of the curve yet
    losses: list[float] = field(default_factory=lambda: [0.0, 0.0])  # sum and count since the last point

    stage: ClassVar[int] = 0


def save_progress(folder: DeepRunFolder, learner: Learner, progress: DeepProgress) -> None:
    folder.save_checkpoint(learner, progress, counts=json.dumps(learner.counts()))


def load_progress(folder: DeepRunFolder, learner: Learner) -> DeepProgress:
    """Bring a learner to where the last complete checkpoint was."""
    tensors, entries, metadata = folder.read_checkpoint()
    try:
        progress = DeepProgress(**entries)
        progress.waiting = [Finished(*game) for game in progress.waiting]
        counts = json.loads(metadata["counts"])
    except (KeyError, TypeError, ValueError):
        raise folder.damaged() from None
    learner.restore(tensors, counts)
    return progress


class DeepSession:
    """Training by a deep recipe in a run folder."""

    def __init__(
        self, recipe: DeepRecipe, folder: DeepRunFolder, *, threads: int | None = None, watcher: Watcher | None = None
    ) -> None:
        if threads is not None and threads < 1:
            raise UsageError(f"threads={threads}: at least one is needed")
        self.recipe, self.folder = recipe, folder
        self.threads = threads or 1
        self.watcher = watcher or Watcher()
        torch.set_num_threads(self.threads)  # small networks are slower on more
        try:
            self.learner = LEARNERS[recipe.learner](recipe)
        except MemoryError:
            raise UsageError(f"replay = {recipe.replay}: there is no memory for so many moves") from None
        self.game = recipe.make_game()
        self.progress = DeepProgress()
        self.points: list[DeepPoint] = []
        self._stop = threading.Event()

    def resume(self) -> None:
        """Go back to the last checkpoint; without one the session begins anew."""
        self.folder.remove_unfinished()
        if self.folder.checkpoint.exists():
            self.progress = load_progress(self.folder, self.learner)
        self.folder.forget_after(self.progress)
        self.points = self.folder.curve_points()

    def stop(self) -> None:
        """Ask the session to end after the moves under way."""
        self._stop.set()

    @property
    def done(self) -> float:
        """How much of the budget is used up, from 0 to 1."""
        now, recipe = self.progress, self.recipe
        by_steps = self.learner.steps / recipe.steps if recipe.steps else 0.0
        by_time = now.seconds / (60 * recipe.minutes) if recipe.minutes else 0.0
        return min(1.0, max(by_steps, by_time))

    def figures(self) -> str:
        """Where it is, in one line."""
        now = self.progress
        text = f"{now.moves:,} steps  {now.moves / max(now.seconds, 1e-9):,.0f} steps/s  ε {self.learner.epsilon:.2f}"
        if self.points:
            last = self.points[-1]
            text += f"  mean {last.score_mean:,.0f}  largest {last.largest}  loss {last.loss:.3g}"
        return text

    def run(self) -> DeepProgress:
        """Train until the budget is used up or `stop` is called, then save the model."""
        test_at = self._next(self.recipe.evaluate_minutes)
        save_at = self._next(self.recipe.checkpoint_minutes)
        with stopping_on_signals(self), EventLog(self.folder, self.progress.games) as self._events:
            while self.done < 1 and not self._stop.is_set():
                self._advance()
                if self.progress.seconds >= test_at and not self._stop.is_set():
                    self._test()
                    test_at = self._next(self.recipe.evaluate_minutes)
                if self.progress.seconds >= save_at:
                    with going_on_unsaved(self.watcher):
                        save_progress(self.folder, self.learner, self.progress)
                    save_at = self._next(self.recipe.checkpoint_minutes)
            self._finish()
        return self.progress

    def _next(self, minutes: float) -> float:
        """When something is due again, in seconds of training."""
        return self.progress.seconds + 60 * minutes if minutes else float("inf")

    def _advance(self) -> None:
        began, now = time.perf_counter(), self.progress
        finished = self.learner.advance(self.done)
        losses = self.learner.take_losses()
        if not all(math.isfinite(loss) for loss in losses):
            kept = f"; the checkpoint of before is {self.folder.checkpoint}" if self.folder.checkpoint.exists() else ""
            raise DivergedError(
                f"learning diverged: the loss is no number any more after {self.learner.steps:,} steps; "
                f"try a learning_rate below {self.recipe.learning_rate:g} or a larger unit{kept}"
            )
        now.losses = [now.losses[0] + sum(losses), now.losses[1] + len(losses)]
        now.moves = self.learner.steps
        now.seconds += time.perf_counter() - began
        for game in finished:
            now.games += 1
            now.waiting.append(game)
            if len(now.waiting) == self.recipe.curve_games:
                self._add_point()
        self.watcher.on_games(self)

    def _add_point(self) -> None:
        now, win = self.progress, self.game.win_code
        scores = [game.score for game in now.waiting]
        point = DeepPoint(
            now.games,
            round(now.seconds, 3),
            now.moves,
            sum(scores) / len(scores),
            max(scores),
            sum(win is not None and game.code >= win for game in now.waiting) / len(scores),
            self.game.value(max(game.code for game in now.waiting)),
            round(self.learner.epsilon, 6),
            now.losses[0] / max(1.0, now.losses[1]),
        )
        now.waiting, now.losses = [], [0.0, 0.0]
        self.points.append(point)
        self.folder.append(point)
        self._events.add(point)
        self.watcher.on_point(point)

    def _test(self) -> None:
        """Play some games by the network alone."""
        results = make_results(self.recipe.evaluate_games)
        play_together(Player(self.learner.network, self.recipe.unit), self.game, TEST_SEED, 0, results)
        win = self.game.win_code
        won = 0.0 if win is None else float((results.codes >= win).mean())
        point = point_of_test(self.progress, mean_of(results.scores), len(results.scores), won)
        self.folder.append(point)
        self._events.add(point)
        self.watcher.on_test(point)

    def _finish(self) -> None:
        self.learner.model(origin_of(self)).save(self.folder.model)
        save_progress(self.folder, self.learner, self.progress)


def open_deep_session(
    recipe: DeepRecipe,
    path: Path,
    *,
    resume: bool = False,
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> DeepSession:
    """A session in the folder `path`: a new one, or with `resume` the one that is there, as far as it got."""
    folder = DeepRunFolder(path)
    check_folder(folder, recipe, MAY_CHANGE, resume=resume)
    return begin_in_folder(DeepSession(recipe, folder, threads=threads, watcher=watcher), resume=resume)
