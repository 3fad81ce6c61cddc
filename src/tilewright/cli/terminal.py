"""Full-screen use of a terminal: reads single keys, draws whole screens, and restores the terminal at the end."""

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

try:
    import termios
    import tty
except ImportError:  # Windows has no termios; words are read from standard input there
    termios = None  # type: ignore[assignment]

from tilewright._core.signals import stop_signals

__all__ = ["Terminal", "is_terminal", "split_keys", "stopping_on_signals"]

_ENTER = "\x1b[?1049h\x1b[?25l"  # the alternate screen, without a cursor
_LEAVE = "\x1b[?25h\x1b[?1049l"
_ARROWS = {b"A": "up", b"B": "down", b"C": "right", b"D": "left"}
_ESCAPE_SECONDS = 0.05  # the longest pause within the bytes of an arrow key


def is_terminal() -> bool:
    """Tell whether single keys can be read and screens be drawn."""
    if termios is None or os.environ.get("TERM", "dumb") == "dumb":
        return False
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def split_keys(data: bytes) -> tuple[list[str], bytes]:
    """Split bytes from a terminal into keys.

    Args:
        data: What the terminal has sent.

    Returns:
        The keys, arrows by name, and an incomplete escape sequence at the end of the data.
    """
    keys = []
    while data:
        if data[:1] != b"\x1b":
            keys.append(data[:1].decode("ascii", "replace"))
            data = data[1:]
        elif data in (b"\x1b", b"\x1b[", b"\x1bO"):
            return keys, data
        elif data[1:2] in (b"[", b"O"):
            end = 2
            while end < len(data) - 1 and not 0x40 <= data[end] <= 0x7E:
                end += 1
            if not 0x40 <= data[end] <= 0x7E:
                return keys, data
            if end == 2 and data[2:3] in _ARROWS:
                keys.append(_ARROWS[data[2:3]])
            data = data[end + 1 :]
        else:
            data = data[1:]
    return keys, b""


@contextmanager
def stopping_on_signals() -> Iterator[None]:
    """Let SIGTERM and a closed terminal raise KeyboardInterrupt, as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    numbers = [number for number in stop_signals() if number != signal.SIGINT]
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Terminal:
    """A terminal in full-screen use, for the time of a `with` block."""

    def __init__(self) -> None:
        self._input = sys.stdin.fileno()
        self._rest = b""
        self._shown = ""
        self._before: list[int | list[bytes | int]] = []

    def __enter__(self) -> "Terminal":
        """Switch to the alternate screen and to single keys."""
        self._before = termios.tcgetattr(self._input)
        try:
            tty.setcbreak(self._input)
            mode = termios.tcgetattr(self._input)
            for key in (termios.VSUSP, termios.VQUIT):
                mode[6][key] = b"\0"  # these signals would end the process without restoring the terminal
            termios.tcsetattr(self._input, termios.TCSADRAIN, mode)
            self._write(_ENTER)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        """Restore the screen and the mode of the terminal."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
        try:
            with suppress(OSError):  # the terminal may be closed
                self._write(_LEAVE)
            with suppress(termios.error):
                termios.tcsetattr(self._input, termios.TCSADRAIN, self._before)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of columns and rows."""
        try:
            columns, rows = os.get_terminal_size(sys.stdout.fileno())
        except OSError:
            return 80, 24
        return columns or 80, rows or 24

    def show(self, lines: list[str]) -> None:
        """Draw a whole screen; nothing is sent if it is the same as before."""
        screen = "\x1b[H" + "\x1b[K\n".join(lines) + "\x1b[K\x1b[J"
        if screen != self._shown:
            self._write(screen)
            self._shown = screen

    def invalidate(self) -> None:
        """Draw the next screen even if it is the same as before, because the size has changed."""
        self._shown = ""

    def keys(self, seconds: float) -> list[str] | None:
        """Wait for keys.

        Args:
            seconds: The longest time to wait.

        Returns:
            The keys, as soon as there are any; none if the time is over; None if the terminal is closed.
        """
        pressed: list[str] = []
        while select.select([self._input], [], [], seconds)[0]:
            try:
                data = os.read(self._input, 1024)
            except OSError:
                return None
            if not data:
                return None
            keys, self._rest = split_keys(self._rest + data)
            pressed += keys
            if not self._rest:
                return pressed
            seconds = _ESCAPE_SECONDS
        self._rest = b""
        return pressed

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
