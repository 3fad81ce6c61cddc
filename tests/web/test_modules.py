"""The pure functions of the page, in Node: state, rules from tables, and what a review's numbers mean."""

import json
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import cast

import playwright

from tests.web.plugins import Halves
from tilewright import make_agent, make_game
from tilewright.games.base import Game
from tilewright.web.games import describe_game
from tilewright.web.positions import entry_of, play_move, read_position, start_position
from tilewright.web.rule_tables import rule_tables

TESTS = Path(__file__).parent / "js"
_DRIVER = Path(playwright.__file__).parent / "driver"
NODE = _DRIVER / ("node.exe" if sys.platform == "win32" else "node")
GAMES = ("2048", "2048:rows=3,columns=3,four=0.5", "2048:rows=2,columns=4", "2048:rows=4,columns=3", "threes")


def played(game: Game, agent: str = "", start: str = "") -> dict[str, object]:
    """A game as the page knows it: its description, its tables, and every position of one game.

    The moves are those of an agent, or all in turn; the game may begin with a board that was set up.
    """
    player = make_agent(agent) if agent else None
    position = read_position(game, start) if start else start_position(game, 3, 0)
    entries: list[list[object]] = [[None, *entry_of("", position)[1:]]]
    for turn in range(400):
        legal = game.legal(position.board)
        if not legal:
            break
        move = player.move(position.board) if player else legal[turn % len(legal)]
        position, _ = play_move(position, move)
        entries.append(entry_of(move, position))
    described = describe_game(game) | {"merges_add_up": not isinstance(game, Halves)}
    return {"game": described, "tables": rule_tables(game), "entries": entries}


def test_the_modules_of_the_page(tmp_path: Path) -> None:
    modules, tests = tmp_path / "modules", tmp_path / "tests"
    static = resources.files("tilewright.web") / "static"
    shutil.copytree(str(static / "js"), modules)
    shutil.copytree(str(static / "lang"), tmp_path / "lang")
    shutil.copytree(TESTS, tests)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    games = [played(make_game(spec)) for spec in GAMES] + [played(Halves())]
    games += [played(make_game(spec), "heuristic:depth=1") for spec in ("threes", "threes:rows=3")]
    boards = [str(entry[1]) for game in games[-2:] for entry in cast("list[list[object]]", game["entries"])]
    assert any("hint=+ " in board for board in boards)  # bonus tiles are among them
    for notes in ("hint=+6", "hint=+6 bag=010", "", "bag=100"):  # announced earlier, the last of the bag, not known
        games.append(played(make_game("threes"), start=f"96 48 3 1 / 2 0 0 0 / 1 0 0 0 / 0 0 0 0 {notes}"))
    (tests / "games.json").write_text(json.dumps(games))
    files = sorted(str(path) for path in tests.glob("*.test.js"))
    done = subprocess.run([str(NODE), "--test", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 0" not in done.stdout
