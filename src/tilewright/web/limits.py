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
        search_seconds: Seconds of a search, whatever its options; the time for compiling does not count.
        warm_up_seconds: Seconds after the start in which only the kernels of the first question are loaded, unless it
            is answered earlier.
        games: Games of an evaluation.
        job_seconds: Seconds of a job.
        jobs: Jobs that wait or run at the same time.
        kept_jobs: Finished jobs whose results are kept.
        sockets: WebSockets that are open at the same time.
        waiting: Calls that wait for a thread of an executor.
        curve_points: Points of a learning curve in one answer; longer curves are thinned out.
        runs: Runs that are listed.
        run_file: Bytes that are read of one file of a run; of longer curves, some lines are read.
        connections: Connections that are open at the same time.
        headers: Bytes of the first line and the headers of a request.
        silent_seconds: Seconds in which a client must send its headers, its body or the first message of a socket, and
            take an answer.
    """

    body: int = 64 * 1024
    recording: int = 4 * 1024 * 1024
    spec: int = 200
    depth: int = 4
    ms: float = 2_000
    rollouts: int = 5_000
    search_seconds: float = 10
    warm_up_seconds: float = 10
    games: int = 10_000
    job_seconds: float = 600
    jobs: int = 8
    kept_jobs: int = 64
    sockets: int = 16
    waiting: int = 256
    curve_points: int = 600
    runs: int = 1_000
    run_file: int = 256 * 1024
    connections: int = 512
    headers: int = 64 * 1024
    silent_seconds: float = 20
