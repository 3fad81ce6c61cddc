"""Threads for work: bounded queues, and quick calls that never wait for searches."""

import asyncio
import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from fastapi.testclient import TestClient
from websockets.sync.client import connect

from tests.web.conftest import API, BOARD, state_of, wait_for
from tests.web.live import HANG_SECONDS, Live, blocked, listening, wait_until
from tilewright import Player, make_agent, make_game
from tilewright.play.recording import play_recorded
from tilewright.web.agents import AgentCatalogue, WebAgent
from tilewright.web.app import make_app
from tilewright.web.executors import BoundedExecutor, BusyError
from tilewright.web.limits import Limits
from tilewright.web.runs import RunLibrary
from tilewright.web.searches import Search


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
    assert BOARD not in [board.game.text(board) for board in searched]  # other servers may be warming up


ENDLESS = "heuristic:depth=12"  # no search of this depth ends within the patience of anybody
QUESTION = f"{API}/move?board={quote(BOARD)}&agent={ENDLESS}"


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server that allows endless searches."""
    with listening(tmp_path_factory.mktemp("runs"), Limits(depth=12, search_seconds=HANG_SECONDS)) as live:
        wait_until(lambda: live.server.executors.quick.pending == 0)
        yield live


@pytest.fixture
def players(monkeypatch: pytest.MonkeyPatch) -> list[Player]:
    """The players that are lent from now on."""
    lent: list[Player] = []
    using = Search.using

    def noting(search: Search, player: Player) -> AbstractContextManager[None]:
        lent.append(player)
        return using(search, player)

    monkeypatch.setattr(Search, "using", noting)
    return lent


def wait_for_search(players: list[Player]) -> None:
    wait_until(lambda: any(player.agent == make_agent(ENDLESS) and player.has_begun for player in players))


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_search_ends_when_its_client_goes_away(patient: Live, players: list[Player], method: str) -> None:
    visitor = http.client.HTTPConnection(patient.url.removeprefix("http://"))
    if method == "GET":
        visitor.request("GET", QUESTION)
    else:
        asked = json.dumps({"board": BOARD, "agent": ENDLESS})
        visitor.request("POST", f"{API}/step", asked, {"Content-Type": "application/json"})
    wait_for_search(players)
    visitor.close()
    wait_until(lambda: patient.server.executors.slow.pending == 0)


@pytest.mark.parametrize("path", ["/autoplay", "/watch"])
def test_the_search_of_a_socket_ends_with_it(patient: Live, players: list[Player], path: str) -> None:
    asked = {"agent": ENDLESS} | ({"board": BOARD} if path == "/autoplay" else {})
    with connect(patient.url.replace("http", "ws") + API + path) as socket:
        socket.send(json.dumps(asked))
        wait_for_search(players)
    wait_until(lambda: patient.server.executors.slow.pending == 0)


@pytest.mark.parametrize("kind", ["evaluations", "reviews"])
def test_a_job_is_stopped_within_a_move(patient: Live, players: list[Player], kind: str) -> None:
    recording = play_recorded(make_agent("random").player(make_game("2048")), 9, 0).to_line()
    more = {"recording": recording} if kind == "reviews" else {}
    with httpx2.Client(base_url=patient.url + API, timeout=HANG_SECONDS) as client:
        job = client.post(f"/{kind}", json={"agent": ENDLESS} | more).json()["id"]
        wait_for_search(players)
        client.delete(f"/jobs/{job}")
        wait_until(lambda: patient.server.executors.jobs.pending == 0)
        assert client.get(f"/jobs/{job}").json()["state"] == "stopped"


def test_a_search_has_a_deadline_even_without_a_time_limit(tmp_path: Path) -> None:
    limits = Limits(depth=12, search_seconds=0.05, job_seconds=0.05)
    with TestClient(make_app(tmp_path, limits)) as client:
        answer = client.get(QUESTION)
        assert answer.status_code == 400
        expected = "agent heuristic: no move within 0.05 seconds, the limit here; search less deeply"
        assert answer.json()["reason"] == expected
        assert client.post(f"{API}/step", json={"board": BOARD, "agent": ENDLESS}).status_code == 400
        with client.websocket_connect(f"{API}/autoplay") as socket:
            socket.send_json({"board": BOARD, "agent": ENDLESS})
            assert "no move within" in socket.receive_json()["reason"]
        job = wait_for(client, client.post(f"{API}/evaluations", json={"agent": ENDLESS}).json()["id"])
        assert (job["state"], job["done"]) == ("stopped", 0)
        assert job["reason"].startswith("stopped after 0 seconds, the limit of a job")
        wait_until(lambda: state_of(client).executors.slow.pending == 0)


def test_a_search_that_was_stopped_leaves_no_player_behind(tmp_path: Path) -> None:
    game, agents = make_game("2048"), AgentCatalogue(RunLibrary(tmp_path), Limits())
    agent = agents.make("heuristic:depth=1", game)
    search = agent.new_search()
    with agent.player(game, search) as stopped:
        stopped.analyse(BOARD)
        search.stop()  # after its last search
    with agent.player(game) as other:
        assert other is not stopped
        assert other.analyse(BOARD).move is not None
