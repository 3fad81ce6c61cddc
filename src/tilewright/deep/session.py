"""A training session of a deep network, in a run folder like any other: stop at any time, go on later."""

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import torch

from tilewright.deep.afterstate import AfterstateLearner
from tilewright.deep.config import DeepConfig
from tilewright.deep.dqn import DqnLearner
from tilewright.deep.learner import Learner
from tilewright.deep.model import DeepModel
from tilewright.deep.playing import Player, play_batch
from tilewright.deep.vecenv import Finished
from tilewright.errors import DivergedError, UsageError
from tilewright.games.policy import make_results
from tilewright.play.statistics import Estimate, mean_of
from tilewright.training.run_folder import DeepPoint, DeepRunFolder
from tilewright.training.session import TEST_SEED, Callback, TrainingSession, open_in_folder

__all__ = ["DeepSession", "open_deep_session"]

LEARNERS: dict[str, Callable[[DeepConfig], Learner]] = {"dqn": DqnLearner, "afterstate": AfterstateLearner}


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


class DeepSession(TrainingSession):
    """Training of a deep network by a recipe."""

    budget: ClassVar[str] = "total_steps"
    config: DeepConfig
    progress: DeepProgress
    points: list[DeepPoint]

    def __init__(
        self, config: DeepConfig, folder: DeepRunFolder, threads: int | None = None, callback: Callback | None = None
    ) -> None:
        super().__init__(config, folder, threads, callback)
        torch.set_num_threads(self.threads)
        try:
            self.learner = LEARNERS[config.algorithm](config)
        except MemoryError:
            raise UsageError(f"buffer_size = {config.buffer_size}: there is no memory for so many moves") from None
        self.game = config.make_game()
        self.progress = DeepProgress()

    @staticmethod
    def default_threads() -> int:
        return 1  # small networks are slower on more

    def _load(self) -> None:
        self.progress = load_progress(self.folder, self.learner)

    def _save(self) -> None:
        save_progress(self.folder, self.learner, self.progress)

    def _model(self, origin: dict[str, str]) -> DeepModel:
        return self.learner.model(origin)

    @property
    def done(self) -> float:
        """How much of the budget is used up, from 0 to 1."""
        now, config = self.progress, self.config
        by_steps = self.learner.steps / config.total_steps if config.total_steps else 0.0
        by_time = now.seconds / (60 * config.minutes) if config.minutes else 0.0
        return min(1.0, max(by_steps, by_time))

    def figures(self) -> str:
        """Where it is, in one line."""
        now = self.progress
        text = f"{now.moves:,} steps  {now.moves / max(now.seconds, 1e-9):,.0f} steps/s  ε {self.learner.epsilon:.2f}"
        if self.points:
            last = self.points[-1]
            text += f"  mean {last.score_mean:,.0f}  largest {last.largest}  loss {last.loss:.3g}"
        return text

    def _advance(self, pause: float) -> None:
        began, now = time.perf_counter(), self.progress
        finished = self.learner.advance(self.done)
        losses = self.learner.take_losses()
        if not all(math.isfinite(loss) for loss in losses):
            kept = (
                f"; the checkpoint of before is {self.folder.checkpoint_file}"
                if self.folder.checkpoint_file.exists()
                else ""
            )
            raise DivergedError(
                f"learning diverged: the loss is no number any more after {self.learner.steps:,} steps; "
                f"try a learning_rate below {self.config.learning_rate:g} or a larger reward_scale{kept}"
            )
        now.losses = [now.losses[0] + sum(losses), now.losses[1] + len(losses)]
        now.moves = self.learner.steps
        now.seconds += time.perf_counter() - began
        for game in finished:
            now.games += 1
            now.waiting.append(game)
            if len(now.waiting) == self.config.curve_games:
                self._add_point()
        self.callback.on_games(self)

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
        self._add(point)

    def _play_test(self) -> tuple[Estimate, float]:
        """Play some games by the network alone."""
        results = make_results(self.config.evaluate_games)
        play_batch(Player(self.learner.network, self.config.reward_scale), self.game, TEST_SEED, 0, results)
        win = self.game.win_code
        return mean_of(results.scores), 0.0 if win is None else float((results.codes >= win).mean())


def open_deep_session(
    config: DeepConfig,
    path: Path,
    *,
    resume: bool = False,
    threads: int | None = None,
    callback: Callback | None = None,
) -> DeepSession:
    """A session in the folder `path`: a new one, or with `resume` the one that is there, as far as it got."""
    return open_in_folder(DeepSession, config, DeepRunFolder(path), resume=resume, threads=threads, callback=callback)
