"""The progress of a session for people: what is shown, and when."""

import re
from pathlib import Path

import pytest

from tests.training.sessions import tiny, train
from tilewright._core.progress import Display, Task
from tilewright.errors import FileError
from tilewright.training.progress_bar import ProgressBarCallback, show_progress, sparkline
from tilewright.training.run_folder import EvaluationPoint, StagePoint
from tilewright.training.session import open_session


class Memory(Display):
    """Remembers what it was asked to show."""

    def __init__(self) -> None:
        super().__init__()
        self.tasks: list[Task] = []
        self.lines: list[str] = []

    def _show(self, task: Task, at_once: bool) -> None:
        self.tasks.append(task)

    def _remove(self, name: str) -> None:
        raise AssertionError("a session has one task")

    def _say(self, line: str) -> None:
        self.lines.append(line)


def test_games_are_shown_with_status_and_curve(tmp_path: Path) -> None:
    memory = Memory()
    session = train(tiny(), tmp_path, callbacks=ProgressBarCallback(memory, "a run"))
    last = memory.tasks[-1]
    assert (last.name, last.label, last.done) == ("a run", "a run", 1.0)
    point = session.points[-1]
    won = f"mean {point.score_mean:,.0f}  won {100 * point.win_rate:.1f} %"
    assert re.fullmatch(rf"300 games  [\d.]+ M moves/s  {won}", last.status)
    assert last.line == f"100.0 %  {last.status}"
    assert last.curve == sparkline([point.score_mean for point in session.points])
    assert [task.done for task in memory.tasks] == sorted(task.done for task in memory.tasks)
    assert memory.lines == []


def test_collecting_boards_and_new_stages_are_shown(tmp_path: Path) -> None:
    memory = Memory()
    config = tiny(stages=("16",), start_pool=20, lambda_=0.0)
    [stage] = train(config, tmp_path, callbacks=ProgressBarCallback(memory, "a run")).folder.stage_points()
    collecting = [task.status for task in memory.tasks if task.status.startswith("collecting")]
    assert collecting[0].startswith("collecting start boards for stage 2: 0 boards in ")
    assert memory.lines == [
        f"stage 2 starts after 150 games, from 20 boards of {stage.collect_games} games; "
        f"the previous stage scored {stage.baseline_score:,.0f} from there"
    ]


def test_what_happens_is_said(tmp_path: Path) -> None:
    memory, session = Memory(), open_session(tiny(), tmp_path)
    callback = ProgressBarCallback(memory, "a run")
    callback.on_evaluation(session, EvaluationPoint(5000, 9.0, 200, 12345.6, 12000.0, 13000.0, 0.5))
    callback.on_stage_start(session, StagePoint(3, 1000, 9.0, 20, 50, 4321.0))
    for name in ("checkpoint", "metrics", "metrics", "checkpoint"):
        callback.on_save_failed(session, FileError(f"{name}: cannot be written: No space left on device"))
    callback.on_save_recovered(session)
    callback.on_save_failed(session, FileError("metrics: cannot be written: No space left on device"))
    callback.on_stop_requested(session)
    assert memory.lines == [
        "evaluation after 5,000 games: mean 12,346 ± 500 in 200 games",
        "stage 3 starts after 1,000 games, from 20 boards of 50 games; the previous stage scored 4,321 from there",
        "not saved, will be tried again: checkpoint: cannot be written: No space left on device",
        "not saved, will be tried again: metrics: cannot be written: No space left on device",
        "saved again: nothing is missing",
        "not saved, will be tried again: metrics: cannot be written: No space left on device",
        "stopping after the current games, to save everything",
    ]


def test_without_a_terminal_lines_go_to_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress("a run") as callback:
        callback.on_stop_requested(open_session(tiny(), tmp_path))
    assert capsys.readouterr() == ("", "stopping after the current games, to save everything\n")


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ([], ""),
        ([0.0], "▁"),
        ([1.0, 2.0, 4.0, 8.0], "▂▃▅█"),
        ([-5.0, 8.0], "▁█"),
        ([float(i) for i in range(1000)], "▁▁▁▂▂▂▃▃▃▄▄▄▅▅▅▆▆▆▇▇▇███"),
    ],
)
def test_a_curve_in_one_line(values: list[float], line: str) -> None:
    assert sparkline(values) == line
