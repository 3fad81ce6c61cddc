"""Training sessions of deep networks."""

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
from tilewright.deep.policy import NetworkPolicy, play_batch
from tilewright.deep.vecenv import FinishedGame
from tilewright.errors import DivergedError, UsageError
from tilewright.games.policy import make_results
from tilewright.play.statistics import Estimate, mean_of
from tilewright.training.run_folder import DeepPoint, DeepRunFolder
from tilewright.training.session import TEST_SEED, Callback, TrainingSession, open_in_folder

__all__ = ["DeepSession", "open_deep_session"]

LEARNERS: dict[str, Callable[[DeepConfig], Learner]] = {"dqn": DqnLearner, "afterstate": AfterstateLearner}


@dataclass
class DeepProgress:
    """The progress of a session; part of every checkpoint."""

    games: int = 0
    moves: int = 0
    seconds: float = 0.0
    finished: list[FinishedGame] = field(default_factory=list)  # games since the last point of the curve
    losses: list[float] = field(default_factory=lambda: [0.0, 0.0])  # sum and number since the last point

    stage: ClassVar[int] = 0


def save_progress(folder: DeepRunFolder, learner: Learner, progress: DeepProgress) -> None:
    """Write a checkpoint."""
    folder.save_checkpoint(learner, progress, counters=json.dumps(learner.counters()))


def load_progress(folder: DeepRunFolder, learner: Learner) -> DeepProgress:
    """Restore a learner from the last complete checkpoint and return the progress of its session."""
    tensors, entries, metadata = folder.read_checkpoint()
    try:
        progress = DeepProgress(**entries)
        progress.finished = [FinishedGame(*game) for game in progress.finished]
        counters = json.loads(metadata["counters"])
    except (KeyError, TypeError, ValueError):
        raise folder.damaged() from None
    learner.restore(tensors, counters)
    return progress


class DeepSession(TrainingSession):
    """The training of a deep network in a run folder."""

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
            raise UsageError(
                f"buffer_size = {config.buffer_size}: not enough memory for this many transitions"
            ) from None
        self.game = config.make_game()
        self.progress = DeepProgress()

    @staticmethod
    def default_threads() -> int:
        """Return 1: networks of this size are slower on more threads."""
        return 1

    def _load(self) -> None:
        self.progress = load_progress(self.folder, self.learner)

    def _save(self) -> None:
        save_progress(self.folder, self.learner, self.progress)

    def _model(self, origin: dict[str, str]) -> DeepModel:
        return self.learner.model(origin)

    @property
    def done(self) -> float:
        """The used fraction of the budget, from 0 to 1."""
        now, config = self.progress, self.config
        by_steps = self.learner.steps / config.total_steps if config.total_steps else 0.0
        by_time = now.seconds / (60 * config.minutes) if config.minutes else 0.0
        return min(1.0, max(by_steps, by_time))

    def figures(self) -> str:
        """Return the state of the training in one line."""
        now = self.progress
        speed, epsilon = now.moves / max(now.seconds, 1e-9), self.learner.exploration_rate
        text = f"{now.moves:,} steps  {speed:,.0f} steps/s  ε {epsilon:.2f}"
        if self.points:
            last = self.points[-1]
            text += f"  mean {last.score_mean:,.0f}  largest {last.largest}  loss {last.loss:.3g}"
        return text

    def _advance(self, pause: float) -> None:
        began, now = time.perf_counter(), self.progress
        finished = self.learner.learn(self.done)
        losses = self.learner.pop_losses()
        if not all(math.isfinite(loss) for loss in losses):
            kept = (
                f"; the last checkpoint is {self.folder.checkpoint_file}"
                if self.folder.checkpoint_file.exists()
                else ""
            )
            raise DivergedError(
                f"learning diverged: the loss is not a finite number after {self.learner.steps:,} steps; "
                f"try a learning_rate below {self.config.learning_rate:g} or a larger reward_scale{kept}"
            )
        now.losses = [now.losses[0] + sum(losses), now.losses[1] + len(losses)]
        now.moves = self.learner.steps
        now.seconds += time.perf_counter() - began
        for game in finished:
            now.games += 1
            now.finished.append(game)
            if len(now.finished) == self.config.curve_games:
                self._add_point()
        self.callback.on_games(self)

    def _add_point(self) -> None:
        now, win = self.progress, self.game.win_code
        scores = [game.score for game in now.finished]
        point = DeepPoint(
            now.games,
            round(now.seconds, 3),
            now.moves,
            sum(scores) / len(scores),
            max(scores),
            sum(win is not None and game.largest_code >= win for game in now.finished) / len(scores),
            self.game.value(max(game.largest_code for game in now.finished)),
            round(self.learner.exploration_rate, 6),
            now.losses[0] / max(1.0, now.losses[1]),
        )
        now.finished, now.losses = [], [0.0, 0.0]
        self._add(point)

    def _play_test(self) -> tuple[Estimate, float]:
        """Play the evaluation games with the greedy policy."""
        results = make_results(self.config.evaluate_games)
        play_batch(NetworkPolicy(self.learner.network, self.config.reward_scale), self.game, TEST_SEED, 0, results)
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
    """Open a session in a run folder.

    Args:
        config: The configuration.
        path: The run folder.
        resume: Whether to continue the run that is there.
        threads: The number of threads of PyTorch; 1 by default.
        callback: Receives the events of the session.

    Raises:
        UsageError: The folder holds a run already, or the run to resume was started with another configuration.
        FileError: There is no run to resume, or its checkpoint is damaged.
    """
    return open_in_folder(DeepSession, config, DeepRunFolder(path), resume=resume, threads=threads, callback=callback)
