"""The signals that ask a program to end."""

import signal
from collections.abc import Iterator

import pytest

from tilewright._core.signals import stop_signals


@pytest.fixture
def _hangup() -> Iterator[None]:
    before = signal.getsignal(signal.SIGHUP)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("_hangup")
def test_a_closed_terminal_is_one_of_them_except_under_nohup() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    assert stop_signals() == [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    assert stop_signals() == [signal.SIGINT, signal.SIGTERM]
