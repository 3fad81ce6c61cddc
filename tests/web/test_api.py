"""The HTTP API gives the answers of the Python API, and refuses wrong requests in one line of JSON."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.deep import small as deep
from tests.web.conftest import API, BOARD, wait_for
from tests.web.live import PATIENT
from tilewright import AGENTS, GAMES, Board, Episode, evaluate, make_agent, make_game
from tilewright.cli.main import main
from tilewright.play.recording import play_recorded, state_text
from tilewright.play.review import review
from tilewright.rng import stream_for
from tilewright.training.run_folder import RunFolder
from tilewright.web.app import make_app


def get(client: TestClient, path: str, **parameters: Any) -> Any:
    answer = client.get(API + path, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


AGENT_SPECS = ["greedy", "random", "heuristic:depth=2", "minimax:depth=2", "montecarlo:rollouts=20", "uct:rollouts=50"]


@pytest.mark.parametrize("agent", AGENT_SPECS)
def test_move_is_one_analysis_of_a_player(client: TestClient, agent: str) -> None:
    board = make_game("2048").parse(BOARD)
    expected = make_agent(agent).player(board.game).analyse(board)
    for _ in range(2):  # with a new player, and with one that was kept
        found = get(client, "/move", board=BOARD, agent=agent)
        assert (found["values"], found["move"]) == (expected.values, expected.move)
        assert (found["depth"], found["nodes"] is None) == (expected.depth, expected.nodes is None)
        assert found["seconds"] >= 0
        assert found["legal"] == board.game.legal(board)
        assert (found["agent"], found["game"], found["text"]) == (agent, "2048", board.game.text(board))


@pytest.mark.parametrize("agent", ["greedy", "heuristic:depth=1"])
def test_python_command_line_and_http_break_ties_alike(
    client: TestClient, capsys: pytest.CaptureFixture[str], agent: str
) -> None:
    board = "2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"  # all moves are equal
    assert main(["move", board, "--agent", agent, "--json"]) == 0
    printed, answered = json.loads(capsys.readouterr().out), get(client, "/move", board=board, agent=agent)
    analysis = make_agent(agent).player(make_game("2048")).analyse(board)
    assert (
        printed["move"] == answered["move"] == analysis.move == make_agent(agent).move(make_game("2048").parse(board))
    )
    keys = {"agent", "game", "text", "board", "legal", "values", "unit", "move", "depth", "nodes", "seconds"}
    assert keys == answered.keys() == printed.keys()


def test_values_and_move_come_from_one_search(client: TestClient) -> None:
    """With a time limit, two searches would end at different depths."""
    found = get(client, "/move", board=BOARD, agent="heuristic:ms=5")
    assert found["values"][found["move"]] == max(found["values"].values())
    assert found["depth"] >= 1


def test_move_asks_the_network_of_a_run_by_its_name(client: TestClient, runs: Path) -> None:
    board = make_game("2048").parse(BOARD)
    for _ in range(2):  # the second answer comes from a quick thread
        found = get(client, "/move", board=BOARD, agent="ntuple:model=large")
        assert found["values"] == make_agent(f"ntuple:model={runs / 'large' / 'model.safetensors'}").values(board)
        assert found["agent"] == "ntuple:model=large"


def test_move_without_an_agent_asks_the_first_of_the_list(client: TestClient) -> None:
    strongest = get(client, "/agents")[0]["spec"]
    assert strongest in ("expectimax", "heuristic")  # by whether a model comes with the package
    assert get(client, "/move", board=BOARD)["agent"] == strongest


def test_move_on_a_board_without_moves(client: TestClient) -> None:
    found = get(client, "/move", board="1212212112122121", agent="greedy")
    assert (found["move"], found["values"], found["legal"]) == (None, {}, [])


def test_every_form_of_a_board_is_read(client: TestClient) -> None:
    codes, nested = "1120003000400005", "[[2,2,4,0],[0,0,8,0],[0,0,16,0],[0,0,0,32]]"
    numbers = "2 2 4 0 / 0 0 8 0 / 0 0 16 0 / 0 0 0 32"
    assert get(client, "/board", board=codes) == get(client, "/board", board=nested)
    assert get(client, "/board", board=codes)["text"] == numbers


@pytest.mark.parametrize("spec", ["2048", "threes", "2048:rows=3,four=0.5"])
def test_a_game_by_steps_is_the_episode_of_its_seed(client: TestClient, spec: str) -> None:
    episode = Episode(make_game(spec), seed=7, number=2)
    position = get(client, "/start", game=spec, seed=7, number=2)
    for turn in range(60):
        assert (position["text"], position["score"]) == (episode.game.text(episode.board), episode.score)
        assert (position["legal"], position["over"]) == (episode.legal, episode.is_over)
        assert position["notes"] == episode.board.notes
        if episode.is_over:
            break
        move = episode.legal[turn % len(episode.legal)]
        step = {"game": spec, "board": position["code"], "score": position["score"], "stream": position["stream"]}
        position = client.post(f"{API}/step", json=step | {"move": move}).json()
        after, _ = episode.game.slide(episode.board, move)
        assert position["after"] == [list(row) for row in after.tiles]
        before = episode.score
        episode.move(move)
        assert position["reward"] == episode.score - before
    assert turn > 10


@pytest.mark.parametrize("agent", ["greedy", "random", "heuristic:depth=2"])
def test_steps_of_an_agent_are_the_game_that_evaluate_plays(client: TestClient, agent: str) -> None:
    game, player = make_game("2048"), make_agent(agent)
    recorded = play_recorded(player.player(game), 3, 0)
    position = get(client, "/start", seed=3)
    for i in range(20):
        step = {"board": position["code"], "score": position["score"], "stream": position["stream"], "agent": agent}
        position = client.post(f"{API}/step", json=step).json()
        assert (position["move"], position["score"]) == (recorded.actions[i], recorded.scores[i + 1])
        assert position["text"] == game.text(recorded.board(i + 1))


def test_games_and_agents_are_those_of_the_registries(client: TestClient) -> None:
    games = get(client, "/games")
    assert [game["name"] for game in games] == list(GAMES)
    assert games[1]["tiles"][:5] == [0, 1, 2, 3, 6]
    assert {option["name"] for option in games[0]["options"]} >= {"rows", "columns", "four", "start_tiles"}
    agents = get(client, "/agents")
    need_a_file = {"dqn", "afterstate", "exact", "policy"}
    assert {agent["name"] for agent in agents} == set(AGENTS) - need_a_file
    assert [agent["run"] for agent in agents if agent["run"]] == ["large", "large"]
    small = get(client, "/agents", game="2048:rows=3,columns=3")
    assert [agent["spec"] for agent in small if agent["run"]] == ["expectimax:model=small", "ntuple:model=small"]


def test_an_evaluation_has_the_results_of_evaluate(client: TestClient) -> None:
    asked = {"agent": "greedy", "game": "threes", "games": 30, "seed": 4}
    begun = client.post(f"{API}/evaluations", json=asked)
    assert begun.status_code == 202
    job = wait_for(client, begun.json()["id"])
    assert (job["state"], job["done"], job["total"]) == ("done", 30, 30)
    expected = evaluate(make_agent("greedy"), make_game("threes"), games=30, seed=4).summary()
    for key in ("agent", "game", "games", "seed", "score", "reach", "moves", "win"):
        assert job["result"][key] == expected[key]
    assert sum(job["result"]["tiles"].values()) == 30


def test_a_job_can_be_stopped_within_a_game(client: TestClient) -> None:
    asked = {"agent": "heuristic:ms=200", "games": 10_000}
    job = client.post(f"{API}/evaluations", json=asked).json()
    assert client.delete(f"{API}/jobs/{job['id']}").status_code == 200
    assert wait_for(client, job["id"])["state"] == "stopped"
    assert job["id"] in [known["id"] for known in get(client, "/jobs")]


def test_a_review_is_that_of_the_library(client: TestClient) -> None:
    game = make_game("2048")
    recording = play_recorded(make_agent("random").player(game), 9, 0)
    begun = client.post(f"{API}/reviews", json={"recording": recording.to_line(), "agent": "greedy", "worst": 3})
    job = wait_for(client, begun.json()["id"])
    expected = review(recording, make_agent("greedy"))
    more = {"best": [move.best for move in expected.moves]}
    assert job["result"] == json.loads(json.dumps({**expected.summary(3), **more}))


def test_runs_are_listed_and_have_their_curves(client: TestClient, runs: Path) -> None:
    assert [run["name"] for run in get(client, "/runs")] == ["large", "small"]
    run = get(client, "/runs/small")
    points = RunFolder(runs / "small").curve_points()
    assert [point["score_mean"] for point in run["curve"]] == [point.score_mean for point in points]
    assert (run["games"], run["has_model"], run["running"]) == (points[-1].games, True, False)
    assert "rows=3" in run["config"]


def test_the_run_of_a_deep_network_is_shown_and_plays(tmp_path: Path) -> None:
    session = deep.train(deep.small(game="2048:rows=3,columns=3", learning_starts=2000), tmp_path / "deep")
    with TestClient(make_app(tmp_path, limits=PATIENT)) as client:
        [run] = get(client, "/runs")
        assert (run["name"], run["agent"], run["has_model"]) == ("deep", "dqn", True)
        assert run["games"] == session.progress.games
        curve = get(client, "/runs/deep")["curve"]
        assert [point["largest"] for point in curve] == [vars(point)["largest"] for point in session.points]
        agents = get(client, "/agents", game="2048:rows=3,columns=3")
        assert [agent["spec"] for agent in agents if agent["run"]] == ["dqn:model=deep"]
        assert not {"dqn", "afterstate"} & {agent["spec"] for agent in agents}
        board = "2 2 0 / 0 0 0 / 0 4 0"
        asked = {"board": board, "game": "2048:rows=3,columns=3", "agent": "dqn:model=deep"}
        values = make_agent("dqn", model=str(session.folder.model_file)).values(
            make_game("2048:rows=3,columns=3").parse(board)
        )
        assert get(client, "/move", **asked)["values"] == pytest.approx(values)


@pytest.mark.parametrize(
    ("path", "parameters", "status", "reason"),
    [
        ("/move", {}, 422, "board: Field required"),
        ("/move", {"board": "2 2"}, 400, "the board has 2 numbers; a 4x4 board has 16, row by row"),
        ("/move", {"board": "3" + " 0" * 15}, 400, "cell 1 (row 1, column 1): 3 is not a tile of 2048"),
        ("/move", {"board": BOARD, "agent": "gredy"}, 400, "there is no agent 'gredy' (did you mean 'greedy'?)"),
        ("/move", {"board": BOARD, "game": "threse"}, 400, "there is no game 'threse' (did you mean 'threes'?)"),
        ("/move", {"board": BOARD, "agent": "heuristic:depth=5"}, 400, "option depth=5: at most 4 here"),
        ("/move", {"board": BOARD, "agent": "heuristic:ms=1e-7"}, 400, "option ms=1e-7: must be a number from 0.001"),
        ("/move", {"board": BOARD, "agent": "heuristic:ms=9000"}, 400, "option ms=9000.0: at most 2,000 here"),
        ("/move", {"board": BOARD, "agent": "uct:rollouts=6000"}, 400, "option rollouts=6000: at most 5,000 here"),
        ("/move", {"board": BOARD, "agent": "heuristic:table=9"}, 400, "the option table cannot be chosen here"),
        ("/move", {"board": BOARD, "agent": "heuristic:dpeth=2"}, 400, "no option 'dpeth' (did you mean 'depth'?)"),
        ("/move", {"board": BOARD, "agent": "a" * 300}, 400, "a text of 300 characters is not an agent"),
        ("/board", {"board": BOARD, "game": "x" * 300}, 400, "a text of 300 characters is not a game"),
        ("/start", {"seed": "-1"}, 422, "seed: Input should be greater than or equal to 0, not '-1'"),
        ("/start", {"number": "-1"}, 422, "number: Input should be greater than or equal to 0, not '-1'"),
        ("/jobs/nobody", {}, 404, "there is no such job, or its result is no longer kept"),
        ("/runs/lrage", {}, 404, "there is no run 'lrage' (did you mean 'large'?)"),
        ("/nothing", {}, 404, "Not Found"),
    ],
)
def test_a_wrong_query_is_a_line_of_json(
    client: TestClient, path: str, parameters: dict[str, str], status: int, reason: str
) -> None:
    answer = client.get(API + path, params=parameters)
    assert answer.status_code == status
    assert reason in answer.json()["reason"]


@pytest.mark.parametrize(
    ("path", "body", "status", "reason"),
    [
        ("/step", {"board": BOARD}, 400, "give either move or agent"),
        ("/step", {"board": BOARD, "move": "left", "agent": "greedy"}, 400, "give either move or agent"),
        ("/step", {"board": BOARD, "move": "sideways"}, 422, "move: Input should be 'up', 'right', 'down' or 'left'"),
        ("/step", {"board": "1" + "0" * 15, "move": "left"}, 400, "left moves nothing on"),
        ("/step", {"board": "1212212112122121", "agent": "greedy"}, 400, "the game is over"),
        ("/step", {"board": BOARD, "move": "left", "stream": "z"}, 400, "must be 32 hexadecimal digits"),
        (
            "/step",
            {"board": BOARD, "move": "left", "score": -1},
            422,
            "score: Input should be greater than or equal to 0",
        ),
        ("/step", {"board": BOARD, "move": "left", "scroe": 1}, 422, "scroe: Extra inputs are not permitted"),
        ("/evaluations", {"games": 10_001}, 400, "at most 10,000 here"),
        ("/evaluations", {"games": 0}, 422, "games: Input should be greater than or equal to 1, not 0"),
        ("/reviews", {"recording": "hello"}, 400, "not a recorded game of tilewright"),
        ("/reviews", {}, 422, "recording: Field required"),
    ],
)
def test_a_wrong_request_is_a_line_of_json(
    client: TestClient, path: str, body: dict[str, Any], status: int, reason: str
) -> None:
    answer = client.post(API + path, json=body)
    assert answer.status_code == status
    assert reason in answer.json()["reason"]


def test_head_is_answered_like_get_without_a_body(client: TestClient) -> None:
    for path in ("/", f"{API}/games", f"{API}/jobs/nobody", f"{API}/move"):
        got, head = client.get(path), client.head(path)
        assert (head.status_code, head.content) == (got.status_code, b"")
        assert head.headers["content-length"] == str(len(got.content))
        assert head.headers["content-type"] == got.headers["content-type"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", f"{API}/games", "GET, HEAD"),
        ("GET", f"{API}/step", "POST"),
        ("PUT", f"{API}/jobs/x", "DELETE, GET, HEAD"),
        ("OPTIONS", f"{API}/move", "GET, HEAD"),
        ("POST", "/", "GET, HEAD"),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(client: TestClient, method: str, path: str, allowed: str) -> None:
    answer = client.request(method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
    assert answer.json() == {"reason": "Method Not Allowed"}


@pytest.mark.parametrize("spec", ["2048:rows=3,win_tile=64", "threes"])
def test_one_game_is_described_as_it_is_played(client: TestClient, spec: str) -> None:
    game, found = make_game(spec), get(client, "/game", game=spec)
    assert (found["spec"], found["rows"], found["columns"]) == (game.spec, game.rows, game.columns)
    assert found["win_tile"] == (None if game.win_code is None else game.value(game.win_code))
    assert game.text(game.parse(found["example"])) == found["example"]
    assert bool(found["hints"]) is game.has_hints
    assert found["variant"] == ("rows=3, win_tile=64" if "rows" in spec else "")


def test_several_steps_are_the_same_as_one_after_the_other(client: TestClient) -> None:
    start = get(client, "/start", game="threes", seed=3)
    episode = Episode(make_game("threes"), seed=3)
    moves = []
    for turn in range(20):
        moves.append(episode.legal[turn % len(episode.legal)])
        episode.move(moves[-1])
    request = {"game": "threes", "board": start["code"], "score": start["score"], "stream": start["stream"]}
    answer = client.post(f"{API}/steps", json=request | {"moves": moves})
    assert [entry[0] for entry in answer.json()["moves"]] == moves
    last = answer.json()["moves"][-1]
    assert (last[1], last[2]) == (state_text(episode.game, episode.board.state), episode.score)
    refused = client.post(f"{API}/steps", json=request | {"moves": ["left"] * 201})
    assert refused.status_code == 422


def test_an_outlook_counts_the_games_that_are_played_out(client: TestClient) -> None:
    game, text = make_game("2048:rows=2,columns=2"), "4 8 / 0 2"
    request = {"game": game.spec, "board": text, "agent": "greedy", "games": 30, "seed": 2}
    job = client.post(f"{API}/outlooks", json=request)
    assert job.status_code == 202
    found = wait_for(client, job.json()["id"])
    player, ends, points = make_agent("greedy").player(game), [], []
    for number in range(30):
        stream, board, score = stream_for(2, number), game.parse(text), 0
        while moves := player.play(board, score, stream, 100):
            board, score = Board(game, moves[-1].state), moves[-1].score
        ends.append(game.largest(board))
        points.append(score)
    result = found["result"]
    assert (found["state"], found["kind"], result["games"]) == ("done", "outlook", 30)
    assert result["points"]["mean"] == pytest.approx(sum(points) / 30)
    assert result["tiles"]["16"]["rate"] == pytest.approx(sum(end >= 16 for end in ends) / 30)
    assert list(result["tiles"]) == ["16", "32", "64", "128"]
    assert client.post(f"{API}/outlooks", json=request | {"games": 10**9}).status_code == 400
