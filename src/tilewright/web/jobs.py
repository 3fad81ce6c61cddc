"""Jobs: evaluations, outlooks and reviews, which take longer than a request. Clients start, poll and stop them."""

import dataclasses
import secrets
import threading
import time
from collections.abc import Callable
from typing import Literal

from tilewright.errors import SearchStoppedError, TilewrightError
from tilewright.games.base import Game
from tilewright.play.recording import Recording
from tilewright.play.review import review
from tilewright.web.agents import WebAgent, log_failure
from tilewright.web.executors import BoundedExecutor, BusyError
from tilewright.web.limits import Limits
from tilewright.web.outlook import Outlook
from tilewright.web.playback import GameSeries
from tilewright.web.positions import Position
from tilewright.web.schemas import JsonObject
from tilewright.web.searches import Search

__all__ = ["Job", "Jobs", "UnknownJobError"]

JobState = Literal["waiting", "running", "done", "stopped", "failed"]
_RESULT_SECONDS = 0.2  # how often the results of an evaluation are computed


class UnknownJobError(TilewrightError):
    """There is no such job, or its result is no longer kept."""


class _StoppedError(Exception):
    """Raised within a job that was asked to stop."""


class Job:
    """One evaluation, outlook or review.

    Attributes:
        id: A random name.
        kind: "evaluation", "outlook" or "review".
        state: Where it is.
        done: The number of games or moves that are finished.
        total: The number of games or moves.
        reason: Why it failed or was stopped by the server; empty otherwise.
        result: The result so far; None at first.
        search: Stops the search of the move that is under way.
    """

    def __init__(self, kind: str, total: int, max_seconds: float) -> None:
        """Make a job that waits; it stops after `max_seconds`."""
        self.id = secrets.token_hex(8)
        self.kind, self.total, self.done = kind, total, 0
        self.state: JobState = "waiting"
        self.reason = ""
        self.result: JsonObject | None = None
        self._max_seconds, self._started = max_seconds, 0.0
        self._stop = threading.Event()
        self.search = Search(max_seconds)

    def stop(self) -> None:
        """Ask the job to stop, also within a move."""
        self._stop.set()
        self.search.stop()
        if self.state == "waiting":
            self.state = "stopped"

    @property
    def is_open(self) -> bool:
        """Whether the job waits or runs."""
        return self.state in ("waiting", "running")

    @property
    def must_stop(self) -> bool:
        """Whether the job was asked to stop, or has run for too long."""
        return self._stop.is_set() or time.monotonic() - self._started > self._max_seconds

    def run(self, work: Callable[["Job"], None], hide_paths: Callable[[str], str]) -> None:
        """Do the work and keep its outcome.

        Args:
            work: Called with the job; it updates `done` and `result`, and returns early if `must_stop`.
            hide_paths: Removes paths of this machine from an error message.
        """
        if self.state == "stopped":
            return
        self.state, self._started = "running", time.monotonic()
        time_up = threading.Timer(self._max_seconds, self.search.stop)  # a move may take longer than that
        time_up.daemon = True
        time_up.start()
        try:
            work(self)
        except (_StoppedError, SearchStoppedError):
            pass
        except TilewrightError as error:
            log_failure(error)
            self.reason = hide_paths(str(error))
            self.state = "failed"
            return
        except Exception as error:  # noqa: BLE001  (nobody else waits for the thread of a job)
            self.reason = f"unexpected: {type(error).__name__}"
            self.state = "failed"
            return
        finally:
            time_up.cancel()
        is_complete = self.done >= self.total
        if not is_complete and not self._stop.is_set():
            self.reason = f"stopped after {self._max_seconds:,.0f} seconds, the limit of a job"
        self.state = "done" if is_complete else "stopped"

    def to_json(self) -> JsonObject:
        """Return the fields of `JobStatus`."""
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
    """The jobs of one server: a limited number at a time, and the last finished ones."""

    def __init__(self, executor: BoundedExecutor, limits: Limits, hide_paths: Callable[[str], str]) -> None:
        """Make an empty list of jobs.

        Args:
            executor: Runs the jobs.
            limits: The limits of the server.
            hide_paths: Removes paths of this machine from an error message.
        """
        self._executor, self._limits, self._hide_paths = executor, limits, hide_paths
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def evaluate(self, agent: WebAgent, game: Game, games: int, seed: int) -> Job:
        """Start an evaluation; its results so far are there from the first finished game on.

        Raises:
            BusyError: There are too many jobs.
        """

        def work(job: Job) -> None:
            series = GameSeries(agent, game, games, seed, job.search)
            computed = 0.0

            def progress() -> None:
                nonlocal computed
                if series.is_done or time.monotonic() - computed > _RESULT_SECONDS:
                    job.result, computed = series.to_json(), time.monotonic()
                job.done = series.finished

            series.run(lambda: job.must_stop, progress)

        return self._start(Job("evaluation", games, self._limits.job_seconds), work)

    def look_ahead(self, agent: WebAgent, position: Position, games: int, seed: int) -> Job:
        """Start an outlook: games that are played out from a position; its results so far are there from the first on.

        Raises:
            BusyError: There are too many jobs.
        """

        def work(job: Job) -> None:
            outlook = Outlook(agent, position, games, seed, job.search)

            def progress() -> None:
                job.result, job.done = outlook.to_json(), outlook.finished

            outlook.run(lambda: job.must_stop, progress)

        return self._start(Job("outlook", games, self._limits.job_seconds), work)

    def review(self, recording: Recording, agent: WebAgent, worst: int) -> Job:
        """Start a review of a recorded game; `worst` is the number of worst moves in its result.

        Raises:
            BusyError: There are too many jobs.
        """

        def work(job: Job) -> None:
            def progress(count: int) -> None:
                job.done += count
                if job.must_stop and job.done < job.total:
                    raise _StoppedError

            with agent.player(recording.game, job.search, _StoppedError) as player:
                found = review(recording, player, progress)
            best = [move.best for move in found.moves]
            job.result = {**dataclasses.replace(found, agent=agent.spec).summary(worst), "best": best}

        return self._start(Job("review", len(recording.actions), self._limits.job_seconds), work)

    def _start(self, job: Job, work: Callable[[Job], None]) -> Job:
        with self._lock:
            if sum(other.is_open for other in self._jobs.values()) >= self._limits.jobs:
                raise BusyError(f"{self._limits.jobs} jobs wait or run already, which is the limit; stop one or wait")
            self._forget_oldest()
            self._jobs[job.id] = job
        self._executor.submit(job.run, work, self._hide_paths)
        return job

    def _forget_oldest(self) -> None:
        closed = [job.id for job in self._jobs.values() if not job.is_open]
        for name in closed[: max(0, len(closed) - self._limits.kept_jobs + 1)]:
            del self._jobs[name]

    def all(self) -> list[Job]:
        """Return all jobs that are known, the oldest first."""
        return list(self._jobs.values())

    def get(self, name: str) -> Job:
        """Return a job by its id.

        Raises:
            UnknownJobError: There is no such job, or its result is no longer kept.
        """
        try:
            return self._jobs[name]
        except KeyError:
            raise UnknownJobError("there is no such job, or its result is no longer kept") from None

    def close(self) -> None:
        """Ask all jobs to stop."""
        for job in self.all():
            job.stop()
