"""`tilewright review`: results, worst moves, a picture; anything else is refused in a line."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tilewright import evaluate, make_agent, make_game
from tilewright.play.recording import read_games
from tilewright.play.review import review


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recorded") / "games.jsonl"
    evaluate(make_agent("random"), make_game("2048"), games=4, seed=9, record=path)
    return path


def test_the_table_has_the_results_and_the_worst_moves(command: Command, games: Path) -> None:
    said = command("review", str(games), "--agent", "greedy", "--game-number", "2", "--worst", "3")
    recording = list(read_games(games))[2]
    found = review(recording, make_agent("greedy"))
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"game 2 of 4: 2048 by random, score {recording.score:,}, over, reviewed with greedy\n")
    assert re.search(rf"^moves +{len(found.moves):,}$", said.out, re.MULTILINE)
    assert re.search(rf"^loss, total +{found.total_loss:,.1f}$", said.out, re.MULTILINE)
    assert re.search(rf"^loss, mean +{found.mean_loss:,.2f}$", said.out, re.MULTILINE)
    assert f"({100 * found.agreement:.1f} %)" in said.out
    indices = []
    for move in found.worst(3):
        heading = f"\nmove {move.number:,}: {move.played}, best {move.best}, loss {move.loss:,.1f}\n{move.board}\n"
        indices.append(said.out.index(heading))
    assert indices == sorted(indices)
    assert said.out.count("\nmove ") == 3 + 3  # a heading and a table each
    assert said.out.count("  best\n") == said.out.count("  played\n") == 3


def test_json_is_that_of_the_library(command: Command, games: Path) -> None:
    facts = json.loads(command("review", str(games), "--json", "--agent", "greedy", "--worst", "1").out)
    expected = review(next(read_games(games)), make_agent("greedy")).summary(1)
    assert facts == expected | {"plot": None}


def test_the_picture_is_written_where_it_is_wanted(command: Command, games: Path, tmp_path: Path) -> None:
    plot = tmp_path / "pictures" / "review.png"
    said = command("review", str(games), "--agent", "greedy", "--worst", "0", "--plot", str(plot))
    assert said.out.endswith(f"\nplot {plot}\n")
    assert plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.jsonl"], "none.jsonl: cannot be read: No such file or directory"),
        (["{games}", "--game-number", "4"], "there is no game 4; the file has 4 games, counted from 0"),
        (["{games}", "--game-number", "-1"], "-1 is not in the range x>=0"),
        (["{games}", "--worst", "-1"], "-1 is not in the range x>=0"),
        (["{games}", "--agent", "gredy"], "there is no agent 'gredy' (did you mean 'greedy'?)"),
        (["{games}", "--plot", "/dev/null/x.png"], "/dev/null/x.png: cannot be written"),
        ([__file__], "line 1: not a recorded game of tilewright"),
        ([], "Missing argument 'FILE'"),
    ],
)
def test_a_wrong_request_is_one_line(command: Command, games: Path, arguments: list[str], message: str) -> None:
    said = command("review", *(argument.format(games=games) for argument in arguments))
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("tilewright: ")
    assert message in said.err
    assert said.err.count("\n") == 1
