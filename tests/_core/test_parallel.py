"""Work on several threads: each number once, errors and Ctrl-C raised to the caller, no thread left behind."""

import itertools
import math
import os
import signal
import threading
from collections import Counter

import pytest

from tilewright._core import parallel
from tilewright._core.parallel import default_threads, next_size, parallel_for
from tilewright.errors import UsageError

ENDLESS = 10**12  # numbers: the work ends because it is stopped, however fast the machine is


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 100, 1001])
def test_every_number_is_covered_once(count: int, threads: int) -> None:
    covered: list[int] = []
    finished: list[int] = []
    result = parallel_for(
        lambda first, n: covered.extend(range(first, first + n)), count, threads, progress=finished.append
    )
    assert sorted(covered) == list(range(count))
    assert result == sum(finished) == count


def test_chunks_of_very_different_length_are_covered_once() -> None:
    covered: Counter[int] = Counter()
    slow = threading.Event()

    def work(first: int, n: int) -> None:
        if first == 0:
            slow.wait()  # until all other chunks are finished
        covered.update(range(first, first + n))
        if len(covered) == 4999:
            slow.set()

    parallel_for(work, 5000, 4)
    assert covered == Counter(range(5000))


@pytest.mark.parametrize(
    ("size", "seconds", "expected"),
    [
        (1, 0.0, 8),  # a kernel call has a cost: chunks of quick work grow, by a factor of 8
        (1000, 0.001, 8000),
        (1000, 0.05, 2000),  # to a tenth of a second
        (1000, 0.1, 1000),
        (1000, 10.0, 10),
        (1, 5.0, 1),  # and never below one number
    ],
)
def test_the_size_of_chunks_follows_their_speed(size: int, seconds: float, expected: int) -> None:
    assert next_size(size, seconds) == expected


def test_threads_work_at_the_same_time() -> None:
    meeting = threading.Barrier(3)
    arrived: list[int] = []
    parallel_for(lambda first, n: arrived.append(meeting.wait()), 3, 3)
    assert sorted(arrived) == [0, 1, 2]


def test_no_threads_are_refused() -> None:
    with pytest.raises(UsageError, match="threads=0: at least one is needed"):
        parallel_for(lambda first, n: None, 5, 0)


def test_no_chunk_starts_after_the_end_is_asked_for() -> None:
    covered: list[int] = []

    def work(first: int, n: int) -> None:
        covered.extend(range(first, first + n))

    result = parallel_for(work, ENDLESS, 1, until=lambda: len(covered) >= 5)
    assert covered == list(range(result))
    assert 5 <= result <= 9  # chunks of 1 and 8 numbers


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_is_raised_to_the_caller_and_ends_the_work(threads: int) -> None:
    started: list[int] = []
    finished: list[int] = []
    calls = itertools.count(1)

    def work(first: int, n: int) -> None:
        started.append(first)
        if next(calls) == 3:
            raise ZeroDivisionError("the third chunk")
        finished.append(first)

    before = threading.active_count()
    with pytest.raises(ZeroDivisionError, match="the third chunk"):
        parallel_for(work, ENDLESS, threads)
    assert len(started) == len(finished) + 1
    assert threading.active_count() == before


def test_an_error_of_the_progress_is_raised_too() -> None:
    def refuse(done: int) -> None:
        raise RuntimeError("no bar")

    with pytest.raises(RuntimeError, match="no bar"):
        parallel_for(lambda first, n: None, 10, 2, refuse)


@pytest.mark.parametrize("threads", [1, 3])
def test_ctrl_c_finishes_started_chunks_and_starts_no_others(threads: int) -> None:
    started: list[int] = []
    finished: list[int] = []
    calls = itertools.count(1)

    def work(first: int, n: int) -> None:
        started.append(first)
        if next(calls) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        finished.append(first)

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        parallel_for(work, ENDLESS, threads)
    assert len(started) >= 5
    assert sorted(started) == sorted(finished)
    assert threading.active_count() == before


def test_there_is_a_default_of_one_thread_or_more() -> None:
    assert 1 <= default_threads() <= (os.cpu_count() or 1)


def test_after_an_error_work_that_would_never_end_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_PATIENCE", 0.0)
    began, abandoned, ended = threading.Event(), threading.Event(), threading.Event()

    def work(first: int, n: int) -> None:
        if first == 0:
            began.wait()
            raise ValueError("broken")
        began.set()
        abandoned.wait()
        ended.set()

    with pytest.raises(ValueError, match="broken"):
        parallel_for(work, 2, 2, abandon=abandoned.set)
    assert ended.is_set()


def test_a_second_ctrl_c_does_not_wait_for_work_that_would_never_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_PATIENCE", 1e6)
    began, patient, abandoned, ended = (threading.Event() for _ in range(4))
    wait = parallel._Chunks.wait_for_begun

    def noted(self: parallel._Chunks, seconds: float = math.inf) -> None:
        if seconds == 1e6:
            patient.set()
        wait(self, seconds)

    def work(first: int, n: int) -> None:
        began.set()
        abandoned.wait()
        ended.set()

    def interrupt_twice() -> None:
        for event in (began, patient):
            event.wait()
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(parallel._Chunks, "wait_for_begun", noted)
    threading.Thread(target=interrupt_twice, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        parallel_for(work, 1, 1, abandon=abandoned.set)
    assert ended.is_set()
