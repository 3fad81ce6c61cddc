"""Work on many machines through Ray: on a cluster that is running already, or on one started on this machine.

Functions are sent with their arguments to any processor of the cluster. Large arguments that many tasks need are put
into the cluster's shared memory once; all processes of a machine read them there without copying. A task whose process
or machine is lost is run again elsewhere.
"""

import contextlib
import os
import signal
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType, TracebackType
from typing import Any, TypeVar

import numpy as np

from tilewright.errors import ClusterError, MissingExtraError, TilewrightError, UsageError

__all__ = ["Cluster", "WorkerLostError", "Workers"]

RETRIES = 10  # of a task whose process was lost
SECONDS_BETWEEN_REPORTS = 0.5
POLL_SECONDS = 0.2
CONNECT_SECONDS = 10.0  # in which a machine must accept a connection
_ATTEMPTS = "RAY_gcs_server_port_wait_time_s"  # how often Ray tries to reach a cluster; every attempt takes 40 seconds

R = TypeVar("R")


class Cluster:
    """A Ray cluster, for as long as a `with` block lasts.

    Args:
        address: The address of a running cluster; "auto" finds one on this machine. None starts a cluster on this
            machine, which ends with the block.
        processors: The number of workers of a cluster that is started here; None for all processors.

    Raises:
        MissingExtraError: On entering the block, if Ray is not installed.
        UsageError: On entering the block, if there is no cluster at the address.
    """

    def __init__(self, address: str | None = None, processors: int | None = None) -> None:
        self._address, self._processors = address, processors
        self._messages = contextlib.ExitStack()

    def __enter__(self) -> "Cluster":
        """Connect to the cluster, or start it."""
        ray = _import_ray()
        # Without "local", Ray would join any cluster that happens to run on this machine.
        options: dict[str, object] = (
            {"address": self._address} if self._address else {"address": "local", "num_cpus": self._processors}
        )
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # Ray warns unless it is set
        try:
            _check_that_reachable(self._address)
            with (
                contextlib.redirect_stdout(sys.stderr),
                _one_attempt(self._address),
                _ended_unless_started(ray),
                _own_answer_to_sigterm(),
            ):
                ray.init(**options, include_dashboard=False, log_to_driver=False, configure_logging=False)
        except Exception as error:  # noqa: BLE001  (Ray raises errors of all kinds, plain ones among them)
            where, reason = self._address or "this machine", str(error) or type(error).__name__
            raise UsageError(f"no Ray cluster at {where}: {reason.splitlines()[0]}") from None
        self._messages.enter_context(_messages_on_stderr())
        self._run = ray.remote(max_retries=RETRIES, num_cpus=1)(_call)
        self._board = ray.remote(num_cpus=0, max_restarts=-1)(_ProgressBoard).remote()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Disconnect, and end the cluster if it was started here."""
        with contextlib.redirect_stdout(sys.stderr):  # Ray prints the messages that it kept back
            _import_ray().shutdown()
        self._messages.close()

    @property
    def processors(self) -> int:
        """The number of processors of the whole cluster."""
        return max(1, int(_import_ray().cluster_resources().get("CPU", 1)))

    def put(self, value: object) -> object:
        """Put a large value into the cluster's shared memory.

        Returns:
            A reference to the value, for the argument `shared` of `map`.
        """
        reference: object = _import_ray().put(value)
        return reference

    def map(
        self,
        function: Callable[..., R],
        tasks: Sequence[tuple[object, ...]],
        shared: Sequence[object] = (),
        until: Callable[[], bool] | None = None,
        progress: Callable[[int, float], None] | None = None,
    ) -> Iterator[tuple[int, R]]:
        """Call `function(*shared, *task)` for every task, on any processor of the cluster.

        Args:
            function: The function. With `progress`, it gets one more argument: a function to call with the part of
                the task that is done, from 0 to 1.
            tasks: The arguments of each call.
            shared: Arguments that all calls have in common, each a value or a reference of `put`.
            until: Called again and again; once it returns True, the remaining tasks are cancelled.
            progress: Called now and then with the number of a task and the part of it that is done.

        Yields:
            The number and the result of each task, as they are finished.

        Raises:
            TilewrightError: Raised by the function itself.
            ClusterError: The cluster lost a task too often.
        """
        ray, name = _import_ray(), uuid.uuid4().hex
        waiting = {}
        for number, task in enumerate(tasks):
            report = (_ReportProgress(self._board, f"{name} {number}"),) if progress is not None else ()
            waiting[self._run.remote(function, *shared, *task, *report)] = number
        try:
            while waiting and not (until is not None and until()):
                ready, _ = ray.wait(list(waiting), num_returns=1, timeout=POLL_SECONDS)
                if progress is not None and not ready:
                    done = self._read_board()
                    for number in waiting.values():
                        if f"{name} {number}" in done:
                            progress(number, done[f"{name} {number}"])
                for reference in ready:
                    number = waiting.pop(reference)
                    yield number, _result_of(reference)
        finally:
            for reference in waiting:
                ray.cancel(reference, force=True)

    def start_workers(self, kind: type, count: int, *arguments: object) -> "Workers":
        """Make `count` objects `kind(*arguments)`, each in a process of its own with one processor.

        Raises:
            UsageError: The cluster has fewer processors.
        """
        if count > self.processors:
            raise UsageError(f"{count} workers: the cluster has {self.processors} processors")
        made = _import_ray().remote(num_cpus=1)(kind)
        return Workers(lambda: made.remote(*arguments), count)

    def _read_board(self) -> Mapping[str, float]:
        from ray.exceptions import RayError

        try:
            done: Mapping[str, float] = _import_ray().get(self._board.read.remote())
        except RayError:  # its process was lost, and is being started again
            return {}
        return done


def _check_that_reachable(address: str | None) -> None:
    """Raise OSError if an address names a machine and a port that accept no connection: Ray would wait for minutes."""
    host, _, port = (address or "").rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()


@contextlib.contextmanager
def _own_answer_to_sigterm() -> Iterator[None]:
    """Keep the program's answer to SIGTERM: that of Ray ends the program with exit code 15, and saves nothing.

    A signal that came while Ray starts, and was answered by Ray, is sent again.
    """
    answer = signal.getsignal(signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread() or answer is None:
        yield  # Ray leaves signals alone, or a program around Python answers
        return
    try:
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, answer)
    except SystemExit as stop:
        if stop.code == signal.SIGTERM:
            signal.raise_signal(signal.SIGTERM)
        raise


@contextlib.contextmanager
def _ended_unless_started(ray: ModuleType) -> Iterator[None]:
    """End what Ray has started if Ctrl-C or SIGTERM came while it starts."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        ray.shutdown()
        raise


@contextlib.contextmanager
def _one_attempt(address: str | None) -> Iterator[None]:
    """Have Ray try once, not twenty times, to reach a cluster that is running; one that is started is waited for."""
    if not address or _ATTEMPTS in os.environ:
        yield
        return
    os.environ[_ATTEMPTS] = "1"
    try:
        yield
    finally:
        del os.environ[_ATTEMPTS]


class WorkerLostError(Exception):
    """The process of a worker has ended; it is made again, as it was at first."""


class Workers:
    """Objects that live in processes of a cluster. One whose process or machine is lost is made again elsewhere."""

    def __init__(self, make: Callable[[], Any], count: int) -> None:
        self._make = make  # Ray's own restarts refuse calls until the new process is there
        self._actors = [make() for _ in range(count)]

    def call(self, numbers: Sequence[int], method: str, *arguments: object) -> list[Any]:
        """Call a method of some of the workers, all at the same time.

        Returns:
            A result for each; a WorkerLostError for one that is lost.

        Raises:
            TilewrightError: Raised by the method itself.
        """
        ray = _import_ray()
        shared = [ray.put(value) if isinstance(value, np.ndarray) else value for value in arguments]
        calls = [getattr(self._actors[number], method).remote(*shared) for number in numbers]
        results: list[Any] = []
        for number, reference in zip(numbers, calls, strict=True):
            try:
                results.append(_result_of(reference))
            except ClusterError as error:
                self._actors[number] = self._make()
                results.append(WorkerLostError(str(error)))
        return results


class _ProgressBoard:
    """An actor of the cluster that knows how much of each task is done."""

    def __init__(self) -> None:
        self._done: dict[str, float] = {}

    def write(self, task: str, done: float) -> None:
        self._done[task] = done

    def read(self) -> dict[str, float]:
        return self._done


class _ReportProgress:
    """Tells the progress board how much of a task is done, at most twice a second."""

    def __init__(self, board: Any, task: str) -> None:
        self._board, self._task = board, task
        self._reported_at = float("-inf")

    def __call__(self, done: float) -> bool:
        now = time.monotonic()
        if now - self._reported_at >= SECONDS_BETWEEN_REPORTS:
            self._reported_at = now
            self._board.write.remote(self._task, done)
        return True


def _call(function: Callable[..., R], *arguments: object) -> R:
    return function(*arguments)


def _result_of(reference: object) -> Any:
    """Return the result of a finished task, or raise its error."""
    from ray.exceptions import RayError, RayTaskError

    try:
        return _import_ray().get(reference)
    except RayTaskError as error:
        if isinstance(error.cause, TilewrightError):
            raise error.cause from None
        raise
    except RayError as error:
        raise ClusterError(f"the cluster lost a task: {str(error).splitlines()[0]}") from None


@contextlib.contextmanager
def _messages_on_stderr() -> Iterator[None]:
    """Print Ray's messages, such as that a worker died, to standard error; Ray itself prints them to standard output.

    Ray prints them from a thread of its own, at any time, and has no option for it.
    """
    import ray._private.worker as worker

    original = getattr(worker, "print_to_stdstream", None)
    if original is None:
        yield
        return

    def print_to_stderr(data: dict[str, object], *arguments: object, **options: object) -> None:
        original({**data, "is_err": True}, *arguments, **options)

    worker.print_to_stdstream = print_to_stderr
    try:
        yield
    finally:
        worker.print_to_stdstream = original


def _import_ray() -> ModuleType:
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray is not installed: pip install 'tilewright[ray]'") from None
    return ray
