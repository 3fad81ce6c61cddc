"""`tilewright evaluate`: table, JSON, and Ctrl-C."""

import json
import os
import pty
import re
import signal
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.process import HANG_SECONDS, start_tilewright
from tilewright import evaluate, make_agent, make_game
from tilewright.cli.output import percent, percent_interval, with_margin
from tilewright.play.recording import read_games


def test_json_is_that_of_the_library(command: Command) -> None:
    said = command(
        "evaluate", "greedy", "--game", "threes", "--games", "250", "--seed", "7", "--threads", "2", "--json"
    )
    assert (said.code, said.err) == (0, "")
    timed = {"seconds", "moves_per_second"}
    facts = json.loads(said.out)
    expected = dict(evaluate(make_agent("greedy"), make_game("threes"), games=250, seed=7, threads=2).summary())
    assert facts.keys() == expected.keys()
    assert {key: facts[key] for key in facts.keys() - timed} == {key: expected[key] for key in facts.keys() - timed}
    assert facts["moves_per_second"] > 0


def test_the_table_has_the_results(command: Command) -> None:
    result = evaluate(make_agent("greedy"), make_game("2048"), games=1000, seed=3)
    said = command("evaluate", "greedy", "--seed", "3", "--threads", "1")
    assert said.out.startswith("greedy on 2048: 1,000 games, seed 3, 1 thread\n")
    assert re.search(rf"^score, mean +{re.escape(with_margin(result.score, 1))}$", said.out, re.MULTILINE)
    assert re.search(rf"^score, max +{result.scores.max():,}$", said.out, re.MULTILINE)
    assert result.max100 is not None
    assert re.search(rf"^max100 +{re.escape(with_margin(result.max100))}$", said.out, re.MULTILINE)
    for tile, rate in result.reach.items():
        assert re.search(rf"^ *{tile} +{percent(rate)} +{percent_interval(rate)}$", said.out, re.MULTILINE)


@pytest.mark.parametrize(("games", "shown"), [("99", False), ("100", True)])
def test_max100_is_shown_from_100_games_on(command: Command, games: str, shown: bool) -> None:
    assert ("max100" in command("evaluate", "random", "--games", games).out) is shown


def test_wins_are_shown_only_for_games_with_a_winning_tile(command: Command) -> None:
    assert "wins" not in command("evaluate", "random", "--game", "threes", "--games", "20").out
    assert "wins" in command("evaluate", "random", "--games", "20").out


def test_one_game_is_shown_without_an_interval(command: Command) -> None:
    assert re.search(r"^score, mean +[\d,]+\.0$", command("evaluate", "random", "--games", "1").out, re.MULTILINE)


def read_until(terminal: int, pattern: str, seconds: float = 600) -> str:
    seen, deadline = "", time.monotonic() + seconds
    while not re.search(pattern, seen):
        assert time.monotonic() < deadline, f"not seen in time: {pattern} in {seen[-500:]!r}"
        seen += os.read(terminal, 4096).decode(errors="replace")
    return seen


def test_every_game_is_recorded(command: Command, tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    options = ["--game", "threes", "--games", "60", "--seed", "3", "--json"]
    said = command("evaluate", "random", *options, "--threads", "2", "--record", str(record))
    assert (said.code, said.err) == (0, "")
    scores = [game.score for game in read_games(record)]
    assert scores == evaluate(make_agent("random"), make_game("threes"), games=60, seed=3).scores.tolist()
    assert json.loads(said.out)["score"]["max"] == max(scores)


@pytest.mark.parametrize("name", ["games.csv", "games.parquet"])
def test_a_table_has_one_row_per_game(command: Command, name: str, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "tables" / name
    said = command("evaluate", "greedy", "--games", "30", "--seed", "5", "--csv", str(path))
    assert (said.code, said.err) == (0, "")
    frame = pandas.read_csv(path) if name.endswith(".csv") else pandas.read_parquet(path)
    assert frame.to_dict("list") == evaluate("greedy", games=30, seed=5).to_dict()


def test_a_plot_is_written_and_the_results_are_printed(command: Command, tmp_path: Path) -> None:
    plot = tmp_path / "tiles.png"
    said = command("evaluate", "greedy", "--games", "30", "--plot", str(plot), "--json")
    assert json.loads(said.out)["games"] == 30
    assert plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("option", ["--csv", "--plot"])
def test_a_file_that_cannot_be_written_is_one_line(command: Command, option: str) -> None:
    said = command("evaluate", "random", "--games", "2", option, "/dev/null/file")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("tilewright: /dev/null/file: cannot be written: ")
    assert said.err.count("\n") == 1


def test_a_record_that_cannot_be_written_is_one_line(command: Command) -> None:
    for path, reason in [("/dev/null/x", "cannot be written: "), (__file__, "is not a file of recorded games")]:
        said = command("evaluate", "random", "--games", "5", "--record", path)
        assert (said.code, said.out) == (2, "")
        assert said.err.startswith(f"tilewright: {path}: {reason}")
        assert said.err.count("\n") == 1


@pytest.mark.parametrize("form", [[], ["--json"], ["--record"]])
def test_ctrl_c_reports_the_games_finished_so_far(form: list[str], tmp_path: Path) -> None:
    """Its progress bar, on a terminal, tells when some games are done."""
    if form == ["--record"]:
        form = ["--record", str(tmp_path / "games.jsonl")]
    terminal, its_end = pty.openpty()
    endless = ("evaluate", "random", "--games", "9000000", "--threads", "1", *form)
    process = start_tilewright(*endless, changes={"TERM": "xterm", "COLUMNS": "100"}, stderr=its_end)
    os.close(its_end)
    read_until(terminal, r"[1-9][\d,]* of 9,000,000")
    process.send_signal(signal.SIGINT)
    said = read_until(terminal, r"stopped after [\d,]+ of 9,000,000 games")
    out, _ = process.communicate(timeout=HANG_SECONDS)
    os.close(terminal)
    found = re.search(r"tilewright: stopped after ([\d,]+) of", said)
    assert found is not None
    games = found[1]
    assert process.returncode == 1
    assert "Traceback" not in said + out
    if "--record" in form:
        assert len(list(read_games(tmp_path / "games.jsonl"))) == int(games.replace(",", ""))
    if "--json" in form:
        assert json.loads(out)["games"] == int(games.replace(",", ""))
    else:
        assert out.startswith(f"random on 2048: {games} games, seed 0, 1 thread\n")
        assert "score, mean" in out


def test_exact_results_and_per_cent_of_perfect(command: Command, tmp_path: Path) -> None:
    game, table = "2048:rows=2,columns=2", tmp_path / "table"
    command("solve", game, "--out", str(table))
    words = ["evaluate", "heuristic:depth=1", "--game", game, "--perfect", str(table)]
    exact = json.loads(command(*words, "--exact", "--json").out)
    assert exact["perfect"]["percent"] == pytest.approx(100 * exact["score"] / exact["perfect"]["value"])
    assert exact["perfect"]["ci95"] is None
    sampled = json.loads(command(*words, "--games", "2000", "--json").out)["perfect"]
    assert sampled["ci95"][0] < exact["perfect"]["percent"] < sampled["ci95"][1]
    for said in (command(*words, "--exact"), command(*words, "--games", "2000")):
        assert "per cent of perfect" in said.out
    assert "--exact plays no games" in command(*words, "--exact", "--csv", str(tmp_path / "games.csv")).err
    assert "cannot play 2048" in command("evaluate", "greedy", "--perfect", str(table)).err
