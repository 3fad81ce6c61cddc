"""Training sessions of deep networks."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import ClassVar

import torch

from tilewright._core.files import parse_json
from tilewright._core.memory import check_memory
from tilewright._core.text import excerpt
from tilewright.deep.afterstate import AfterstateLearner
from tilewright.deep.config import DeepConfig
from tilewright.deep.dqn import DqnLearner
from tilewright.deep.learner import Learner
from tilewright.deep.model import DeepModel
from tilewright.deep.policy import play_batch
from tilewright.deep.policy_gradient import PolicyGradientLearner
from tilewright.deep.supervised import SupervisedLearner
from tilewright.deep.vecenv import FinishedGame
from tilewright.errors import DivergedError, FileError, UsageError
from tilewright.games.policy import make_results
from tilewright.play.statistics import Estimate, mean_of
from tilewright.training.callbacks import Callbacks
from tilewright.training.run_folder import DeepPoint, EpisodePoint, RunFolder
from tilewright.training.schedule import MAX_COUNTER, read_fields
from tilewright.training.session import EVALUATION_SEED, TrainingSession

__all__ = ["DeepSession"]

CHECKPOINT_FORMAT = "tilewright-deep-checkpoint-2"
# In the replay buffer, with 16 bytes for a grid.
BYTES_OF_TRANSITION = {"dqn": 80, "afterstate": 36, "supervised": 33, "policy-gradient": 0}
LEARNERS: dict[str, Callable[[DeepConfig], Learner]] = {
    "dqn": DqnLearner,
    "afterstate": AfterstateLearner,
    "supervised": SupervisedLearner,
    "policy-gradient": PolicyGradientLearner,
}


@dataclass
class DeepProgress:
    """The progress of a session; part of every checkpoint."""

    games: int = 0
    moves: int = 0
    seconds: float = 0.0
    finished: list[FinishedGame] = field(default_factory=list)  # games since the last point of the curve
    losses: list[float] = field(default_factory=lambda: [0.0, 0.0])  # sum and number since the last point
    epsilon: float = 0.0  # the probability of a random move in the last games
    accuracy: float = 0.0  # the fraction of the last positions in which the network chose the teacher's move

    stage: ClassVar[int] = 0

    @property
    def pending_games(self) -> int:
        """Games that are not in a full row of the learning curve yet."""
        return len(self.finished)


def save_progress(folder: RunFolder, learner: Learner, progress: DeepProgress) -> None:
    """Write a checkpoint."""
    metadata = {
        "format": CHECKPOINT_FORMAT,
        "config": learner.config.to_toml(),
        "progress": json.dumps(asdict(progress)),
        "counters": json.dumps(learner.counters()),
    }
    folder.save_checkpoint(learner.tensors(), metadata)


def load_progress(folder: RunFolder, learner: Learner) -> DeepProgress:
    """Restore a learner from the last complete checkpoint and return the progress of its session."""
    tensors, entries, metadata = folder.read_checkpoint(CHECKPOINT_FORMAT)
    try:
        progress = _read_progress(entries, learner.config)
        counters = parse_json(metadata.get("counters", ""))
        if not isinstance(counters, dict):
            raise ValueError("its counters are not a JSON object")
    except ValueError as error:
        raise folder.damaged_progress(str(error)) from None
    try:
        learner.restore(tensors, counters)
    except FileError as error:
        raise FileError(f"{folder.checkpoint_file}: {error}") from None
    if progress.moves != learner.steps:
        raise folder.damaged_progress(f"{progress.moves:,} moves, but {learner.steps:,} steps")
    return progress


def _read_progress(entries: Mapping[str, object], config: DeepConfig) -> DeepProgress:
    """Read the progress of a session; ValueError says what is impossible."""
    listed, losses = entries.get("finished"), entries.get("losses")
    codes = len(config.make_game().tile_values)
    if not isinstance(listed, list) or len(listed) >= config.curve_games:
        raise ValueError("the games that wait for their row are not a list, or are too many")
    for game in listed:
        is_pair = isinstance(game, list) and len(game) == 2 and all(type(number) is int for number in game)
        if not is_pair or not 0 <= game[0] <= MAX_COUNTER or not 0 <= game[1] < codes:
            raise ValueError(f"a finished game is {excerpt(game)}")
    is_pair = isinstance(losses, list) and len(losses) == 2 and all(type(loss) in (int, float) for loss in losses)
    if not isinstance(losses, list) or not is_pair or not all(0 <= loss < math.inf for loss in losses):
        raise ValueError(f"the losses are {excerpt(losses)}")
    progress = read_fields(
        DeepProgress,
        {"epsilon": 0.0, "accuracy": 0.0, **entries},  # checkpoints of before do not have them
        finished=[FinishedGame(*game) for game in listed],
        losses=[float(loss) for loss in losses],
    )
    if len(progress.finished) > progress.games:
        raise ValueError("more games wait for their row than were played")
    return progress


class DeepSession(TrainingSession):
    """The training of a deep network in a run folder."""

    budget: ClassVar[str] = "total_steps"
    config: DeepConfig
    progress: DeepProgress

    def __init__(
        self, config: DeepConfig, folder: RunFolder, threads: int | None = None, callbacks: Callbacks = None
    ) -> None:
        super().__init__(config, folder, threads, callbacks)
        torch.set_num_threads(self.threads)
        needed = config.buffer_size * BYTES_OF_TRANSITION[config.algorithm]
        check_memory(needed, f"buffer_size = {config.buffer_size:,}: the replay buffer")
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

    def status(self) -> str:
        """Return the state of the training in one line."""
        now = self.progress
        speed, epsilon = now.moves / max(now.seconds, 1e-9), self.learner.exploration_rate
        text = f"{now.moves:,} steps  {speed:,.0f} steps/s  ε {epsilon:.2f}"
        if now.accuracy:
            text += f"  accuracy {now.accuracy:.3f}"
        if self.points and isinstance(last := self.points[-1], DeepPoint):
            text += f"  mean {last.score_mean:,.0f}  largest {last.largest}  loss {last.loss:.3g}"
        return text

    def _advance(self, pause: float) -> None:
        start, now = self.clock(), self.progress
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
        now.moves, now.epsilon = self.learner.steps, self.learner.exploration_rate
        now.accuracy = self.learner.accuracy
        now.seconds += self.clock() - start
        self._append(
            *(
                EpisodePoint(now.games + number, now.moves, game.score, self.game.value(game.largest_code))
                for number, game in enumerate(finished, 1)
            )
        )
        for game in finished:
            now.games += 1
            now.finished.append(game)
            if len(now.finished) == self.config.curve_games:
                point = self._point()
                now.finished, now.losses = [], [0.0, 0.0]
                self._log(point)
        if self.callback.on_games_end(self) is False:
            self.stop()

    def _point(self) -> DeepPoint:
        """A row for the games that have none yet."""
        now, win = self.progress, self.game.win_code
        scores = [game.score for game in now.finished]
        return DeepPoint(
            now.games,
            round(now.seconds, 3),
            now.moves,
            len(scores),
            sum(scores) / len(scores),
            max(scores),
            sum(win is not None and game.largest_code >= win for game in now.finished) / len(scores),
            self.game.value(max(game.largest_code for game in now.finished)),
            round(now.epsilon, 6),
            now.losses[0] / max(1.0, now.losses[1]),
            round(now.accuracy, 6),
        )

    def _pending_point(self) -> DeepPoint | None:
        return self._point() if self.progress.finished else None

    def _evaluate(self) -> tuple[Estimate, float]:
        """Play the evaluation games with the greedy policy."""
        results = make_results(self.config.evaluate_games)
        play_batch(self.learner.model({}).policy, self.game, EVALUATION_SEED, 0, results)
        win = self.game.win_code
        return mean_of(results.scores), 0.0 if win is None else float((results.codes >= win).mean())
