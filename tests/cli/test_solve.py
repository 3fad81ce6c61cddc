"""`tilewright solve`: what it prints, and what it refuses in a line."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command

GAME = "2048:rows=2,columns=2"


def test_json(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "table"
    said = command("solve", GAME, "--goal", "32", "--out", str(out), "--json")
    facts = json.loads(said.out)
    assert facts["value"] == pytest.approx(0.08288728907155415, abs=1e-12)
    assert (facts["states"], facts["canonical_states"], facts["live_states"]) == (422, 75, 57)
    assert facts["bytes"] == out.stat().st_size
    assert facts["seconds"] > 0
    assert (facts["game"], facts["goal"], facts["file"]) == (GAME, 32, str(out))


def test_the_table_of_results(command: Command) -> None:
    said = command("solve", GAME, "--threads", "1")
    assert said.code == 0
    assert "expected score" in said.out
    assert "66.964149" in said.out
    assert "110" in said.out


def test_an_estimate_solves_nothing(command: Command, tmp_path: Path) -> None:
    said = command("solve", "2048:rows=3,columns=4", "--estimate", "--out", str(tmp_path / "table"))
    assert "about 1 trillion" in said.out
    assert json.loads(command("solve", GAME, "--estimate", "--json").out)["canonical_states"] == 110
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["2048:rows=3,columns=5"], "columns=5"),
        ([GAME, "--goal", "64"], "cannot be made"),
        (["threes"], "only 2048"),
        (["2048"], "need"),
        ([GAME, "--threads", "0"], "threads=0"),
        ([GAME, "--out", "/dev/null/table"], "cannot be written"),
    ],
)
def test_bad_input_gets_one_line(command: Command, words: list[str], reason: str) -> None:
    said = command("solve", *words)
    assert said.code == 2
    assert reason in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_move_and_review_say_what_the_values_are(command: Command, tmp_path: Path) -> None:
    out, games = tmp_path / "table", tmp_path / "games.jsonl"
    command("solve", GAME, "--goal", "32", "--out", str(out))
    agent = f"exact:table={out}"
    said = command("move", "2 2 / 4 0", "--game", GAME, "--agent", agent)
    assert "probability" in said.out
    assert "0.08375151" in said.out
    facts = json.loads(command("move", "2 2 / 4 0", "--game", GAME, "--agent", agent, "--json").out)
    assert facts["unit"] == "probability"
    command("evaluate", "random", "--game", GAME, "--games", "1", "--record", str(games))
    assert "probability" in command("review", str(games), "--agent", agent).out
