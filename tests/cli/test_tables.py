"""`tilewright tables`: what it prints, and what it refuses in a line."""

import json
from pathlib import Path

import pytest

import tilewright as tw
from tests.cli.conftest import Command


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("tables") / "2x3.table"
    tw.solve("2048:rows=2,columns=3", goal=64, out=file, threads=1)
    return file


def test_a_table_is_described(command: Command, table: Path) -> None:
    said = command("tables", str(table), "--time")
    assert "probability of making a 64" in said.out
    assert "6,930" in said.out
    assert " ns" in said.out
    facts = json.loads(command("tables", str(table), "--time", "--json").out)
    assert facts["canonical_states"] == 6930
    assert facts["lookup_nanoseconds"] > 0


def test_practice_positions_are_printed_with_the_values_of_their_moves(command: Command, table: Path) -> None:
    words = ["tables", str(table), "--practice", "3", "--loss", "0.1", "0.2", "--seed", "1"]
    found = json.loads(command(*words, "--json").out)
    assert len(found) == 3
    for position in found:
        best, second = sorted(position["values"].values())[-1:-3:-1]
        assert 0.1 <= best - second <= 0.2
        assert tw.load_table(table).values(position["board"]) == position["values"]
    lines = command(*words).out.splitlines()
    assert [line.split("   ")[0] for line in lines] == [position["board"] for position in found]
    assert "0 of 1 boards found" in command("tables", str(table), "--practice", "1", "--loss", "2", "3").out


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["TABLE", "--distil", "OUT"], "only endgames"),
        (["TABLE", "--distil", "OUT", "--practice", "1"], "exclude each other"),
        (["TABLE", "--distil", "TABLE"], "is read by this command"),
        (["TABLE", "--practice", "1", "--loss", "1", "0"], "must not be above"),
        (["TABLE", "--practice", "1000000000"], "from 1 to 100,000"),
        (["TABLE", "--time", "--seed", "-1"], "seed=-1"),
        (["NOTHING"], "cannot be read"),
    ],
)
def test_bad_input_gets_one_line(command: Command, table: Path, tmp_path: Path, words: list[str], reason: str) -> None:
    places = {"TABLE": str(table), "OUT": str(tmp_path / "out"), "NOTHING": str(tmp_path / "nothing")}
    said = command("tables", *(places.get(word, word) for word in words))
    assert (said.code, said.out) == (2, "")
    assert reason in said.err
    assert said.err.count("\n") == 1
    assert not (tmp_path / "out").exists()
