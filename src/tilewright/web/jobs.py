"""Work that takes longer than a request: evaluations and reviews, begun, looked at, stopped."""

import dataclasses
import secrets
import threading
import time
from collections.abc import Callable
from typing import Any

from tilewright.errors import TilewrightError
from tilewright.games.base import Game
from tilewright.play.recording import Recording
from tilewright.play.review import review
from tilewright.web.agents import Player
from tilewright.web.executors import BusyError, Lane
from tilewright.web.limits import Limits
from tilewright.web.playback import Series

__all__ = ["Job", "Jobs", "UnknownJobError"]

_SHOW_SECONDS = 0.2  # how often the figures of an evaluation are worked out


class UnknownJobError(TilewrightError):
    """There is no job of that name, or no more."""


class _StoppedError(Exception):
    """Raised within a job that was asked to stop."""


class Job:
    """What was asked for, how far it is, and what came of it."""

    def __init__(self, kind: str, total: int, seconds: float) -> None:
        self.id = secrets.token_hex(8)
        self.kind, self.total, self.done = kind, total, 0
        self.state = "waiting"  # running, done, stopped, failed
        self.reason = ""
        self.result: dict[str, Any] | None = None
        self._seconds, self._began = seconds, 0.0
        self._stop = threading.Event()

    def stop(self) -> None:
        self._stop.set()
        if self.state == "waiting":
            self.state = "stopped"

    @property
    def is_open(self) -> bool:
        return self.state in ("waiting", "running")

    @property
    def must_stop(self) -> bool:
        return self._stop.is_set() or time.monotonic() - self._began > self._seconds

    def run(self, work: Callable[["Job"], None], hide: Callable[[str], str]) -> None:
        """Do the work; `hide` takes out of an error what visitors need not know."""
        if self.state == "stopped":
            return
        self.state, self._began = "running", time.monotonic()
        try:
            work(self)
        except _StoppedError:
            pass
        except TilewrightError as error:
            self.state, self.reason = "failed", hide(str(error))
            return
        except Exception as error:  # noqa: BLE001  (a job's thread has nobody else to tell)
            self.state, self.reason = "failed", f"unexpected: {type(error).__name__}"
            return
        stopped = self.done < self.total
        if stopped and not self._stop.is_set():
            self.reason = f"stopped after {self._seconds:,.0f} seconds, the most that a job may take"
        self.state = "stopped" if stopped else "done"

    def to_json(self) -> dict[str, Any]:
        """What a visitor sees of it."""
        return {
            "id": self.id,
            "kind": self.kind,
            "state": self.state,
            "done": self.done,
            "total": self.total,
            "reason": self.reason,
            "result": self.result,
        }


class Jobs:
    """The jobs of one server: few at a time, the last finished ones kept."""

    def __init__(self, lane: Lane, limits: Limits, hide: Callable[[str], str]) -> None:
        self._lane, self._limits, self._hide = lane, limits, hide
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def evaluate(self, player: Player, game: Game, games: int, seed: int) -> Job:
        """Play games; the figures so far are there to be read after each."""

        def work(job: Job) -> None:
            series = Series(player, game, games, seed)
            shown_at = 0.0

            def progress() -> None:
                nonlocal shown_at
                if series.is_done or time.monotonic() - shown_at > _SHOW_SECONDS:
                    job.result, shown_at = series.to_json(), time.monotonic()
                job.done = series.finished

            series.run(lambda: job.must_stop, progress)

        return self._begin(Job("evaluation", games, self._limits.job_seconds), work)

    def review(self, recording: Recording, player: Player, worst: int) -> Job:
        """Judge every move of a recorded game."""

        def work(job: Job) -> None:
            def progress(count: int) -> None:
                job.done += count
                if job.must_stop and job.done < job.total:
                    raise _StoppedError

            found = review(recording, player.agent, progress)
            job.result = dict(dataclasses.replace(found, agent=player.spec).summary(worst))

        return self._begin(Job("review", len(recording.actions), self._limits.job_seconds), work)

    def _begin(self, job: Job, work: Callable[[Job], None]) -> Job:
        with self._lock:
            if sum(other.is_open for other in self._jobs.values()) >= self._limits.jobs:
                raise BusyError(f"{self._limits.jobs} jobs are under way, the most there may be; stop one or wait")
            self._forget_oldest()
            self._jobs[job.id] = job
        self._lane.submit(job.run, work, self._hide)
        return job

    def _forget_oldest(self) -> None:
        closed = [job.id for job in self._jobs.values() if not job.is_open]
        for name in closed[: max(0, len(closed) - self._limits.kept_jobs + 1)]:
            del self._jobs[name]

    def all(self) -> list[Job]:
        return list(self._jobs.values())

    def get(self, name: str) -> Job:
        try:
            return self._jobs[name]
        except KeyError:
            raise UnknownJobError("there is no such job, or no more") from None

    def close(self) -> None:
        for job in self.all():
            job.stop()
