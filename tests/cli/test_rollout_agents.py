"""The agents that play games out, on the command line: what is no such agent is refused in a line."""

import json
from pathlib import Path

import pytest

from tests.agents.test_ntuple import random_model
from tests.cli.conftest import Command
from tilewright import SpecError, make_agent

BOARD = "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"


@pytest.mark.parametrize("agent", ["montecarlo:rollouts=3", "uct:rollouts=5"])
def test_the_command_calls_that_move_best_which_has_the_highest_value(command: Command, agent: str) -> None:
    """With so few rollouts another draw would often have another best move."""
    best = set()
    for seed in range(8):
        facts = json.loads(command("move", BOARD, "--agent", agent, "--seed", str(seed), "--json").out)
        assert facts["values"][facts["move"]] == max(facts["values"].values())
        best.add(facts["move"])
    assert len(best) > 1


BAD = [
    ("montecarlo:rolls=5", "agent montecarlo has no option 'rolls' (did you mean 'rollouts'?)"),
    ("uct:depth=5", "agent uct has no option 'depth'"),
    ("uct:spawn=shared", "agent uct has no option 'spawn'"),
    ("montecarlo:rollouts=many", "option rollouts=many: must be a whole number"),
    ("montecarlo:rollouts=1.5", "option rollouts=1.5: must be a whole number"),
    ("montecarlo:rollouts=0", "option rollouts=0: must be a whole number from 1 to 10,000,000"),
    ("montecarlo:rollouts=-3", "option rollouts=-3: must be a whole number from 1 to 10,000,000"),
    ("montecarlo:rollouts=99999999999999999999", "must be a whole number from 1 to 10,000,000"),
    ("uct:rollouts=3", "option rollouts=3: must be a whole number from 4 to 1,000,000"),
    ("uct:rollouts=1000001", "option rollouts=1000001: must be a whole number from 4 to 1,000,000"),
    ("montecarlo:value=points", "option value=points: must be score, sum, largest"),
    ("uct:value=larges", "option value=larges: must be score, sum, largest (did you mean 'largest'?)"),
    (
        "montecarlo:playout=mergers",
        "must be random, merges, largest, corner, combined, network (did you mean 'merges'?)",
    ),
    ("montecarlo:spawn=share", "option spawn=share: must be fresh, shared (did you mean 'shared'?)"),
    ("montecarlo:threads=0", "option threads=0: must be a whole number from 1 to 256"),
    ("montecarlo:horizon=-1", "option horizon=-1: must be a whole number from 0 to 1,000,000"),
    ("uct:horizon=10,model=m,value=sum", "option horizon=10: a network predicts points: value=score is needed"),
    ("uct:model=m.safetensors", "option model=m.safetensors: nothing uses it: add playout=network or horizon=N"),
    ("uct:c=nan", "option c=nan: must be a number from 0 to 1,000"),
    ("uct:c=inf", "option c=inf: must be a number from 0 to 1,000"),
    ("uct:c=-1", "option c=-1: must be a number from 0 to 1,000"),
]


@pytest.mark.parametrize(("spec", "message"), BAD, ids=[spec for spec, _ in BAD])
def test_a_bad_spec_is_refused_in_a_line(command: Command, spec: str, message: str) -> None:
    with pytest.raises(SpecError):
        make_agent(spec)
    said = command("move", BOARD, "--agent", spec)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("tilewright: ")
    assert message in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("agent", ["montecarlo", "uct"])
def test_a_model_of_another_game_or_none_is_refused_in_a_line(command: Command, agent: str, tmp_path: Path) -> None:
    missing, model = tmp_path / "missing.safetensors", tmp_path / "model.safetensors"
    random_model("2048:rows=3,columns=3").save(model)
    for path, game, message in [
        (missing, "2048", "missing.safetensors: cannot be read"),
        (model, "2048", "was trained for 2048:rows=3,columns=3 and cannot play 2048"),
        (model, "threes", "was trained for 2048:rows=3,columns=3 and cannot play threes"),
    ]:
        board = "1 2 3 3" + " 0" * 12 if game == "threes" else BOARD
        for asked in (("move", board, "--agent"), ("evaluate", "--games", "2")):
            said = command(*asked, f"{agent}:playout=network,model={path}", "--game", game)
            assert (said.code, said.out) == (2, "")
            assert message in said.err
            assert said.err.count("\n") == 1
