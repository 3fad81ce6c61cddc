"""Work on many machines, through Ray: a cluster that is there already, or one of this machine's processors.

A function is sent with its arguments to any processor of the cluster. What is large and needed by many pieces is put
into the cluster's shared memory once, and read there by all processes of a machine without copying. A piece whose
process or machine is lost is run again elsewhere.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any

from tilewright.errors import MissingExtraError, UsageError

__all__ = ["Cluster"]

RETRIES = 10  # of a piece whose process was lost


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
    ) -> Iterator[tuple[int, Any]]:
        """Call `function(*shared, *piece)` for every piece; yields their numbers and results as they are finished.

        Ends early, and gives up what is under way, once `until` is true.
        """
        ray = _ray()
        waiting = {self._run.remote(function, *shared, *piece): number for number, piece in enumerate(pieces)}
        try:
            while waiting and not (until is not None and until()):
                ready, _ = ray.wait(list(waiting), num_returns=1, timeout=0.2)
                for one in ready:
                    number = waiting.pop(one)
                    yield number, ray.get(one)
        finally:
            for one in waiting:
                ray.cancel(one, force=True)


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingExtraError('the engine ray needs Ray: pip install "tilewright[ray]"') from None
    return ray
