"""Work on many machines, through Ray: a cluster that is there already, or one of this machine's processors.

A function is sent with its arguments to any processor of the cluster. What is large and needed by many pieces is put
into the cluster's shared memory once, and read there by all processes of a machine without copying. A piece whose
process or machine is lost is run again elsewhere.
"""

import os
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any

from tilewright.errors import ClusterError, MissingExtraError, TilewrightError, UsageError

__all__ = ["Cluster"]

RETRIES = 10  # of a piece whose process was lost
SECONDS_BETWEEN_REPORTS = 0.5


class _Notes:
    """Lives somewhere in the cluster: how much of each piece is done."""

    def __init__(self) -> None:
        self._done: dict[str, float] = {}

    def write(self, piece: str, done: float) -> None:
        self._done[piece] = done

    def read(self) -> dict[str, float]:
        return self._done


class Cluster:
    """A Ray cluster, for as long as the block lasts: `with Cluster() as cluster: …`.

    `address` is that of a running cluster ("auto" finds one on this machine); without one, a cluster of this machine is
    started, with `processors` workers, and ended with the block.
    """

    def __init__(self, address: str | None = None, processors: int | None = None) -> None:
        self._address, self._processors = address, processors

    def __enter__(self) -> "Cluster":
        ray = _ray()
        options: dict[str, Any] = {"address": self._address} if self._address else {"num_cpus": self._processors}
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # what Ray will do anyway; else it warns
        try:
            ray.init(**options, include_dashboard=False, log_to_driver=False, configure_logging=False)
        except (ConnectionError, RuntimeError, ValueError) as error:
            where = self._address or "this machine"
            raise UsageError(f"no Ray cluster at {where}: {str(error).splitlines()[0]}") from None
        self._run = ray.remote(max_retries=RETRIES, num_cpus=1)(_call)
        self._notes = ray.remote(num_cpus=0, max_restarts=-1)(_Notes).remote()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _ray().shutdown()

    @property
    def processors(self) -> int:
        return max(1, int(_ray().cluster_resources().get("CPU", 1)))

    def share(self, thing: Any) -> Any:
        """Put something large where all pieces can read it; hand the answer to `map` among `shared`."""
        return _ray().put(thing)

    def map(
        self,
        function: Callable[..., Any],
        pieces: Sequence[tuple[Any, ...]],
        shared: Sequence[Any] = (),
        until: Callable[[], bool] | None = None,
        progress: Callable[[int, float], None] | None = None,
    ) -> Iterator[tuple[int, Any]]:
        """Call `function(*shared, *piece)` for every piece; yields their numbers and results as they are finished.

        With `progress`, the function has one more argument, which it calls with how much of its piece is done; that
        reaches `progress` here, with the piece's number. Ends early, and gives up what is under way, once `until` is
        true.
        """
        ray, name = _ray(), uuid.uuid4().hex
        from ray.exceptions import RayError, RayTaskError

        waiting = {}
        for number, piece in enumerate(pieces):
            report = (_Report(self._notes, f"{name} {number}"),) if progress is not None else ()
            waiting[self._run.remote(function, *shared, *piece, *report)] = number
        try:
            while waiting and not (until is not None and until()):
                ready, _ = ray.wait(list(waiting), num_returns=1, timeout=0.2)
                if progress is not None and not ready:
                    try:
                        done = ray.get(self._notes.read.remote())
                    except RayError:  # the notes are begun anew elsewhere
                        continue
                    for number in waiting.values():
                        if f"{name} {number}" in done:
                            progress(number, done[f"{name} {number}"])
                for one in ready:
                    number = waiting.pop(one)
                    try:
                        result = ray.get(one)
                    except RayTaskError as error:
                        if isinstance(error.cause, TilewrightError):
                            raise error.cause from None
                        raise
                    except RayError as error:
                        raise ClusterError(f"the cluster lost a piece of work: {str(error).splitlines()[0]}") from None
                    yield number, result
        finally:
            for one in waiting:
                ray.cancel(one, force=True)


class _Report:
    """Tells the cluster's notes, in whatever process, how much of a piece is done; now and then is enough."""

    def __init__(self, notes: Any, piece: str) -> None:
        self._notes, self._piece = notes, piece
        self._told = 0.0

    def __call__(self, done: float) -> bool:
        now = time.monotonic()
        if now - self._told >= SECONDS_BETWEEN_REPORTS:
            self._told = now
            self._notes.write.remote(self._piece, done)
        return True


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingExtraError('the engine ray needs Ray: pip install "tilewright[ray]"') from None
    return ray
