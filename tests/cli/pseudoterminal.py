"""Run a command on a pseudo-terminal: send keys, and read the last complete screen."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tests.process import environment

_HOME, _END = "\x1b[H", "\x1b[K\x1b[J"


class Pseudoterminal:
    def __init__(self, arguments: list[str], columns: int, rows: int, changes: dict[str, str]) -> None:
        self.ours, self._theirs = pty.openpty()
        self.resize(columns, rows)
        self.mode_before = self.mode
        self.raw = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tilewright", *arguments],
            env=environment() | {"TERM": "xterm-256color", "COLORTERM": "", "NO_COLOR": ""} | changes,
            stdin=self._theirs,
            stdout=self._theirs,
            stderr=self._theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C is a signal
        )

    @property
    def mode(self) -> list[Any]:
        return termios.tcgetattr(self._theirs)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, *keys: str) -> None:
        os.write(self.ours, "".join(keys).encode())

    def _read(self, seconds: float) -> bool:
        if not select.select([self.ours], [], [], seconds)[0]:
            return False
        self.raw += os.read(self.ours, 65536).decode("utf-8", "replace")
        return True

    @property
    def screen(self) -> list[str]:
        """The lines of the last screen that was drawn to its end, without colours."""
        drawn = self.raw.rpartition(_END)[0].rpartition(_HOME)[2]
        return [re.sub(r"\x1b\[[0-9;]*[mK]", "", line) for line in drawn.split("\r\n")]

    def until(self, pattern: str, seconds: float = 6000) -> str:
        """Wait for a screen on which the pattern is found."""
        deadline = time.monotonic() + seconds
        while not re.search(pattern, "\n".join(self.screen)):
            assert time.monotonic() < deadline, f"{pattern!r} not seen on {self.screen}, {self.raw[-300:]!r}"
            self._read(0.1)
        return "\n".join(self.screen)

    def ended(self, seconds: float = 600) -> tuple[int, str]:
        """Wait for the end; the exit code, and what was printed behind the last screen."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline, self.raw[-500:]
            self._read(0.05)
        while self._read(0.05):
            pass
        return self.process.returncode, self.raw.rpartition("\x1b[?1049l")[2].replace("\r\n", "\n")

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for end in (self.ours, self._theirs):
            with suppress(OSError):
                os.close(end)


@contextmanager
def on_terminal(*arguments: str, size: tuple[int, int] = (80, 24), **changes: str) -> Iterator[Pseudoterminal]:
    terminal = Pseudoterminal(list(arguments), *size, changes)
    try:
        yield terminal
    finally:
        terminal.close()
