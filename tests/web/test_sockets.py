"""Play over WebSockets: the games that `evaluate` plays, and nothing goes on when a tab is closed."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tests.web.conftest import API, BOARD
from tilewright import evaluate, make_agent, make_game
from tilewright.play.recording import play_recorded, state_text
from tilewright.web.app import make_app
from tilewright.web.limits import Limits


def messages(client: TestClient, path: str, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All that comes until the server closes."""
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


def test_every_position_on_the_way_can_be_gone_on_from(client: TestClient) -> None:
    *parts, _ = messages(client, "/autoplay", {"board": BOARD, "agent": "heuristic:depth=1", "speed": 0})
    moves = [move for part in parts for move in part["moves"]]
    (_, board, score, stream, _), (move, after, then, *_) = moves[3], moves[4]
    step = client.post(f"{API}/step", json={"board": board, "score": score, "stream": stream, "move": move}).json()
    assert (step["code"], step["score"]) == (after, then)


def test_the_speed_is_kept_and_can_be_changed(client: TestClient) -> None:
    with client.websocket_connect(f"{API}/autoplay") as socket:
        socket.send_json({"board": BOARD, "agent": "greedy", "speed": 20})
        socket.receive_json()
        began = time.monotonic()
        for _ in range(5):
            assert len(socket.receive_json()["moves"]) == 1
        assert time.monotonic() - began > 0.15
        socket.send_json({"speed": 0})
        while "over" not in socket.receive_json():
            pass


def test_watching_ends_with_the_figures_of_evaluate(client: TestClient) -> None:
    parts = list(messages(client, "/watch", {"agent": "greedy", "games": 12, "seed": 3}))
    figures = [part["figures"] for part in parts if part["figures"]][-1]
    expected = evaluate(make_agent("greedy"), make_game("2048"), games=12, seed=3).summary()
    assert {key: figures[key] for key in ("games", "score", "reach", "moves", "win")} == {
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
def test_a_wrong_request_is_told_and_the_socket_closed(
    client: TestClient, path: str, request_: dict[str, Any], reason: str
) -> None:
    found = list(messages(client, path, request_))
    assert len(found) == 1
    assert reason in found[0]["reason"]


def test_what_is_no_json_is_told_too(client: TestClient) -> None:
    with client.websocket_connect(f"{API}/watch") as socket:
        socket.send_text("{")
        assert "Invalid JSON" in socket.receive_json()["reason"]


def test_a_closed_tab_frees_its_work(client: TestClient) -> None:
    site: Any = client.app.state.site  # type: ignore[attr-defined]
    with client.websocket_connect(f"{API}/autoplay") as socket:
        socket.send_json({"board": BOARD, "agent": "heuristic:ms=50", "speed": 0})
        socket.receive_json()
        assert site.sockets == 1
    deadline = time.monotonic() + 10
    while (site.sockets or site.lanes.slow.load) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert (site.sockets, site.lanes.slow.load) == (0, 0)


def test_only_so_many_sockets_are_open(runs: Path) -> None:
    with TestClient(make_app(runs, Limits(sockets=1))) as client, client.websocket_connect(f"{API}/watch") as first:
        first.send_json({"agent": "greedy", "games": 10_000, "speed": 5})
        first.receive_json()
        with client.websocket_connect(f"{API}/watch") as second, pytest.raises(WebSocketDisconnect) as closed:
            second.receive_json()
    assert (closed.value.code, closed.value.reason) == (1013, "too many are open")
