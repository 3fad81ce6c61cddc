"""What the coach asks the server: outcomes, replays, practice positions, the status of the first start."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.web.conftest import API
from tests.web.live import HANG_SECONDS, PATIENT, wait_until
from tilewright import load_table, make_agent, make_game, solve
from tilewright.play.recording import parse_line, play_recorded
from tilewright.web.app import make_app
from tilewright.web.limits import Limits
from tilewright.web.state import ServerState
from tilewright.web.warm_up import WarmUpStatus
from torture.replay_texts import old_form

LEVELS = {"easy": (0.08, 1.0), "medium": (0.02, 0.08), "hard": (0.005, 0.02)}


@pytest.mark.parametrize(
    ("spec", "text"),
    [("2048", "2 2 4 0 / 0 0 8 0 / 0 0 16 0 / 2 0 0 32"), ("threes", "3 3 1 0 / 0 2 0 0 / 0 0 0 6 / 0 0 0 1 hint=2")],
)
def test_outcomes_are_those_of_the_game(client: TestClient, spec: str, text: str) -> None:
    game = make_game(spec)
    board = game.parse_position(text)
    after, reward = game.slide(board, "left")
    score = game.board_score(board) + 100
    asked = {"game": spec, "board": text, "move": "left", "score": str(score)}
    found = client.get(f"{API}/outcomes", params=asked).json()
    assert found["after"] == [list(row) for row in after.tiles]
    expected = game.outcomes(after)
    assert [(game.parse_position(code), probability) for code, _, _, probability in found["outcomes"]] == expected
    new_tiles = [game.board_score(outcome) - game.board_score(after) for outcome, _ in expected]
    assert [found_score for _, found_score, _, _ in found["outcomes"]] == [score + reward + more for more in new_tiles]
    letters = ["".join(move[0] for move in game.legal(outcome)) for outcome, _ in expected]
    assert [legal for _, _, legal, _ in found["outcomes"]] == letters
    illegal = {"board": "2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "move": "left"}
    assert client.get(f"{API}/outcomes", params=illegal).status_code == 400


def test_a_replay_becomes_a_recorded_game(client: TestClient) -> None:
    recording = play_recorded(make_agent("greedy").player(make_game("2048")), 4, 0)
    found = client.post(f"{API}/replays", json={"text": old_form(recording)}).json()
    assert parse_line(found["recording"].encode()).states == recording.states
    assert (found["moves"], found["score"]) == (len(recording.actions), recording.score)
    refused = client.post(f"{API}/replays", json={"text": "replay \x07"})
    assert (refused.status_code, refused.json()["reason"][:11]) == (400, "character 1")


def practise(client: TestClient, **asked: Any) -> dict[str, Any]:
    answer = client.get(f"{API}/practice", params=asked)
    assert answer.status_code == 200, answer.json()
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("theme", ["corner", "merge"])
def test_practice_positions_have_their_theme_and_difficulty(client: TestClient, theme: str, level: str) -> None:
    found = practise(client, theme=theme, level=level, seed=1)
    tiles = [list(row) for row in make_game("2048").parse(found["text"]).tiles]
    values = sorted((tile for row in tiles for tile in row), reverse=True)
    if theme == "corner":
        assert values[0] not in (tiles[0][0], tiles[0][3], tiles[3][0], tiles[3][3])
    else:
        assert values[0] == values[1] or values.count(values[0] // 2) > 1
    best, second = sorted(found["values"].values(), reverse=True)[:2]
    low, high = LEVELS[level]
    assert low <= (best - second) / (found["score"] + best) < high
    assert found["unit"] == "points"
    judged = make_agent("expectimax:depth=2").values(make_game("2048").parse(found["text"]))
    assert found["values"] == pytest.approx(judged)


def test_endgames_come_from_a_table(tmp_path: Path) -> None:
    table = solve("2048:rows=2,columns=3", goal=64, out=tmp_path / "table", threads=1)
    spec = f"exact:table={table.path}"
    with TestClient(make_app(tmp_path, agents=[spec], limits=PATIENT)) as client:
        for asked in ({"table": spec}, {}):
            found = practise(client, theme="endgame", level="medium", seed=3, **asked)
            values = load_table(tmp_path / "table").values(found["text"])
            assert found["values"] == values
            assert found["unit"] == "probability"
            best, second = sorted(values.values(), reverse=True)[:2]
            assert 0.02 <= best - second <= 0.08
        wrong = client.get(f"{API}/practice", params={"theme": "endgame", "table": "greedy"})
        assert (wrong.status_code, "need an agent with a table" in wrong.json()["reason"]) == (400, True)


def test_a_server_without_tables_says_so(client: TestClient) -> None:
    answer = client.get(f"{API}/practice", params={"theme": "endgame"})
    assert (answer.status_code, answer.json()) == (400, {"reason": "this server has no table of endgames"})
    assert client.get(f"{API}/practice", params={"theme": "openings"}).status_code == 422


def test_the_status_is_ready_when_kernels_are_loaded(client: TestClient) -> None:
    wait_until(lambda: client.get(f"{API}/status").json()["ready"])
    found = client.get(f"{API}/status").json()
    assert found == {"ready": True, "compiling": False, "seconds": 0.0, "about": found["about"]}


def test_the_status_says_that_kernels_are_compiled() -> None:
    status = WarmUpStatus()
    with status:
        assert status.to_json()["compiling"] is False
        status.on_start(None)
        assert status.to_json()["compiling"] is True
        assert status.to_json()["ready"] is False
    assert status.to_json()["ready"] is True
    assert status.to_json()["compiling"] is False


def test_kernels_of_other_games_are_loaded_after_the_first_advice(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(ServerState, "_load_kernels", lambda self, name: loaded.append(name))
    state = ServerState(tmp_path, Limits(warm_up_seconds=HANG_SECONDS))
    thread = threading.Thread(target=state.warm_up)
    thread.start()
    wait_until(lambda: state.warm_up_status.to_json()["ready"] is True)
    assert loaded == ["2048"]
    state.has_advised.set()
    thread.join(HANG_SECONDS)
    assert loaded == ["2048", "threes"]
    state.close()


def test_a_first_question_waits_until_kernels_are_loaded() -> None:
    status, order = WarmUpStatus(), list[str]()

    async def ask() -> None:
        await status.until_loaded()
        order.append("asked")

    async def load() -> None:
        with status:
            question = asyncio.ensure_future(ask())
            for _ in range(3):
                await asyncio.sleep(0)
            order.append("loaded")
        await question

    asyncio.run(load())
    assert order == ["loaded", "asked"]
    asyncio.run(ask())  # nothing is loaded any more
    assert order[-1] == "asked"
