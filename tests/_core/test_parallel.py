"""Pieces of work: each number once, errors and Ctrl-C handed on, none left behind."""

import os
import signal
import threading
import time
from collections import Counter

import pytest

from tilewright._core.parallel import default_threads, parallel_for
from tilewright.errors import UsageError


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 100, 1001])
def test_every_number_is_covered_once(count: int, threads: int) -> None:
    covered: list[int] = []
    told: list[int] = []
    parallel_for(lambda first, n: covered.extend(range(first, first + n)), count, threads, told.append)
    assert sorted(covered) == list(range(count))
    assert sum(told) == count


def test_pieces_of_very_different_length_are_covered_once() -> None:
    covered: Counter[int] = Counter()

    def work(first: int, n: int) -> None:
        time.sleep(0.02 if first % 7 == 0 else 0)
        covered.update(range(first, first + n))

    parallel_for(work, 5000, 4)
    assert covered == Counter(range(5000))


def test_pieces_grow_where_work_is_quick() -> None:
    """A kernel call has a cost; two million quick numbers must not be two million calls."""
    pieces: list[int] = []
    parallel_for(lambda first, n: pieces.append(n), 2_000_000, 2)
    assert sum(pieces) == 2_000_000
    assert len(pieces) < 200


def test_pieces_stay_single_where_work_is_slow() -> None:
    pieces: list[int] = []

    def work(first: int, n: int) -> None:
        pieces.append(n)
        time.sleep(0.11)

    parallel_for(work, 6, 2)
    assert pieces == [1] * 6


def test_threads_work_at_the_same_time() -> None:
    meeting = threading.Barrier(3, timeout=20)
    arrived: list[int] = []
    parallel_for(lambda first, n: arrived.append(meeting.wait()), 3, 3)
    assert sorted(arrived) == [0, 1, 2]


def test_no_threads_are_refused() -> None:
    with pytest.raises(UsageError, match="threads=0: at least one is needed"):
        parallel_for(lambda first, n: None, 5, 0)


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_is_raised_to_the_caller_and_ends_the_work(threads: int) -> None:
    begun: list[int] = []

    def work(first: int, n: int) -> None:
        begun.append(first)
        time.sleep(0.11)  # pieces stay single
        if first == 2:
            raise ZeroDivisionError("number 2")

    before = threading.active_count()
    with pytest.raises(ZeroDivisionError, match="number 2"):
        parallel_for(work, 1000, threads)
    assert len(begun) <= 2 + 2 * threads
    assert threading.active_count() == before


def test_an_error_of_the_progress_is_raised_too() -> None:
    def refuse(done: int) -> None:
        raise RuntimeError("no bar")

    with pytest.raises(RuntimeError, match="no bar"):
        parallel_for(lambda first, n: None, 10, 2, refuse)


@pytest.mark.usefixtures("ctrl_c_raises")
@pytest.mark.parametrize("threads", [1, 3])
def test_ctrl_c_finishes_pieces_under_way_and_begins_no_others(threads: int) -> None:
    begun: list[int] = []
    ended: list[int] = []

    def work(first: int, n: int) -> None:
        begun.extend(range(first, first + n))
        time.sleep(0.12)
        ended.extend(range(first, first + n))

    before = threading.active_count()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        parallel_for(work, 1000, threads)
    timer.join()
    assert 0 < len(begun) < 100
    assert sorted(begun) == sorted(ended)
    assert threading.active_count() == before


def test_there_is_a_default_of_one_thread_or_more() -> None:
    assert 1 <= default_threads() <= (os.cpu_count() or 1)
