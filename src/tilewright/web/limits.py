"""Every limit of the server in one place."""

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """What one request, one client, and all clients together may use.

    Attributes:
        body: Bytes of a request.
        recording: Bytes of a request that contains a recorded game.
        spec: Characters of the spec of a game or an agent.
        depth: Depth of a search in plies.
        ms: Milliseconds of a search.
        rollouts: Rollouts of a search.
        games: Games of an evaluation.
        job_seconds: Seconds of a job.
        jobs: Jobs that wait or run at the same time.
        kept_jobs: Finished jobs whose results are kept.
        sockets: WebSockets that are open at the same time.
        waiting: Calls that wait for a thread of an executor.
        curve_points: Points of a learning curve in one answer; longer curves are thinned out.
    """

    body: int = 64 * 1024
    recording: int = 4 * 1024 * 1024
    spec: int = 200
    depth: int = 4
    ms: float = 2_000
    rollouts: int = 5_000
    games: int = 10_000
    job_seconds: float = 600
    jobs: int = 8
    kept_jobs: int = 64
    sockets: int = 16
    waiting: int = 256
    curve_points: int = 600
