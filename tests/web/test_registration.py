"""Plug-ins: whoever starts the server registers them, and requests cannot import anything."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.web.conftest import API, BOARD, wait_for
from tests.web.live import PATIENT
from tests.web.plugins import Corner, Halves, Unregistered
from tilewright import AGENTS, GAMES, FileError, SpecError, make_agent, make_game
from tilewright.play.recording import play_recorded
from tilewright.web.app import make_app
from tilewright.web.games import describe_games
from tilewright.web.registration import parse_registered, register_agent, register_game

PLUGINS = "tests.web.plugins"


@pytest.fixture(scope="module")
def plugins() -> Iterator[TestClient]:
    """A server with a game and agents of a user; the registries are as before when it has ended."""
    games, agents = dict(GAMES._own), dict(AGENTS._own)
    assert register_game(f"{PLUGINS}:Halves") == "Halves"
    offered = [register_agent(f"{PLUGINS}:{spec}") for spec in ("Corner,weight=3", "Broken", "NotFinite")]
    assert offered == ["Corner:weight=3", "Broken", "NotFinite"]
    with TestClient(make_app(Path("nowhere"), agents=offered, limits=PATIENT)) as client:
        yield client
    GAMES._own, AGENTS._own = games, agents


def test_a_game_of_a_user_is_described_like_any_other(plugins: TestClient) -> None:
    [entry] = [game for game in plugins.get(f"{API}/games").json() if game["name"] == "Halves"]
    assert entry["summary"].startswith("Equal tiles merge to the next smaller one")
    assert (entry["tiles"], entry["win_tile"], len(entry["colours"])) == ([0, 2, 4, 8, 16], None, 5)
    options = {option["name"]: (option["default"], option["kind"]) for option in entry["options"]}
    assert options == {"rows": (3, "int"), "columns": (3, "int"), "start_tiles": (2, "int"), "win_tile": (None, "int")}


def test_a_game_of_a_user_is_played_to_its_end(plugins: TestClient) -> None:
    position = plugins.get(f"{API}/start", params={"game": "Halves", "seed": 5}).json()
    recorded = play_recorded(make_agent("greedy").player(Halves()), 5, 0)
    for move, score in zip(recorded.actions, recorded.scores[1:], strict=True):
        step = {"game": "Halves", "board": position["code"], "score": position["score"], "stream": position["stream"]}
        position = plugins.post(f"{API}/step", json=step | {"agent": "greedy"}).json()
        assert (position["move"], position["score"], position["game"]) == (move, score, "Halves")
    assert position["over"]


def test_a_recorded_game_of_a_user_is_reviewed(plugins: TestClient) -> None:
    line = play_recorded(make_agent("random").player(Halves()), 2, 0).to_line()
    for game in ("Halves", f"{PLUGINS}:Halves"):
        text = line.replace('"game": "Halves"', f'"game": "{game}"')
        job = plugins.post(f"{API}/reviews", json={"recording": text, "agent": "greedy"}).json()
        assert wait_for(plugins, job["id"])["result"]["game"] == "Halves"


def test_an_agent_of_a_user_gives_the_values_and_the_move_of_python(plugins: TestClient) -> None:
    board = make_game("2048").parse(BOARD)
    for spec, weight in (("Corner", 1), ("Corner:weight=3", 3)):
        advice = plugins.get(f"{API}/move", params={"board": BOARD, "agent": spec}).json()
        assert advice["values"] == Corner(weight=weight).values(board)
        assert advice["move"] == Corner(weight=weight).move(board)
        assert (advice["agent"], advice["depth"], advice["nodes"]) == (spec, None, None)


def test_agents_of_users_are_listed_with_the_options_of_the_server(plugins: TestClient) -> None:
    specs = [agent["spec"] for agent in plugins.get(f"{API}/agents").json()]
    assert specs[-1] == "Corner:weight=3"
    assert {"Corner", "Broken", "NotFinite", "greedy"} <= set(specs)


def test_other_options_of_an_agent_cannot_be_chosen(plugins: TestClient) -> None:
    answer = plugins.get(f"{API}/move", params={"board": BOARD, "agent": "Corner:weight=4"})
    assert (answer.status_code, answer.json()["reason"]) == (
        400,
        "agent Corner: the option weight cannot be chosen here",
    )


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        ("Broken", "agent Broken failed: ZeroDivisionError: an error of the agent"),
        ("NotFinite", "agent NotFinite failed: the value of up is nan, no finite number"),
    ],
)
def test_errors_of_an_agent_are_answers(plugins: TestClient, agent: str, reason: str) -> None:
    answer = plugins.get(f"{API}/move", params={"board": BOARD, "agent": agent})
    assert (answer.status_code, answer.json()) == (500, {"reason": reason})


def test_the_author_of_an_agent_finds_the_traceback_in_the_log(
    plugins: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    plugins.get(f"{API}/move", params={"board": BOARD, "agent": "Broken"})
    assert "agent Broken failed" in caplog.text
    assert "plugins.py" in caplog.text


def test_errors_of_an_agent_end_steps_sockets_and_jobs(plugins: TestClient) -> None:
    reason = "agent Broken failed: ZeroDivisionError: an error of the agent"
    answer = plugins.post(f"{API}/step", json={"board": BOARD, "agent": "Broken"})
    assert (answer.status_code, answer.json()) == (500, {"reason": reason})
    with plugins.websocket_connect(f"{API}/autoplay") as socket:
        socket.send_json({"board": BOARD, "agent": "Broken"})
        assert socket.receive_json() == {"reason": reason}
    recording = play_recorded(make_agent("random").player(make_game("2048")), 2, 0).to_line()
    for path, request in (("/evaluations", {"games": 2}), ("/reviews", {"recording": recording})):
        job = plugins.post(API + path, json=request | {"agent": "Broken"}).json()
        finished = wait_for(plugins, job["id"])
        assert (finished["state"], finished["reason"]) == ("failed", reason)


@pytest.mark.parametrize("registry", [GAMES, AGENTS])
@pytest.mark.parametrize("target", ["antigravity:fly", "tests.web.plugins:Unknown", "os:system", "sys:exit"])
def test_a_request_cannot_name_a_module(registry: Any, target: str) -> None:
    with pytest.raises(SpecError, match=f"this server offers registered {registry.kind}s only"):
        parse_registered(registry, target, 200)


def test_a_request_imports_nothing(client: TestClient) -> None:
    assert "antigravity" not in sys.modules
    recording = play_recorded(make_agent("random").player(make_game("2048")), 2, 0).to_line()
    foreign = recording.replace('"game": "2048"', '"game": "antigravity:fly"')
    for answer in (
        client.get(f"{API}/move", params={"board": BOARD, "agent": "antigravity:fly"}),
        client.get(f"{API}/move", params={"board": BOARD, "game": "antigravity:fly"}),
        client.get(f"{API}/start", params={"game": "antigravity:fly,rows=3"}),
        client.get(f"{API}/agents", params={"game": "antigravity:fly"}),
        client.post(f"{API}/step", json={"board": BOARD, "agent": "antigravity:fly"}),
        client.post(f"{API}/evaluations", json={"agent": "antigravity:fly"}),
        client.post(f"{API}/reviews", json={"recording": foreign}),
    ):
        assert answer.status_code == 400, answer.text
    assert "antigravity" not in sys.modules


def test_an_imported_game_that_is_not_registered_is_refused(client: TestClient) -> None:
    refusal = {"reason": f"game {PLUGINS}:Unregistered: this server offers registered games only"}
    line = play_recorded(make_agent("random").player(Unregistered()), 2, 0).to_line()
    assert client.get(f"{API}/start", params={"game": f"{PLUGINS}:Unregistered"}).json() == refusal
    assert client.post(f"{API}/reviews", json={"recording": line, "agent": "greedy"}).json() == refusal


@pytest.mark.parametrize(
    ("register", "spec", "reason"),
    [
        (register_game, f"{PLUGINS}:Halves,rows=2", "give it without options"),
        (register_game, f"{PLUGINS}:Corner", "is not a subclass of"),
        (register_game, "no_such_module:Game", "there is no module 'no_such_module'"),
        (register_agent, f"{PLUGINS}:Corner,wieght=2", "did you mean 'weight'"),
        (register_agent, f"{PLUGINS}:Halves", "is not a subclass of"),
    ],
)
def test_a_wrong_plug_in_is_refused_at_the_start(register: Any, spec: str, reason: str) -> None:
    games, agents = dict(GAMES._own), dict(AGENTS._own)
    try:
        with pytest.raises(SpecError, match=reason):
            register(spec)
    finally:
        GAMES._own, AGENTS._own = games, agents


def test_a_table_that_does_not_exist_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"L3-256\.table: cannot be read: No such file"):
        register_agent(f"exact:table={tmp_path / 'L3-256.table'}")


def test_a_registered_name_can_be_given_again() -> None:
    assert register_game("threes") == "threes"
    assert register_agent("heuristic:depth=3") == "heuristic:depth=3"


def test_the_games_of_the_package_are_described() -> None:
    entries = {str(entry["name"]): entry for entry in describe_games()}
    assert entries["2048"]["win_tile"] == 2048
    assert entries["threes"]["win_tile"] is None
