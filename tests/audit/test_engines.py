"""Engines are found by their targets; what cannot be audited is refused in a line."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tilewright import MissingExtraError, UsageError
from tilewright.audit import audit_engine, open_engine

ENVIRONMENT = "gymnasium:tilewright.envs:tilewright/2048-v1"


def test_our_environment_has_no_finding() -> None:
    report = audit_engine(ENVIRONMENT, moves=2000, agent="greedy", agent_moves=300, starts=300)
    assert report.findings == []
    assert report.version.startswith("tilewright ")
    assert all(result.verdict == "ok" for result in report.results)
    assert report.largest >= 128
    assert report.moves == 2300
    assert report.directions == ("up", "right", "down", "left")


@pytest.mark.parametrize("observation", ["onehot", "grid"])
def test_other_observations_are_read_by_a_callable(
    observation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"my_engine_{observation}.py").write_text(
        f"from tilewright.envs.single import BoardEnv\ndef make():\n    return BoardEnv(observation={observation!r})\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    report = audit_engine(f"my_engine_{observation}:make", moves=300, agent_moves=0, starts=0)
    assert report.findings == []


def test_lists_are_boards_of_plain_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stubborn:
        """Says the game is over at once."""

        def reset(self, seed: int) -> list[list[int]]:
            return [[2, 2, 0, 0], [0] * 4, [0] * 4, [0] * 4]

        def step(self, action: int) -> tuple[list[list[int]], int, bool, list[bool]]:
            return [[4, 0, 0, 2], [0] * 4, [0] * 4, [0] * 4], 4, True, [True] * 4

    monkeypatch.setitem(sys.modules, "my_plain_engine", SimpleNamespace(make=Stubborn))
    with pytest.raises(UsageError, match="cannot be read as boards"):
        audit_engine("my_plain_engine:make")


@pytest.mark.parametrize(
    ("target", "complaint"),
    [
        ("pgxx", "there is no engine 'pgxx'; there are: gymnasium:ID, pgx, jumanji, open_spiel, module:callable"),
        ("", "'' is not an engine: give gymnasium:ID"),
        (3, "3 is not an engine: give gymnasium:ID"),
        ("gymnasium:CartPole-v9", "gymnasium:CartPole-v9: Environment version"),
        ("gymnasium:no_such_module:X-v0", "gymnasium:no_such_module:X-v0: "),
        ("no_such_module:make", "engine no_such_module:make: No module named 'no_such_module'"),
        ("math:make", "engine math:make: module 'math' has no attribute 'make'"),
        ("math:pi", "engine math:pi: is not callable; it must return an engine"),
        ("builtins:list", "engine builtins:list: [] has no methods reset(seed) and step(action)"),
    ],
)
def test_an_unknown_engine_is_refused(target: Any, complaint: str) -> None:
    with pytest.raises(UsageError, match=re.escape(complaint)):
        open_engine(target)


def test_an_environment_of_another_game_is_refused() -> None:
    with pytest.raises(UsageError, match="the observations contain numbers that are neither tiles nor exponents"):
        audit_engine("gymnasium:CartPole-v1")


def test_a_missing_package_names_its_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(MissingExtraError, match="pip install open_spiel"):
        open_engine("open_spiel")


@pytest.mark.parametrize("options", [{"moves": 0}, {"four": 2}, {"seed": -1}, {"starts": 1.5}])
def test_impossible_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(options))):
        audit_engine(ENVIRONMENT, **options)
