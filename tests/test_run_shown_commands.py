"""The tool that runs every shell command of README and docs."""

import re
import signal
from pathlib import Path

import pytest

from tests.process import HANG_SECONDS
from tests.run_shown_commands import Ended, problem_of, run, run_pages
from tests.shown_pages import PAGES, read_commands, text_of
from tests.stand_ins import FILLED_IN, NOT_RUN, STAND_INS, files_read, fill_in, reason_not_to_run

PAGE = """# A page

```console
$ echo one two
one …
$ echo one
two
```

```sh
false  # it fails
python -c "print(1 / 0)"
trap "echo stopped >&2; exit 1" INT; touch READY; while true; do sleep 0.1; done
```

First run `pip install nothing`.
"""
TEXTS = list(dict.fromkeys(command.text for page in PAGES for command in read_commands(text_of(page))))


def test_commands_end_or_are_interrupted_or_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, ready = tmp_path / "page.md", tmp_path / "ready"
    page.write_text(PAGE.replace("READY", str(ready)), encoding="utf-8")
    counts = run_pages([page], lambda _: ready.exists())
    assert counts == {"done": 1, "interrupted": 1, "failed": 3, "not run": 1}
    lines = [line.partition(" … ")[2] for line in capsys.readouterr().out.splitlines() if line.startswith("page.md: ")]
    expected = [
        r"\S+ s",  # `echo one two …` itself has the sign
        r"FAILED after \S+ s: prints something else:",
        r"FAILED after \S+ s: ends with 1",
        r"FAILED after \S+ s: ends with 1: ZeroDivisionError: division by zero",
        r"interrupted, \S+ s, exit code 1: stopped",
        r"not run: installs or downloads; .*",
    ]
    assert len(lines) == len(expected)
    for line, pattern in zip(lines[1:], expected[1:], strict=True):
        assert re.fullmatch(pattern, line), line


@pytest.mark.parametrize(
    ("then", "problem"),
    [
        ("exit 0", ""),
        ("echo 'tilewright: stopped after 3 of 10 games' >&2; exit 1", ""),
        ("exit 1", "ends with 1 after Ctrl-C"),
        ("echo stopped >&2; exit 2", "ends with 2 after Ctrl-C: stopped"),
        ("echo 'Traceback (most recent call last):' >&2; exit 0", "ends with 0 after Ctrl-C: Traceback"),
    ],
)
def test_a_command_that_is_interrupted_ends_in_order(then: str, problem: str, tmp_path: Path) -> None:
    text = f'trap "{then}" INT; touch ready; while true; do sleep 0.1; done'
    ended = run(text, tmp_path, lambda _: (tmp_path / "ready").exists(), HANG_SECONDS)
    assert ended.interrupted
    assert problem_of(text, ended).startswith(problem)
    assert bool(problem_of(text, ended)) == bool(problem)


@pytest.mark.parametrize(
    ("text", "errors", "is_fine"),
    [
        ("python script.py", "Traceback (most recent call last):\n  …\nKeyboardInterrupt\n", True),
        ("python script.py", "", True),  # Ctrl-C came when Python was about to end
        ("python script.py", "Traceback (most recent call last):\n  …\nRuntimeError: no code\n", False),
        ("tilewright move", "Traceback (most recent call last):\n  …\nKeyboardInterrupt\n", False),
    ],
)
def test_only_a_script_may_end_as_python_ends_it(text: str, errors: str, is_fine: bool) -> None:
    assert (problem_of(text, Ended(-signal.SIGINT, 1.0, True, "", errors)) == "") == is_fine


def test_a_command_that_ignores_ctrl_c_is_killed(tmp_path: Path) -> None:
    text = 'trap "" INT; touch ready; sleep 600'
    ended = run(text, tmp_path, lambda _: (tmp_path / "ready").exists(), patience=0.1)
    assert problem_of(text, ended) == "does not end after Ctrl-C"


def test_everything_that_is_put_in_is_needed() -> None:
    filled = [fill_in(text) for text in TEXTS]
    read = {name for text in [*filled, *STAND_INS.values()] for name in files_read(text)}
    assert set(STAND_INS) - read == set()
    assert [pattern for pattern in NOT_RUN if not any(re.search(pattern, text) for text in filled)] == []
    assert [pattern for pattern in FILLED_IN if not any(re.search(pattern, text) for text in TEXTS)] == []


def test_nothing_is_left_to_the_reader() -> None:
    texts = [fill_in(text) for text in TEXTS if not reason_not_to_run(fill_in(text))]
    left = [text for text in texts if re.search(r"…|\b(?!PYTHONPATH|PID)[A-Z]{3,}\b(?![=\d])", text)]
    assert left == []
