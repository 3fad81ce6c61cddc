"""The examples of an own agent and an own game work everywhere: in Python, in every command, as an environment, and on
the web page."""

import importlib
import json
import os
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from fastapi.testclient import TestClient

import tilewright as tw
import tilewright.envs  # registers the environments
from tests.games.naive import lanes
from tests.process import HANG_SECONDS, Finished, run_python, run_tilewright, start_tilewright
from tests.web.live import PATIENT
from tilewright.play.recording import FORMAT
from tilewright.testing import check_agent, check_game
from tilewright.web.app import make_app

EXAMPLES = Path(__file__).parent.parent / "examples"
GAME, AGENT = "own_game:Fibonacci", "own_agent:Corner"
BOARD = "1 1 2 0 / 0 0 0 0 / 0 3 0 0 / 0 0 0 1"
WITH_EXAMPLES = os.pathsep.join([str(Path(tw.__file__).parents[1]), str(EXAMPLES)])
FIBONACCI = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987]


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(EXAMPLES)
    yield
    for module in ("own_agent", "own_game"):
        sys.modules.pop(module, None)


def tilewright_with_examples(*arguments: str) -> Finished:
    """Run a command as somebody would whose modules are in the folder of the examples."""
    found = run_tilewright(*arguments, PYTHONPATH=WITH_EXAMPLES)
    assert found.returncode == 0, found.stderr
    return found


@pytest.mark.parametrize(("example", "lines"), [("own_agent", 5), ("own_game", 25)])
def test_the_examples_are_short_and_run_by_themselves(example: str, lines: int) -> None:
    source = (EXAMPLES / f"{example}.py").read_text()
    body = source[source.index("class ") : source.index("if __name__")]
    assert len([line for line in body.splitlines() if line.strip() and '"""' not in line]) <= lines
    code = f"import runpy; runpy.run_path({str(EXAMPLES / f'{example}.py')!r}, run_name='__main__')"
    found = run_python(code)
    assert found.returncode == 0, found.stderr
    assert re.fullmatch(r"mean score [\d,]+ in 20 games\n", found.stdout)


def naive_move(tiles: tuple[tuple[int, ...], ...], direction: str) -> tuple[Any, int]:
    """A move of the game, written once more: pairs that follow each other in the sequence merge."""
    board, reward = [list(row) for row in tiles], 0
    for lane in lanes(tiles, direction):
        line = [tiles[r][c] for r, c in lane if tiles[r][c]]
        i = 0
        while i + 1 < len(line):
            low, high = sorted(line[i : i + 2])
            follow = (low, high) in zip([1, *FIBONACCI], FIBONACCI, strict=False)
            if follow and high < 987:
                line[i : i + 2] = [low + high]
                reward += low + high
            i += 1
        for (r, c), tile in zip(lane, line + [0] * 4, strict=False):
            board[r][c] = tile
    return tuple(map(tuple, board)), reward


def test_the_game_is_the_one_that_it_says() -> None:
    game = tw.make_game(GAME)
    random = np.random.default_rng(3)
    for _ in range(200):
        board = game.parse(random.choice([0, 0, *random.choice(FIBONACCI, 3)], (4, 4)).tolist())
        for direction in ("up", "right", "down", "left"):
            expected, reward = naive_move(board.tiles, direction)
            if expected == board.tiles:
                assert direction not in game.legal(board)
            else:
                after, found = game.slide(board, direction)
                assert (after.tiles, found) == (expected, reward)


def test_they_conform() -> None:
    check_game(GAME, games=1)
    check_agent(AGENT, GAME, games=1)
    check_agent(AGENT, "threes:rows=3", games=1)


@pytest.mark.parametrize(
    "agent", ["random", "greedy", "heuristic:depth=2", "minimax:depth=2", "montecarlo:rollouts=4", "uct:rollouts=8"]
)
def test_every_agent_plays_the_game(agent: str) -> None:
    result = tw.evaluate(agent, GAME, games=2, seed=1)
    assert (result.scores > 0).all()
    assert set(result.reach) <= set(FIBONACCI)
    check_agent(agent, f"{GAME},rows=2,columns=3", games=1)


def test_specs_of_both_read_back() -> None:
    for spec in (GAME, f"{GAME},rows=3,win_tile=89"):
        assert tw.make_game(spec).spec == spec
    assert tw.make_agent(AGENT).spec == AGENT
    assert tw.evaluate(AGENT, GAME, games=1).summary()["agent"] == AGENT


def test_an_environment_plays_the_game() -> None:
    env = gymnasium.make("tilewright/2048-v1", game=GAME, observation="onehot", render_mode="rgb_array")
    seen, info = env.reset(seed=1)
    assert env.observation_space.contains(seen)
    ended = False
    while not ended:
        seen, _, ended, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
        assert env.observation_space.contains(seen)
    assert info["largest"] in FIBONACCI
    assert info["score"] > 0
    picture: Any = env.render()
    assert picture.shape[2] == 3


def test_a_network_is_trained_and_plays(tmp_path: Path) -> None:
    run = tmp_path / "run"
    settings = [f"game={GAME}", "network=2x4", "games=300", "minutes=0", "evaluate_games=5"]
    tilewright_with_examples(
        "train", "minute", "--out", str(run), "--threads", "1", *(word for key in settings for word in ("--set", key))
    )
    model = run / "model.safetensors"
    assert GAME in tilewright_with_examples("models", str(model), "--game", GAME).stdout
    for agent in (f"ntuple:model={model}", f"expectimax:depth=2,model={model}"):
        found = json.loads(tilewright_with_examples("evaluate", agent, "--game", GAME, "--games", "3", "--json").stdout)
        assert (found["agent"], found["game"], found["games"]) == (agent, GAME, 3)
        assert found["score"]["mean"] > 0


def test_commands_know_both(tmp_path: Path) -> None:
    games = tmp_path / "games.jsonl"
    found = tilewright_with_examples("evaluate", AGENT, "--game", GAME, "--games", "2", "--record", str(games))
    assert f"{AGENT} on {GAME}: 2 games" in found.stdout
    assert GAME in tilewright_with_examples("review", str(games), "--agent", "greedy").stdout
    said = json.loads(tilewright_with_examples("move", BOARD, "--game", GAME, "--agent", AGENT, "--json").stdout)
    values = tw.make_agent(AGENT).values(tw.make_game(GAME).parse(BOARD))
    assert said["values"] == values
    assert "tiles that follow each other in 1, 2, 3, 5, 8" in tilewright_with_examples("games", GAME).stdout
    assert "top left corner" in tilewright_with_examples("agents", AGENT).stdout


def test_a_game_is_played_and_recorded(tmp_path: Path) -> None:
    file = tmp_path / "played.jsonl"
    arguments = ("play", "--game", GAME, "--agent", AGENT, "--seed", "3", "--record", str(file))
    process = start_tilewright(*arguments, changes={"PYTHONPATH": WITH_EXAMPLES}, stdin=subprocess.PIPE)
    out, err = process.communicate("left up right down\n", timeout=HANG_SECONDS)
    assert process.returncode == 0, err
    assert f"{GAME}, seed 3, game 0: " in out
    assert json.loads(file.read_text())["game"] == GAME


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "own_agnt:Corner"], "agent own_agnt:Corner: there is no module 'own_agnt'"),
        (["evaluate", "own_agent:Cornr"], "the module own_agent has no class 'Cornr' (did you mean 'Corner'?)"),
        (["evaluate", "own_game:Fibonacci"], "own_game:Fibonacci is not a subclass of tilewright.Agent"),
        (["evaluate", f"{AGENT},depth=3"], f"agent {AGENT} has no option 'depth'; it has none"),
        (["evaluate", "greedy", "--game", f"{GAME},rows=5"], "option rows=5: must be a whole number from 2 to 4"),
        (
            ["move", "4 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "--game", GAME],
            "cell 1 (row 1, column 1): 4 is not a tile of",
        ),
        (["evaluate", "ntuple", "--game", GAME], f"no model for {GAME} comes with the package"),
    ],
)
def test_mistakes_are_told_in_one_sentence(arguments: list[str], message: str) -> None:
    found = run_tilewright(*arguments, PYTHONPATH=WITH_EXAMPLES)
    assert found.returncode == 2
    assert message in found.stderr
    assert len(found.stderr.strip().splitlines()) == 1


def test_the_web_page_plays_what_is_registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for registry in (tw.GAMES, tw.AGENTS):
        monkeypatch.setattr(registry, "_own", dict(registry._own))
    tw.GAMES.register("fibonacci", GAME)
    tw.AGENTS.register("corner", AGENT)
    with TestClient(make_app(tmp_path, limits=PATIENT)) as client:

        def get(path: str, **parameters: Any) -> Any:
            answer = client.get(f"/api/v1{path}", params=parameters)
            assert answer.status_code == 200, answer.text
            return answer.json()

        entry = next(entry for entry in get("/games") if entry["name"] == "fibonacci")
        assert entry["tiles"] == [0, *FIBONACCI]
        assert entry["summary"].startswith("Two 1s merge, and so do tiles that follow each other")
        assert "corner" in [agent["name"] for agent in get("/agents", game="fibonacci")]
        position = get("/start", game="fibonacci:rows=3", seed=3)
        assert position["board"] == [list(row) for row in tw.make_game(f"{GAME},rows=3").start(3).tiles]
        advice = get("/move", game="fibonacci", board=BOARD, agent="corner")
        assert advice["values"] == tw.make_agent(AGENT).values(tw.make_game(GAME).parse(BOARD))
        body = {"game": "fibonacci", "board": BOARD, "agent": "heuristic:depth=1"}
        assert client.post("/api/v1/step", json=body).json()["move"] in advice["legal"]


def test_visitors_of_the_web_page_import_nothing(tmp_path: Path) -> None:
    with TestClient(make_app(tmp_path, limits=PATIENT)) as client:
        for parameters in ({"game": GAME}, {"agent": AGENT}):
            answer = client.get("/api/v1/move", params={"board": "1120000000000001", **parameters})
            assert answer.status_code == 400
            assert "this server offers registered" in answer.json()["reason"]
        line = json.dumps({"format": FORMAT, "game": GAME})
        answer = client.post("/api/v1/reviews", json={"recording": line})
        assert answer.status_code == 400
        assert "is not loaded here" in answer.json()["reason"]
    assert not {"own_agent", "own_game"} & set(sys.modules)


def test_a_server_offers_what_the_command_names(tmp_path: Path) -> None:
    arguments = ("serve", "--no-open", "--port", "0", "--runs", str(tmp_path), "--game", GAME, "--agent", AGENT)
    process = start_tilewright(*arguments, changes={"PYTHONPATH": WITH_EXAMPLES})
    assert process.stdout is not None
    url = process.stdout.readline().split()[3]

    def get(path: str, **parameters: str) -> Any:
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"{url}api/v1/{path}?{query}", timeout=HANG_SECONDS) as answer:  # noqa: S310
            return json.load(answer)

    assert [entry["name"] for entry in get("games")] == ["2048", "threes", "Fibonacci"]
    advice = get("move", game="Fibonacci", board=BOARD, agent="Corner")
    assert (advice["game"], advice["agent"]) == ("Fibonacci", "Corner")
    assert advice["values"] == tw.make_agent(AGENT).values(tw.make_game(GAME).parse(BOARD))


def test_a_server_refuses_what_is_no_game() -> None:
    found = run_tilewright("serve", "--game", "own_agent:Corner", "--no-open", PYTHONPATH=WITH_EXAMPLES)
    assert found.returncode == 2
    assert "own_agent:Corner is not a subclass of tilewright.Game" in found.stderr


def test_a_class_that_is_defined_again_is_another_game() -> None:
    first = tw.make_game(GAME)
    second = importlib.reload(sys.modules["own_game"]).Fibonacci()
    assert first != second
    assert first.slide(BOARD, "left")[0].tiles == second.slide(BOARD, "left")[0].tiles
