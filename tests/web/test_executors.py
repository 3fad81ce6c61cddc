"""Threads for work: bounded queues, and quick calls that never wait for searches."""

import asyncio
import http.client
import threading
from pathlib import Path
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from tests.web.conftest import API, BOARD, state_of
from tests.web.live import HANG_SECONDS, blocked, listening, wait_until
from tilewright.web.agents import WebAgent
from tilewright.web.executors import BoundedExecutor, BusyError


def test_an_executor_accepts_no_more_than_its_limit() -> None:
    executor, gate = BoundedExecutor("test", threads=1, waiting=1), threading.Event()
    waiting = [executor.submit(gate.wait, HANG_SECONDS) for _ in range(2)]
    with pytest.raises(BusyError, match="the server is busy"):
        executor.submit(gate.wait, HANG_SECONDS)
    gate.set()
    assert all(future.result(HANG_SECONDS) for future in waiting)
    wait_until(lambda: executor.pending == 0)
    assert executor.submit(lambda: 7).result(HANG_SECONDS) == 7
    executor.close()


def test_a_call_whose_task_is_cancelled_is_not_started() -> None:
    executor, gate, started = BoundedExecutor("test", threads=1, waiting=5), threading.Event(), threading.Event()

    async def cancel_second() -> None:
        first = asyncio.ensure_future(executor.run(gate.wait, HANG_SECONDS))
        second = asyncio.ensure_future(executor.run(started.set))
        while executor.pending < 2:
            await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([second])
        gate.set()
        await first

    asyncio.run(cancel_second())
    executor.submit(lambda: None).result(HANG_SECONDS)
    assert not started.is_set()
    executor.close()


def test_errors_of_the_work_reach_the_caller() -> None:
    executor = BoundedExecutor("test", threads=1, waiting=1)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(executor.run(lambda: 1 // 0))
    executor.close()


def test_requests_are_answered_while_agents_search(client: TestClient) -> None:
    server, answers = state_of(client), []

    def ask() -> None:
        answers.append(client.get(f"{API}/move", params={"board": BOARD, "agent": "heuristic:depth=1"}))

    with blocked(server) as threads:
        search = threading.Thread(target=ask)
        search.start()
        wait_until(lambda: server.executors.slow.pending > threads)
        for path in ("/start", "/games", "/agents", "/jobs", "/runs"):
            assert client.get(API + path).status_code == 200
        assert answers == []
    search.join(HANG_SECONDS)
    assert [answer.status_code for answer in answers] == [200]


def test_work_whose_client_has_gone_away_is_not_started(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []
    monkeypatch.setattr(WebAgent, "analyse", lambda agent, board, search=None: searched.append(board))
    question = f"{API}/move?board={quote(BOARD)}&agent=heuristic:depth=1"
    with listening(runs) as live:
        wait_until(lambda: live.server.executors.quick.pending == 0)
        searched.clear()  # the server has loaded its kernels
        slow = live.server.executors.slow
        with blocked(live.server) as threads:
            visitors = [http.client.HTTPConnection(live.url.removeprefix("http://")) for _ in range(8)]
            for visitor in visitors:
                visitor.request("GET", question)
            wait_until(lambda: slow.pending == threads + 8)
            for visitor in visitors:
                visitor.close()
            wait_until(lambda: slow.pending == threads)
        wait_until(lambda: slow.pending == 0)
    assert searched == []
