"""The examples of the README run, and give what it says."""

import ast
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

from tilewright.cli.main import COMMANDS

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def run_blocks() -> tuple[dict[str, Any], int]:
    """Run all Python blocks as one program; return its names, and the number of results compared with comments."""
    source = "\n".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL))
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
    return names, compared


def test_the_python_examples_run_and_give_what_their_comments_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(mpl.rcParams, "backend", "agg")
    names, compared = run_blocks()
    assert compared == 2
    assert names["result"].games == 1000
    assert names["run"].curve_dict()["games"] == [100, 200, 300, 400, 500]
    assert README.count("\n") <= 115
    assert len(names["recording"].actions) > 0
    assert names["sweep"].to_dict()["alpha"] == [0.5, 0.5, 1.0, 1.0]
    assert (tmp_path / "runs" / "mine" / "model.safetensors").is_file()


def test_every_command_that_is_shown_exists() -> None:
    shown = set(re.findall(r"^tilewright (\w+)|; tilewright (\w+)", README, re.MULTILINE))
    assert {first or second for first, second in shown} <= COMMANDS.keys()
    assert len(shown) >= 6


def test_every_link_leads_to_a_file() -> None:
    root = Path(__file__).parent.parent
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", README)
    assert links
    assert [link for link in links if not (root / link).exists()] == []
