"""The signals that ask a program to end."""

import signal

__all__ = ["stop_signals"]


def stop_signals() -> list[int]:
    """Return SIGINT, SIGTERM and, where there is one that is not ignored, SIGHUP: a terminal was closed.

    `nohup` lets a program ignore SIGHUP, so that it outlives its terminal.
    """
    numbers = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    return [int(number) for number in numbers]
