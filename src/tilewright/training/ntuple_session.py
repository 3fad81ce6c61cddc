"""A training session: play, learn, watch, test, save; stop at any time and go on later."""

import math
import threading
import time
from pathlib import Path
from typing import ClassVar

from tilewright._core.parallel import default_threads, parallel_for
from tilewright.agents.ntuple import NTupleAgent
from tilewright.errors import UnreachedError, UsageError
from tilewright.games.policy import GameResults
from tilewright.learning.start_states import StartPool
from tilewright.ntuple.model import Model, load_model
from tilewright.play.evaluate import evaluate
from tilewright.play.statistics import Estimate
from tilewright.training.config import TrainingConfig
from tilewright.training.run_folder import CurvePoint, Progress, RunFolder, StagePoint
from tilewright.training.session import TEST_SEED, Callback, TrainingSession, open_in_folder
from tilewright.training.trainer import Trainer

__all__ = ["NTupleSession", "open_session"]

IMPROVEMENT = 1.01  # learning is saturated when the mean score grows by less than this
MOST_COLLECTED = 50  # games played for each board wanted, before a session makes do with fewer


class NTupleSession(TrainingSession):
    """Training of a network of tuples by a recipe."""

    budget: ClassVar[str] = "games"
    config: TrainingConfig
    progress: Progress
    points: list[CurvePoint]

    def __init__(
        self, config: TrainingConfig, folder: RunFolder, threads: int | None = None, callback: Callback | None = None
    ) -> None:
        super().__init__(config, folder, threads, callback)
        self.trainer = Trainer(config)
        self.progress = Progress()
        self._lock = threading.Lock()

    @staticmethod
    def default_threads() -> int:
        return default_threads()

    def begin(self) -> None:
        if not self.config.model:
            return
        model = load_model(self.config.model)
        try:
            self.trainer.take_over(model)
        except UsageError as problem:
            raise UsageError(f"{self.config.model}: {problem}") from None
        if self.config.start_pool:
            self.progress.given = 1 + len(model.architecture.stages)
            if self.progress.given == self.stages:
                raise UsageError(f"{self.config.model}: knows all the stages already")

    def _load(self) -> None:
        self.progress = self.folder.load_checkpoint(self.trainer)
        if self.progress.collected and not self._stage_is_over():  # the budget was raised: it learns on
            self.progress.collected = 0
            self.trainer.forget_found()

    def _save(self) -> None:
        self.folder.save_checkpoint(self.trainer, self.progress)

    def _model(self, origin: dict[str, str]) -> Model:
        return self.trainer.model(origin)

    @property
    def done(self) -> float:
        """How much of the budget is used up, from 0 to 1."""
        return self._used(self.progress.games, self.progress.seconds)

    def _used(self, games: int, seconds: float) -> float:
        config = self.config
        by_games = games / config.games if config.games else 0.0
        by_time = seconds / (60 * config.minutes) if config.minutes else 0.0
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
        return 1 + len(self.config.stages) if self.config.start_pool else 1

    def _stage_ends(self) -> tuple[int, float]:
        """After how many games or seconds; the stages that are left have equal parts of what is left."""
        now, config = self.progress, self.config
        if now.stage < now.given:
            return now.stage_games, now.stage_seconds
        began = self._used(now.stage_games, now.stage_seconds)
        part = began + (1 - began) / (self.stages - now.stage)
        return (
            round(part * config.games) if config.games else 2**62,
            part * 60 * config.minutes if config.minutes else float("inf"),
        )

    def _teaching_ends(self) -> tuple[int, float]:
        """After how many games or seconds a stage plays by itself; the first has no teacher."""
        now, config = self.progress, self.config
        if not now.stage or not config.teacher_fraction:
            return now.stage_games, now.stage_seconds
        games, seconds = self._stage_ends()
        return (
            now.stage_games + math.ceil(config.teacher_fraction * (games - now.stage_games)),
            now.stage_seconds + config.teacher_fraction * (seconds - now.stage_seconds),
        )

    def _stage_is_over(self) -> bool:
        games, seconds = self._stage_ends()
        last = self.progress.stage + 1 == self.stages
        return not last and (self.progress.games >= games or self.progress.seconds >= seconds)

    def _warm_up(self) -> None:
        self.trainer.warm_up()

    def _advance(self, pause: float) -> None:
        if not self._stage_is_over():
            self._train_until(pause)
            self.trainer.check_finite()
            self._consider_step()
        elif not self._has_collected():
            self._collect()
        else:
            self._enter_next_stage()

    def _train_until(self, pause: float) -> None:
        """Train to the next pause, to the next look at the step, or to the end of the stage."""
        config, before = self.config, self.progress.seconds
        limit, end = self._stage_ends()
        self.trainer.frozen = self.done < config.stages_from
        if self.trainer.frozen:
            limit = min(limit, math.ceil(config.stages_from * config.games) or limit)
            end = min(end, config.stages_from * 60 * config.minutes or end)
        taught_games, taught_until = self._teaching_ends()
        self.trainer.teaching = self.progress.games < taught_games and before < taught_until
        if self.trainer.teaching:
            limit, end = min(limit, taught_games), min(end, taught_until)
        pause = min(pause, end)
        if config.patience:
            limit = min(limit, self.progress.decided_at + config.patience)
        began = time.perf_counter()

        def elapsed() -> float:
            return before + time.perf_counter() - began

        first = self.progress.games

        def work(start: int, count: int) -> None:
            results = self.trainer.learn(first + start, count)
            with self._lock:
                self.progress.seconds = elapsed()
                self._note(results)
            self.callback.on_games(self)

        def is_over() -> bool:
            """A pause comes after some games at the earliest: however short the time, the session gets on."""
            return self._stop.is_set() or (self.progress.games > first and elapsed() >= pause)

        parallel_for(work, limit - first, self.threads, until=is_over)
        self.progress.seconds = elapsed()

    def _note(self, results: GameResults) -> None:
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
            if waiting["games"] == self.config.curve_games:
                self._add_point()

    def _add_point(self) -> None:
        waiting, n = self.progress.waiting, self.config.curve_games
        point = CurvePoint(
            self.progress.games,
            round(self.progress.seconds, 3),
            self.progress.moves,
            waiting["score"] / n,
            waiting["best"],
            waiting["wins"] / n,
            float(self.trainer.alpha[0]),
            self.progress.stage + 1,
        )
        self.progress.waiting = Progress().waiting
        self._add(point)

    def _consider_step(self) -> None:
        """Make the step smaller when the last games were no better than as many before them."""
        patience, now = self.config.patience, self.progress
        if not patience or now.games < now.decided_at + patience:
            return
        now.decided_at = now.games
        stage = [p for p in self.points if p.stage == now.stage + 1]
        last = [p.score_mean for p in stage if now.games - patience < p.games <= now.games]
        earlier = [p.score_mean for p in stage if now.games - 2 * patience < p.games <= now.games - patience]
        if last and earlier and sum(last) / len(last) < IMPROVEMENT * sum(earlier) / len(earlier):
            self.trainer.alpha *= self.config.decay
            now.decays += 1

    def _has_collected(self) -> bool:
        """Whether there are enough boards for the next stage, or as many as can be hoped for."""
        return len(self.trainer.found.cells) >= self.config.start_pool or self._gives_up()

    def _gives_up(self) -> bool:
        return self.progress.collected >= MOST_COLLECTED * self.config.start_pool

    def _collect(self) -> None:
        """Play some games without learning, and keep where they reach the next stage."""
        before, began, first = self.progress.seconds, time.perf_counter(), self.progress.collected
        pieces: dict[int, StartPool] = {}

        def work(start: int, count: int) -> None:
            boards = self.trainer.collect_starts(first + start, count)
            with self._lock:
                pieces[start] = boards
                self.progress.collected += count
                self.progress.seconds = before + time.perf_counter() - began
            self.callback.on_collected(self)

        size = max(100, self.config.start_pool // 10)
        parallel_for(work, size - first % size, self.threads, until=self._stop.is_set)
        self.trainer.keep([boards for _, boards in sorted(pieces.items(), key=lambda piece: piece[0])])
        if self._gives_up() and not len(self.trainer.found.cells):
            self._finish()
            condition, played = self.config.stages[self.progress.stage], self.progress.collected
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
        self._save_or_tell()
        self.callback.on_stage(point)

    def _play_test(self) -> tuple[Estimate, float]:
        agent, games = NTupleAgent(self.trainer.model({})), self.config.evaluate_games
        found = evaluate(agent, self.trainer.game, games=games, seed=TEST_SEED, threads=self.threads)
        return found.score, found.win_rate.value if found.win_rate else 0.0


def open_session(
    config: TrainingConfig,
    path: Path,
    *,
    resume: bool = False,
    threads: int | None = None,
    callback: Callback | None = None,
) -> NTupleSession:
    """A session in the folder `path`: a new one, or with `resume` the one that is there, as far as it got."""
    return open_in_folder(NTupleSession, config, RunFolder(path), resume=resume, threads=threads, callback=callback)
