"""What tests of several folders share."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process import end_processes

# Files that take longest come first, so that no worker is left with one of them at the end.
LONGEST = (
    "learning/test_exact.py",
    "search/test_expectimax.py",
    "web/test_api.py",
    "search/test_montecarlo.py",
    "test_testing.py",
    "ntuple/test_prune.py",
    "training/test_kill.py",
    "_core/test_cluster.py",
    "agents/test_downgrading.py",
    "agents/test_rollout_agents.py",
    "ntuple/test_stages.py",
    "_core/test_jit.py",
)


def pytest_sessionstart() -> None:
    """Processes that tests start obey signals, even where a shell or nohup makes the tests themselves ignore them."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.environ.setdefault("RAY_worker_niceness", "0")  # at Ray's 15, tests of workers crawl on a busy machine
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tests = Path(__file__).parent
    ranks = {tests / name: rank for rank, name in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))


@pytest.fixture(autouse=True)
def processes_end_with_their_test() -> Iterator[None]:
    yield
    end_processes()
