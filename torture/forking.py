"""Commands in forked processes: the parent has compiled their kernels, so that a start costs next to nothing."""

import contextlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Self

from torture.campaign import WrongError

__all__ = ["Child"]

_POLL_SECONDS = 0.002
INTERRUPTED = 130  # Ctrl-C came before the command could handle it
UNCAUGHT = 99


class Child:
    """A function that runs in a forked process; what it prints goes to a pipe, which no full disk closes."""

    def __init__(self, work: Callable[[], int]) -> None:
        """Start it; `work` returns the exit code."""
        self.code: int | None = None
        self._said = b""
        self._reading, writing = os.pipe()
        os.set_blocking(self._reading, False)
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._run(work, writing)
        os.close(writing)

    def _run(self, work: Callable[[], int], writing: int) -> None:
        code = UNCAUGHT
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for number in (signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            os.setpgid(0, 0)
            os.dup2(writing, 1)
            os.dup2(writing, 2)
            sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115
            code = work()
            sys.stdout.flush()
        except KeyboardInterrupt:
            code = INTERRUPTED
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(code)

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        self._read()
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code

    def send(self, number: int) -> bool:
        """Send a signal; returns whether the process was still there."""
        if self.poll() is not None:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)
        return True

    def wait(self, seconds: float) -> int:
        """Wait for the end.

        Raises:
            WrongError: It does not end in this time, or printed a traceback.
        """
        deadline = time.monotonic() + seconds
        while self.poll() is None:
            if time.monotonic() > deadline:
                self._kill()
                raise WrongError(f"hang: the command does not end within {seconds:g} s: {self.said()[-500:]}")
            time.sleep(_POLL_SECONDS)
        self._read()
        said = self.said()
        if "Traceback (most recent call last)" in said or self.code == UNCAUGHT:
            raise WrongError(f"traceback: {_last_line(said)}: {said[-1500:]}")
        assert self.code is not None  # noqa: S101
        return self.code

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _read(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self._reading, 1 << 16):
                self._said += chunk

    def said(self) -> str:
        """Return what it has printed."""
        return self._said.decode("utf-8", "replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.poll() is None:
            self._kill()
        self._read()
        os.close(self._reading)


def _last_line(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    return lines[-1][:80] if lines else ""
