"""Every option of every agent, each in a process of its own, where nothing has been imported or compiled before."""

import dataclasses
import json
from pathlib import Path

import pytest

from tests.agents.test_ntuple import random_model
from tests.process import run_tilewright
from tilewright import AGENTS, make_game, solve
from tilewright.errors import MissingExtraError

BOARD = "2 2 4 / 0 8 0 / 0 0 2"
GAME = "2048:rows=3,columns=3"

# A value that is not the default, and the options that it needs beside it. {model} and {table} are files.
VALUES: dict[str, dict[str, str]] = {
    "ntuple": {"model": "model={model}", "downgrade_above": "downgrade_above=16,model={model}"},
    "expectimax": {
        "depth": "depth=1,model={model}",
        "ms": "ms=2.5,model={model}",
        "limits": "limits=2-1,model={model}",
        "prune": "prune=0.1,model={model}",
        "table": "table=0,model={model}",
        "model": "model={model}",
        "downgrade_above": "downgrade_above=16,model={model}",
    },
    "heuristic": {"depth": "depth=2", "ms": "ms=2", "limits": "limits=3-2", "prune": "prune=0.1", "table": "table=1"},
    "minimax": {"depth": "depth=2", "ms": "ms=2"},
    "montecarlo": {
        "rollouts": "rollouts=7",
        "value": "value=sum",
        "playout": "playout=network,rollouts=8,model={model}",
        "horizon": "horizon=3,rollouts=8,model={model}",
        "model": "model={model},playout=network,horizon=3,rollouts=8",
        "spawn": "spawn=shared",
        "threads": "threads=2",
    },
    "exact": {"table": "table={table}"},
    "uct": {
        "rollouts": "rollouts=9",
        "value": "value=largest",
        "playout": "playout=merges",
        "horizon": "horizon=3,rollouts=8,model={model}",
        "model": "model={model},playout=network,rollouts=8",
        "c": "c=0.5",
    },
}
TRAINED_ELSEWHERE = {
    "dqn": {"model", "invalid", "device"},
    "afterstate": {"model", "invalid", "device", "depth"},
    "policy": {"model", "invalid", "device"},
}  # tests/deep plays with their models

OF_DEEP_MODELS = {"uct": {"prior"}}  # tests/deep/test_guided.py
OF_4X4 = {"ntuple": {"endgames"}, "expectimax": {"endgames"}, "heuristic": {"endgames"}}  # test_endgames.py


def test_every_option_has_a_value_here() -> None:
    for name in AGENTS:
        try:
            fields = {field.name for field in dataclasses.fields(AGENTS.load(name))}
        except MissingExtraError:
            continue
        tested = (
            TRAINED_ELSEWHERE.get(name, set(VALUES.get(name, {})))
            | OF_4X4.get(name, set())
            | OF_DEEP_MODELS.get(name, set())
        )
        assert fields == tested, name


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.safetensors"
    random_model(GAME).save(path)
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "table"
    solve(GAME, goal=16, out=path, threads=1)
    return path


@pytest.mark.parametrize(("name", "option"), [(name, option) for name, options in VALUES.items() for option in options])
def test_an_agent_with_the_option_moves(name: str, option: str, model: Path, table: Path) -> None:
    spec = f"{name}:{VALUES[name][option].format(model=model, table=table)}"
    found = run_tilewright("move", BOARD, "--game", GAME, "--agent", spec, "--json")
    assert found.returncode == 0, found.stderr
    facts = json.loads(found.stdout)
    game = make_game(GAME)
    assert facts["agent"].startswith(f"{name}:")
    assert f"{option}=" in facts["agent"]
    assert list(facts["values"]) == game.legal(game.parse(BOARD))
    assert facts["values"][facts["move"]] == max(facts["values"].values())
