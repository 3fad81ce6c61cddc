"""The pool notices every way in which an input can fail, blames the right input, and goes on behind it."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.process import environment
from tests.torture.misbehaving import Misbehaving, Series
from torture.pool import describe_input, run_again, run_campaign
from torture.report import Tally, case_from_json, case_to_json
from torture.worker import input_of

SERIES = "tests.torture.misbehaving:Series"
REPOSITORY = Path(__file__).parents[2]
INPUTS = 60
FAILING = {
    "crash": "crash: SIGSEGV",
    "traceback": "ZeroDivisionError",
    "memory": "memory: the input took",
    "two lines": "a message of several lines",
    "wrong": "wrong: a value",
    "exit": "SystemExit: 3",
}


def worker_environment() -> dict[str, str]:
    found = environment()
    return found | {"PYTHONPATH": os.pathsep.join([found["PYTHONPATH"], str(REPOSITORY)])}


def run_inputs(name: str, inputs: int, folder: Path, **options: Any) -> Tally:
    """Run inputs of a campaign of `misbehaving`, without a limit of time."""
    return run_campaign(
        f"tests.torture.misbehaving:{name}",
        seed=1,
        seconds=600,
        inputs=inputs,
        folder=folder / "work",
        failures=folder / "failures",
        environment=worker_environment(),
        **options,
    )


@pytest.fixture(scope="module")
def tally(tmp_path_factory: pytest.TempPathFactory) -> Tally:
    return run_inputs("Series", INPUTS, tmp_path_factory.mktemp("series"), jobs=2)


def deeds(tmp_path: Path) -> list[str]:
    campaign = Series(tmp_path)
    return [str(input_of(campaign, SERIES, 1, number)["deed"]) for number in range(INPUTS)]


def test_every_input_is_counted_once(tally: Tally, tmp_path: Path) -> None:
    wanted = Counter(deeds(tmp_path))
    assert set(wanted) == set(Misbehaving.deeds)
    assert (tally.accepted, tally.refused) == (wanted["accept"], wanted["refuse"])
    assert len(tally.failures) == sum(wanted[deed] for deed in FAILING)
    assert tally.inputs == INPUTS
    assert tally.count == INPUTS + 4 * wanted["accept"] + 4 * wanted["memory"]


def test_making_an_input_again_leaves_nothing_running(tmp_path: Path) -> None:
    kind = "tests.torture.misbehaving:WithServer"
    made = describe_input(kind, 1, 7, tmp_path / "again")
    assert case_from_json(made) == input_of(Series(tmp_path), kind, 1, 7)
    assert not (tmp_path / "again" / "running").exists()


def test_failures_are_blamed_on_the_input_that_failed(tally: Tally, tmp_path: Path) -> None:
    made = deeds(tmp_path)
    assert len({failure.number for failure in tally.failures}) == len(tally.failures)
    for failure in tally.failures:
        assert failure.problem.startswith(FAILING[made[failure.number]])
        assert failure.input["deed"] == made[failure.number]


def test_a_failing_input_is_a_file_that_can_be_run_again(tally: Tally, tmp_path: Path) -> None:
    files = sorted(tally.folder.glob("*.json"))
    assert 6 <= len(files) <= 3 * 6  # at most three of one place
    for text in ("wrong", "sigsegv"):
        file = next(file for file in files if text in file.name)
        content = json.loads(file.read_text())
        assert content["again"].endswith(f"-m torture --again {file}")
        again = run_again(file, tmp_path / text, worker_environment())
        assert [failure.problem.splitlines()[0] for failure in again.failures] == [content["problem"].splitlines()[0]]


def test_an_input_that_hangs_is_ended(tmp_path: Path) -> None:
    tally = run_inputs("Hanging", 1, tmp_path, hang_seconds=0.2)
    assert [failure.place for failure in tally.failures] == ["hang"]
    assert tally.failures[0].input == {"deed": "hang"}


def test_what_is_wrong_with_all_inputs_together_is_told(tmp_path: Path) -> None:
    tally = run_inputs("AtTheEnd", 3, tmp_path)
    assert (tally.accepted, [failure.problem for failure in tally.failures]) == (3, ["grown: by 100 MB"])
    assert tally.notes == ["100 MB more"]


def test_inputs_with_bytes_survive_as_json() -> None:
    case = {"a": b"\0\xff", "b": [1, {"c": b""}], "d": None}
    assert case_from_json(json.loads(json.dumps(case_to_json(case)))) == case


def test_ctrl_c_ends_with_the_table() -> None:
    command = [sys.executable, "-m", "torture", "--minutes", "60", "--kinds", "boards", "--jobs", "1"]
    process = subprocess.Popen(command, env=worker_environment(), cwd=REPOSITORY, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)  # fmt: skip
    assert process.stderr is not None
    assert process.stderr.readline() == "boards …\n"
    os.killpg(process.pid, signal.SIGINT)
    out, errors = process.communicate()
    assert "stopped" in errors
    assert "Traceback" not in errors
    assert out.splitlines()[0].split() == [
        "kind",
        "inputs",
        "counted",
        "accepted",
        "refused",
        "failed",
        "seconds",
        "a",
        "second",
    ]
    assert process.returncode == 0


def test_a_command_that_does_not_end_is_told_as_that() -> None:
    """In a process of its own, because forking this one, which has threads, is not safe."""
    code = (
        "import threading; from torture.campaign import WrongError; from torture.forking import Child\n"
        "try:\n"
        "    with Child(lambda: threading.Event().wait()) as child:\n"
        "        child.wait(0.2)\n"
        "except WrongError as error:\n"
        "    print(error, child.code)"
    )
    said = subprocess.run(
        [sys.executable, "-c", code],
        env=worker_environment(),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == "hang: the command does not end within 0.2 s:  -9\n"
