"""Threads for work: bounded, and quick calls never behind slow ones."""

import asyncio
import http.client
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from tests.web.conftest import API, BOARD
from tests.web.live import listening
from tilewright.web.executors import BusyError, Lane
from tilewright.web.runs import thinned


def test_a_lane_takes_on_no_more_than_its_bound() -> None:
    lane, gate = Lane("test", threads=1, waiting=1), threading.Event()
    waiting = [lane.submit(gate.wait, 10) for _ in range(2)]
    with pytest.raises(BusyError, match="the server is busy"):
        lane.submit(gate.wait, 10)
    gate.set()
    assert all(future.result(10) for future in waiting)
    assert lane.submit(lambda: 7).result(10) == 7
    lane.close()


def test_what_nobody_waits_for_any_more_is_not_begun() -> None:
    lane, gate, begun = Lane("test", threads=1, waiting=5), threading.Event(), threading.Event()

    async def give_up() -> None:
        blocked = asyncio.ensure_future(lane.run(gate.wait, 10))
        late = asyncio.ensure_future(lane.run(begun.set))
        await asyncio.sleep(0.05)
        late.cancel()
        await asyncio.wait([late])
        gate.set()
        await blocked

    asyncio.run(give_up())
    lane.submit(lambda: None).result(10)
    assert not begun.is_set()
    lane.close()


def test_requests_are_answered_while_agents_think(client: TestClient) -> None:
    thinking = {"board": BOARD, "agent": "heuristic:ms=1000"}
    client.get(f"{API}/move", params=thinking | {"agent": "heuristic:ms=1"})
    threads = [threading.Thread(target=client.get, args=(f"{API}/move",), kwargs={"params": thinking}) for _ in "ab"]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    answered = 0
    while all(thread.is_alive() for thread in threads):
        assert client.get(f"{API}/start").status_code == 200
        answered += 1
    for thread in threads:
        thread.join()
    assert answered >= 10


def test_questions_that_were_given_up_are_not_thought_about(runs: Path) -> None:
    question = f"{API}/move?board={quote(BOARD)}&agent=heuristic:ms=1000"
    with listening(runs) as live:
        load = partial(getattr, live.site.lanes.slow, "load")
        visitors = [http.client.HTTPConnection(live.url.removeprefix("http://")) for _ in range(8)]
        for visitor in visitors:
            visitor.request("GET", question)
        wait_until(lambda: load() == 8)
        for visitor in visitors:
            visitor.close()
        began = time.monotonic()
        wait_until(lambda: load() == 0)
        assert time.monotonic() - began < 3  # four and more, if all were thought about on two processors


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_long_curve_is_thinned_out_from_its_first_point_to_its_last(tmp_path: Path) -> None:
    assert thinned(range(5), 5) == [0, 1, 2, 3, 4]
    chosen = thinned(range(10_000), 600)
    assert (len(chosen), chosen[0], chosen[-1]) == (600, 0, 9_999)
