"""WebSockets: the games that `evaluate` plays, at the speed that is asked for, until the tab is closed."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fastapi.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from tests.web.conftest import API, BOARD, state_of
from tests.web.live import HANG_SECONDS, wait_until
from tilewright import evaluate, make_agent, make_game
from tilewright.play.recording import play_recorded, state_text
from tilewright.web.app import make_app
from tilewright.web.limits import Limits
from tilewright.web.schemas import AutoplayRequest
from tilewright.web.sockets import Pace, _autoplay, _serve
from tilewright.web.state import ServerState


def messages(client: TestClient, path: str, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield all messages until the server closes the socket."""
    with client.websocket_connect(API + path) as socket:
        socket.send_json(request)
        while True:
            try:
                yield socket.receive_json()
            except WebSocketDisconnect:
                return


@pytest.mark.parametrize(("spec", "agent"), [("2048", "greedy"), ("threes", "random"), ("2048", "heuristic:depth=1")])
def test_autoplay_is_the_game_that_evaluate_plays(client: TestClient, spec: str, agent: str) -> None:
    game, player = make_game(spec), make_agent(agent)
    recorded = play_recorded(player.player(game), 5, 0)
    start = client.get(f"{API}/start", params={"game": spec, "seed": 5}).json()
    request = {"game": spec, "board": start["code"], "score": start["score"], "stream": start["stream"]}
    *parts, last = messages(client, "/autoplay", request | {"agent": agent, "speed": 0})
    moves = [move for part in parts for move in part["moves"]]
    assert last == {"over": True}
    assert tuple(move[0] for move in moves) == recorded.actions
    assert [move[1] for move in moves] == [state_text(game, state) for state in recorded.states[1:]]
    assert tuple(move[2] for move in moves) == recorded.scores[1:]
    assert moves[-1][4] == ""
    legal = game.legal(recorded.board(1))
    assert moves[0][4] == "".join(move[0] for move in legal)


def test_the_game_can_be_continued_from_every_position(client: TestClient) -> None:
    *parts, _ = messages(client, "/autoplay", {"board": BOARD, "agent": "heuristic:depth=1", "speed": 0})
    moves = [move for part in parts for move in part["moves"]]
    (_, board, score, stream, _), (move, after, then, *_) = moves[3], moves[4]
    step = client.post(f"{API}/step", json={"board": board, "score": score, "stream": stream, "move": move}).json()
    assert (step["code"], step["score"]) == (after, then)


def test_a_message_has_as_many_moves_as_the_speed_asks_for(client: TestClient) -> None:
    with client.websocket_connect(f"{API}/autoplay") as socket:
        socket.send_json({"board": BOARD, "agent": "greedy", "speed": 20})
        for _ in range(5):
            assert len(socket.receive_json()["moves"]) == 1


def test_a_new_speed_counts_at_once(client: TestClient) -> None:
    with client.websocket_connect(f"{API}/autoplay") as socket:
        socket.send_json({"board": BOARD, "agent": "greedy", "speed": 0.0001})  # the second move is hours away
        assert len(socket.receive_json()["moves"]) == 1
        socket.send_json({"speed": 0})
        while "over" not in socket.receive_json():
            pass


@pytest.mark.parametrize(
    ("speed", "elapsed", "left"), [(0.5, 0.0, 2.0), (0.5, 1.5, 0.5), (5, 1.0, 0.0), (200, 0.01, 0.03), (0, 0.0, 0.0)]
)
def test_the_next_message_is_due_by_the_speed(speed: float, elapsed: float, left: float) -> None:
    assert Pace(speed).seconds_left(elapsed) == pytest.approx(left)


def test_whoever_waits_for_a_message_learns_of_a_new_speed() -> None:
    async def change_while_waiting() -> None:
        pace = Pace(0.0001)
        waiting = asyncio.ensure_future(pace.wait(time.monotonic()))
        await asyncio.sleep(0)
        assert not waiting.done()
        pace.change(0)
        await asyncio.wait_for(waiting, HANG_SECONDS)

    asyncio.run(change_while_waiting())


def test_watching_ends_with_the_results_of_evaluate(client: TestClient) -> None:
    parts = list(messages(client, "/watch", {"agent": "greedy", "games": 12, "seed": 3}))
    result = [part["result"] for part in parts if part["result"]][-1]
    expected = evaluate(make_agent("greedy"), make_game("2048"), games=12, seed=3).summary()
    assert {key: result[key] for key in ("games", "score", "reach", "moves", "win")} == {
        key: expected[key] for key in ("games", "score", "reach", "moves", "win")
    }
    assert parts[-1]["finished"] == 12


def test_agents_that_are_watched_play_the_same_games(client: TestClient) -> None:
    first = [next(messages(client, "/watch", {"agent": agent, "seed": 8, "speed": 1}))["code"] for agent in ("random",)]
    start = client.get(f"{API}/start", params={"seed": 8}).json()
    game = make_game("2048")
    follow = {
        state_text(game, board.state)
        for move in game.legal(game.parse(start["code"]))
        for board, _ in game.outcomes(game.slide(game.parse(start["code"]), move)[0])
    }
    assert set(first) <= follow


@pytest.mark.parametrize(
    ("path", "request_", "reason"),
    [
        ("/autoplay", {"agent": "greedy"}, "board: Field required"),
        ("/autoplay", {"board": "2 2"}, "the board has 2 numbers"),
        ("/autoplay", {"board": BOARD, "agent": "ntuple:model=../large"}, "paths are refused"),
        ("/autoplay", {"board": BOARD, "speed": -1}, "speed: Input should be greater than or equal to 0"),
        ("/watch", {"agent": "gredy"}, "did you mean 'greedy'?"),
        ("/watch", {"games": 10_001}, "at most 10,000 here"),
    ],
)
def test_a_wrong_request_is_refused_and_the_socket_closed(
    client: TestClient, path: str, request_: dict[str, Any], reason: str
) -> None:
    found = list(messages(client, path, request_))
    assert len(found) == 1
    assert reason in found[0]["reason"]


def test_text_that_is_no_json_is_refused(client: TestClient) -> None:
    with client.websocket_connect(f"{API}/watch") as socket:
        socket.send_text("{")
        assert "Invalid JSON" in socket.receive_json()["reason"]


def test_a_closed_tab_frees_its_work(client: TestClient) -> None:
    server = state_of(client)
    with client.websocket_connect(f"{API}/autoplay") as socket:
        socket.send_json({"board": BOARD, "agent": "heuristic:ms=50", "speed": 0})
        socket.receive_json()
        assert server.open_sockets == 1
    wait_until(lambda: (server.open_sockets, server.executors.slow.pending) == (0, 0))


def test_the_number_of_open_sockets_is_limited(runs: Path) -> None:
    with TestClient(make_app(runs, Limits(sockets=1))) as client, client.websocket_connect(f"{API}/watch") as first:
        first.send_json({"agent": "greedy", "games": 10_000, "speed": 5})
        first.receive_json()
        with client.websocket_connect(f"{API}/watch") as second, pytest.raises(WebSocketDisconnect) as closed:
            second.receive_json()
    assert (closed.value.code, closed.value.reason) == (1013, "too many sockets are open")


class GoneClient:
    """A client that asks for something impossible, and does not wait for the reason."""

    async def accept(self) -> None:
        pass

    async def receive_text(self) -> str:
        return "{}"

    async def send_json(self, message: object) -> None:
        raise WebSocketDisconnect(1006)


def test_a_client_that_goes_before_the_reason_comes_is_forgotten() -> None:
    server = SimpleNamespace(open_sockets=0, limits=Limits(), runs=SimpleNamespace(hide_paths=str))
    asyncio.run(_serve(cast(ServerState, server), cast(WebSocket, GoneClient()), AutoplayRequest, _autoplay))
    assert server.open_sockets == 0
