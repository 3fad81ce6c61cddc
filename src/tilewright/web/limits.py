"""How much a visitor may ask for: one place for every bound of the server."""

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """The usual bounds; a test may set its own."""

    body: int = 64 * 1024  # bytes of a request
    recording: int = 4 * 1024 * 1024  # bytes of a request that holds a recorded game
    spec: int = 200  # characters of a game or an agent
    depth: int = 4  # plies
    ms: float = 2_000  # milliseconds a move
    rollouts: int = 5_000  # playouts a move
    games: int = 10_000  # games of an evaluation
    job_seconds: float = 600  # how long a job may take
    jobs: int = 8  # waiting or running
    kept_jobs: int = 64  # finished ones that can still be read
    sockets: int = 16  # open at the same time
    waiting: int = 256  # requests that wait for a thread
    curve_points: int = 600  # of a learning curve, the rest is thinned out
