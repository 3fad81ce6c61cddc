"""What the README shows runs, and gives what it says."""

import ast
import re
from pathlib import Path
from typing import Any

from tilewright.cli.main import COMMANDS

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_the_python_example_runs_and_gives_what_its_comments_say() -> None:
    source = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]
    names: dict[str, Any] = {}
    compared = 0
    for statement in ast.parse(source).body:
        code = ast.get_source_segment(source, statement)
        assert code is not None
        comment = source.splitlines()[statement.lineno - 1].partition("#")[2].strip()
        if isinstance(statement, ast.Expr) and comment.startswith(("[", "{")) and "…" not in comment:
            assert eval(code, names) == ast.literal_eval(comment)  # noqa: S307
            compared += 1
        else:
            exec(code, names)  # noqa: S102
    assert compared == 2


def test_every_command_that_is_shown_exists() -> None:
    shown = set(re.findall(r"^tilewright (\w+)|; tilewright (\w+)", README, re.MULTILINE))
    assert {first or second for first, second in shown} <= COMMANDS.keys()
    assert len(shown) >= 6
