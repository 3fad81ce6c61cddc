"""Training sessions of n-tuple networks."""

import json
import math
import threading
from dataclasses import asdict
from typing import ClassVar

from tilewright._core.parallel import default_threads, parallel_for
from tilewright.agents.ntuple import NTupleAgent
from tilewright.errors import FileError, UnreachedError, UsageError
from tilewright.games.policy import GameResults
from tilewright.learning.start_states import NOT_REACHED, StartPool
from tilewright.ntuple.model import Model, load_model
from tilewright.play.evaluate import evaluate
from tilewright.play.statistics import Estimate
from tilewright.training.callbacks import Callbacks
from tilewright.training.config import TrainingConfig
from tilewright.training.run_folder import CurvePoint, RunFolder, StagePoint
from tilewright.training.schedule import Limit, Pending, Phase, Progress, Schedule
from tilewright.training.session import EVALUATION_SEED, TrainingSession
from tilewright.training.trainer import Trainer

__all__ = ["NTupleSession", "load_checkpoint", "save_checkpoint"]

CHECKPOINT_FORMAT = "tilewright-checkpoint-3"
IMPROVEMENT = 1.01  # learning has stopped when the mean score grows by a smaller factor
MAX_COLLECT_GAMES = 50  # games played for each start board wanted, before a session accepts fewer boards


def save_checkpoint(folder: RunFolder, trainer: Trainer, progress: Progress) -> None:
    """Write everything that a training has changed."""
    metadata = {
        "format": CHECKPOINT_FORMAT,
        "config": trainer.config.to_toml(),
        "progress": json.dumps(asdict(progress)),
    }
    folder.save_checkpoint(trainer.tensors(), metadata)


def load_checkpoint(folder: RunFolder, trainer: Trainer) -> Progress:
    """Bring a trainer to the state of the last complete checkpoint.

    Raises:
        FileError: The checkpoint is damaged, or of another configuration.
    """
    tensors, entries, _ = folder.read_checkpoint(CHECKPOINT_FORMAT)
    try:
        progress = Progress.from_dict(entries)
        Schedule(trainer.config).check(progress)
    except ValueError as error:
        raise folder.damaged_progress(str(error)) from None
    try:
        trainer.restore(tensors)
    except FileError as error:
        raise FileError(f"{folder.checkpoint_file}: {error}") from None
    if bool(progress.stage) != bool(len(trainer.starts.cells)):
        raise folder.damaged_progress("only later stages have boards to start from, and each has some")
    return progress


class NTupleSession(TrainingSession):
    """A training session of an n-tuple network.

    `progress` is the state of the training: everything else, such as the current stage and its end, follows from it by
    `schedule`.

    Attributes:
        trainer: The network in training.
        schedule: When stages and phases of the training start and end.
    """

    budget: ClassVar[str] = "games"
    config: TrainingConfig
    progress: Progress

    def __init__(
        self,
        config: TrainingConfig,
        folder: RunFolder,
        threads: int | None = None,
        callbacks: Callbacks = None,
        trainer: Trainer | None = None,
        sync_minutes: float = math.inf,
    ) -> None:
        super().__init__(config, folder, threads, callbacks)
        self.trainer = Trainer(config) if trainer is None else trainer
        self._sync_minutes = sync_minutes
        self.schedule = Schedule(config)
        self.progress = Progress()
        self._lock = threading.Lock()

    @staticmethod
    def default_threads() -> int:
        """All processors: threads share the weights."""
        return default_threads()

    @property
    def done(self) -> float:
        """How much of the budget is used up, from 0 to 1."""
        return self.schedule.done(self.progress)

    def status(self) -> str:
        """The state of the training in one line: stage, games, speed, and the last row of the learning curve."""
        now, stages = self.progress, self.schedule.stages
        text = f"stage {now.stage + 1} of {stages}  " if stages > 1 else ""
        text += f"{now.games:,} games  {now.moves / max(now.seconds, 1e-9) / 1e6:.2f} M moves/s"
        if self.points:
            last = self.points[-1]
            text += f"  mean {last.score_mean:,.0f}"
            if self.trainer.game.win_code is not None:
                text += f"  won {100 * last.win_rate:.1f} %"
        return text

    def _start(self) -> None:
        if not self.config.model:
            return
        model = load_model(self.config.model)
        try:
            self.trainer.start_from(model)
        except UsageError as error:
            raise UsageError(f"{self.config.model}: {error}") from None
        if self.config.start_pool:
            self.progress.given_stages = 1 + len(model.architecture.stages)
            if self.progress.given_stages == self.schedule.stages:
                raise UsageError(f"{self.config.model}: has all stages already")

    def _load(self) -> None:
        self.progress = load_checkpoint(self.folder, self.trainer)
        # If the budget was raised, the stage learns on and collects its boards later.
        if self.progress.collect_games and not self.schedule.is_stage_over(self.progress):
            self.progress.collect_games = self.progress.collect_reached = 0
            self.trainer.forget_found()
        # If the budget was raised, the last part of the training is another one.
        if not self.schedule.snapshots_due(self.progress):
            self.trainer.average.clear()

    def _save(self) -> None:
        save_checkpoint(self.folder, self.trainer, self.progress)

    def _model(self, origin: dict[str, str]) -> Model:
        return self.trainer.model(origin, self.progress.stage)

    def _evaluate(self) -> tuple[Estimate, float]:
        agent, games = NTupleAgent(self._model({})), self.config.evaluate_games
        found = evaluate(agent, self.trainer.game, games=games, seed=EVALUATION_SEED, threads=self.threads)
        return found.score, found.win_rate.value if found.win_rate else 0.0

    def _warm_up(self) -> None:
        self.trainer.warm_up()

    def _advance(self, pause: float) -> None:
        if not self.schedule.is_stage_over(self.progress):
            self._learn(pause)
            self.trainer.check_finite()
            self._consider_decay()
        elif not self._has_collected():
            self._collect()
        else:
            self._start_next_stage()

    def _learn(self, pause: float) -> None:
        """Learn until the pause, the end of the phase, or the next time that `decay` is considered.

        Snapshots of the weights are taken on the way.
        """
        phase, end = self.schedule.phase(self.progress)
        end = end.or_earlier(Limit(end.games, pause))
        if self.config.patience:
            end = end.or_earlier(Limit(self.progress.decay_checked_at + self.config.patience, end.seconds))
        while True:
            taken = self.schedule.snapshots_due(self.progress)
            synchronised = Limit(end.games, self.progress.seconds + 60 * self._sync_minutes)
            self._learn_until(
                synchronised.or_earlier(self.schedule.next_snapshot(self.progress)).or_earlier(end), phase
            )
            if self.schedule.snapshots_due(self.progress) > taken:
                self._take_snapshot()
            if self.is_stopped or end.is_reached(self.progress):
                return

    def _take_snapshot(self) -> None:
        """Take the weights into their mean; the time counts as training."""
        start = self.clock()
        self.trainer.take_snapshot(self.progress.stage, self.threads)
        self.progress.seconds += self.clock() - start

    def _learn_until(self, end: Limit, phase: Phase) -> None:
        pause, last = end.seconds, end.games
        first, before, start = self.progress.games, self.progress.seconds, self.clock()

        def seconds() -> float:
            return before + self.clock() - start

        def work(offset: int, count: int) -> None:
            results = self.trainer.learn(first + offset, count, phase)
            with self._lock:
                self.progress.seconds = seconds()
                self._count(results)
            if self.callback.on_games_end(self) is False:
                self.stop()

        def is_over() -> bool:
            # At least one chunk of games is played, so that training goes on however short the time to the pause is.
            return self.is_stopped or (self.progress.games > first and seconds() >= pause)

        parallel_for(work, last - first, self.threads, until=is_over)
        self.trainer.synchronise()
        self.progress.seconds = seconds()

    def _count(self, results: GameResults) -> None:
        """Count finished games, and add a row to the learning curve after every `curve_games`."""
        win, now = self.trainer.game.win_code, self.progress
        counted = max(1, round(now.stage_share * self.config.curve_games))
        for score, moves, code in zip(*(array.tolist() for array in results), strict=True):
            now.games += 1
            now.moves += moves
            now.pending.games += 1
            now.pending.score_sum += score
            now.pending.score_max = max(now.pending.score_max, score)
            if now.pending.games <= counted:
                now.pending.share_max = max(now.pending.share_max, score)
            now.pending.wins += win is not None and code >= win
            if now.pending.games == self.config.curve_games:
                point = self._point()
                now.pending = Pending()
                self._log(point)

    def _point(self) -> CurvePoint:
        """A row for the pending games."""
        now, pending = self.progress, self.progress.pending
        return CurvePoint(
            games=now.games,
            seconds=round(now.seconds, 3),
            moves=now.moves,
            window=pending.games,
            score_mean=pending.score_sum / pending.games,
            score_max=pending.score_max,
            win_rate=pending.wins / pending.games,
            alpha=float(self.trainer.alpha[0]),
            stage=now.stage + 1,
            share_max=pending.share_max,
        )

    def _pending_point(self) -> CurvePoint | None:
        return self._point() if self.progress.pending.games else None

    def _consider_decay(self) -> None:
        """Multiply alpha by `decay` if the last `patience` games are no better than the `patience` before them."""
        patience, now = self.config.patience, self.progress
        if not patience or now.games < now.decay_checked_at + patience:
            return
        now.decay_checked_at = now.games
        rows = [row for row in self.points if isinstance(row, CurvePoint) and row.stage == now.stage + 1]
        last = [row.score_mean for row in rows if now.games - patience < row.games <= now.games]
        earlier = [row.score_mean for row in rows if now.games - 2 * patience < row.games <= now.games - patience]
        if last and earlier and sum(last) / len(last) < IMPROVEMENT * sum(earlier) / len(earlier):
            self.trainer.alpha *= self.config.decay
            now.decays += 1

    def _has_collected(self) -> bool:
        """Whether there are enough start boards for the next stage, or further games would not help."""
        return len(self.trainer.found.cells) >= self.config.start_pool or self._gives_up_collecting()

    def _gives_up_collecting(self) -> bool:
        return self.progress.collect_games >= MAX_COLLECT_GAMES * self.config.start_pool

    def _collect(self) -> None:
        """Play some games without learning, and keep the boards where they reach the next stage."""
        now, before, start = self.progress, self.progress.seconds, self.clock()
        first, stage = now.collect_games, now.stage
        pools: dict[int, StartPool] = {}

        def work(offset: int, count: int) -> None:
            boards = self.trainer.collect_starts(first + offset, count, stage)
            with self._lock:
                pools[offset] = boards
                now.collect_games += count
                now.collect_reached += int((boards.scores != NOT_REACHED).sum())
                now.seconds = before + self.clock() - start
            if self.callback.on_starts_collected(self) is False:
                self.stop()

        size = max(100, self.config.start_pool // 10)
        parallel_for(work, size - first % size, self.threads, until=self._stop.is_set)
        self.trainer.keep([pools[offset] for offset in sorted(pools)])
        if self._gives_up_collecting() and not len(self.trainer.found.cells):
            self._finish()
            raise self._unreached()

    def _unreached(self) -> UnreachedError:
        games, stage = self.progress.collect_games, self.progress.stage
        return UnreachedError(
            f"none of {games:,} games reached {self.config.stages[stage]}: stage {stage + 2} has no boards to start "
            "from; train the stage before it longer"
        )

    def _start_next_stage(self) -> None:
        now, found = self.progress, self.trainer.found
        if not len(found.cells):  # a run that had given up is resumed as it was
            raise self._unreached()
        point = StagePoint(
            stage=now.stage + 2,
            games=now.games,
            seconds=round(now.seconds, 3),
            start_boards=len(found.cells),
            collect_games=now.collect_games,
            baseline_score=float(found.finals.mean()),
        )
        now.start_next_stage()
        self.trainer.start_next_stage(now.stage - 1)
        self._append(point)
        self._try("checkpoint", self._save)
        self.callback.on_stage_start(self, point)
