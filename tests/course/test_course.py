"""The autograder accepts the tutorial's program and names the usual mistakes; the leaderboard ranks a class."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from _examples import read_cells

ROOT = Path(__file__).parent.parent.parent
COURSE = ROOT / "examples" / "course"
WHOLE_STEP = "the step is not divided by the number of look-ups"
NO_END = "the last afterstate is never updated"
NEW_TILE = "update gets a board with the new tile on it"
# What a student writes instead of a part of the program -> the check that fails, and what it says.
MISTAKES = [
    (" / len(TUPLES)", "", "2 update: the size of the step", WHOLE_STEP),
    ("update(last, 0 - value(last), alpha)", "pass", "5 play: the end of a game", NO_END),
    ("update(last, 0 - value(last), alpha)", "update(last, 1.0, alpha)", "5 play: the end of a game", NO_END),
    (
        "board, score, last = spawn(after), score + reward, after",
        "board = last = spawn(after)\n        score += reward",
        "4 play: what is learned",
        NEW_TILE,
    ),
    ("if choice[0] != board]", "]", "3 best_move: reward and value", "None where no move is legal"),
    ("choice[1] + value(choice[0])", "choice[1]", "3 best_move: reward and value", "the value of the afterstate"),
    (
        "reward + value(after) - value(last)",
        "value(after) - value(last)",
        "6 play: the target of an update",
        "reward +",
    ),
    ("if alpha and last", "if last", "6 play: the target of an update", "play(0) must not change the tables"),
    ("0.0) for table", "1.0) for table", "1 value: the sum of the tables", "an empty table must count 0"),
]


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"course_{name}", COURSE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def solution() -> str:
    """The program of the first tutorial, without what it prints."""
    page = (ROOT / "docs" / "tutorials" / "td-learning.md").read_text(encoding="utf-8")
    code = [cell.text for cell in read_cells(page.partition("## The same with the library")[0]) if cell.is_code]
    return "\n".join(code).partition("random.seed(1)")[0]


def test_the_solution_passes_every_check(solution: str, tmp_path: Path) -> None:
    grade = load("grade")
    (tmp_path / "mine.py").write_text(solution)
    assert grade.grade(tmp_path / "mine.py") == dict.fromkeys(grade.CHECKS, "")


@pytest.mark.parametrize(("right", "wrong", "check", "reason"), MISTAKES)
def test_a_usual_mistake_is_named(
    right: str, wrong: str, check: str, reason: str, solution: str, tmp_path: Path
) -> None:
    assert solution.count(right) == 1
    (tmp_path / "mine.py").write_text(solution.replace(right, wrong))
    grade = load("grade")
    del grade.CHECKS["7 the player learns"]  # the only one that takes long
    assert reason in grade.grade(tmp_path / "mine.py")[check]


def test_the_skeleton_says_what_is_to_be_written_and_is_the_game_of_the_tutorial(solution: str) -> None:
    results = load("grade").grade(COURSE / "td_player.py")
    assert [reason.partition(":")[0] for reason in results.values()] == ["NotImplementedError"] * 7
    given, taught = load("td_player"), {"__name__": "taught"}
    exec(solution, taught)  # noqa: S102
    assert (taught["MOVES"], taught["TUPLES"]) == (given.MOVES, given.TUPLES)
    for move in given.MOVES:
        assert given.slide((2, 2, 4, 8, 8, 8), move) == taught["slide"]((2, 2, 4, 8, 8, 8), move)  # type: ignore[operator]


def test_a_file_that_does_not_run_fails_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import nothing_of_this_name\n")
    results = load("grade").grade(tmp_path / "mine.py")
    assert all("ModuleNotFoundError" in reason for reason in results.values())


def test_a_file_that_does_not_exist_is_one_line_and_not_a_grade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["grade.py", str(tmp_path / "nothing.py")])
    with pytest.raises(SystemExit) as end:
        load("grade").main()
    printed = capsys.readouterr()
    assert (end.value.code, printed.out) == (2, "")
    assert printed.err.endswith("nothing.py\n")


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        ("sys.exit(0)", "SystemExit: 0"),
        ("os._exit(0)", "the submission ended the process"),
        ("time.sleep(1000)", "not done after 0.5 seconds"),
    ],
)
def test_a_submission_that_ends_the_process_or_does_not_end_fails(ending: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(f"import os, sys, time\n\nprint('so far')\n{ending}\n")
    seconds = 0.5 if "sleep" in ending else 600
    results = load("grade").grade(tmp_path / "mine.py", seconds)
    assert len(results) == 7
    assert all(found.endswith(reason) for found in results.values())


def test_a_check_that_exits_fails_alone(solution: str, tmp_path: Path) -> None:
    grade = load("grade")
    del grade.CHECKS["7 the player learns"]
    (tmp_path / "mine.py").write_text(solution + "\n\ndef play(alpha):\n    raise SystemExit\n")
    results = list(grade.grade(tmp_path / "mine.py").values())
    assert results == ["", "", "", *["SystemExit: "] * 3]


def test_the_leaderboard_ranks_a_class(tmp_path: Path) -> None:
    agent = (
        "import tilewright as tw\n\n\nclass Mine(tw.Agent):\n    def values(self, board, stream=None):\n        return "
    )
    rewards = "{move: board.game.slide(board, move)[1] for move in board.game.legal(board)}\n"
    first = "{move: -place for place, move in enumerate(board.game.legal(board))}\n"
    for name, text in {
        "ada": agent + first,
        "bo": agent + rewards,
        "cy": "x = 3\n",
        "di": agent + "1 / 0\n",
        "ed": "raise SystemExit",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    leaderboard = load("leaderboard")
    rows = leaderboard.rows(leaderboard.rank(tmp_path, "2048", games=5, seed=1))
    assert [row["name"] for row in rows] == ["bo", "ada", "cy", "di", "ed"]
    assert rows[1]["behind"].startswith("-")
    assert rows[2]["reason"] == "UsageError: 0 subclasses of tilewright.Agent: must be one"
    assert rows[3]["reason"].startswith("ZeroDivisionError")
