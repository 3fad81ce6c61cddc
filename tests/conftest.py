"""What tests of several folders share."""

import signal
from collections.abc import Iterator

import pytest

from tests.process import end_processes


@pytest.fixture(autouse=True)
def processes_end_with_their_test() -> Iterator[None]:
    yield
    end_processes()


@pytest.fixture
def ctrl_c_raises() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt here and in processes started here, even where a shell made us ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
