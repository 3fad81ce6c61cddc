"""Deep networks on the command line: trained, evaluated, asked, reviewed, and refused in one line."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.deep.small import small
from tests.process import run_python


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> Path:
    monkeypatch.chdir(tmp_path)
    small(total_steps=512, game="2048:rows=2,columns=2").save(Path("tiny.toml"))
    said = command("train", "tiny.toml")
    assert said.code == 0, said.err
    assert "next: tilewright evaluate dqn:model=runs/tiny/model.safetensors --game 2048:rows=2,columns=2" in said.out
    return Path("runs/tiny/model.safetensors")


def test_a_trained_network_is_an_agent_like_any_other(run: Path, command: Command) -> None:
    assert (run.parent / "report.html").exists()
    agent, game = f"dqn:model={run}", ("--game", "2048:rows=2,columns=2")
    found = json.loads(command("evaluate", agent, *game, "--games", "20", "--record", "g.jsonl", "--json").out)
    assert (found["games"], found["agent"]) == (20, agent)
    asked = json.loads(command("move", "2 2 / 4 8", "--agent", agent, *game, "--json").out)
    assert set(asked["values"]) == {"left", "right"}
    assert command("review", "g.jsonl", "--agent", agent).code == 0
    described = json.loads(command("models", str(run), "--json").out)
    assert (described["architecture"], described["algorithm"], described["moves"]) == ("small", "dqn", "512")
    assert command("models", str(run)).out.startswith(f"{run}: deep dqn network small of")
    assert command("train", "--resume", str(run.parent), "--set", "total_steps=640").code == 0


def test_bad_input_is_one_line_and_exit_code_2(command: Command) -> None:
    for arguments, complaint in (
        (("train", "dqn", "--set", "architecture=cnn_9"), "architecture = 'cnn_9'"),
        (("train", "dqn", "--set", "doubel=true"), "unknown key 'doubel' (did you mean 'double_q'?)"),
        (("train", "dqm"), "there is no preset or file 'dqm' (did you mean 'dqn'?)"),
        (("evaluate", "dqn"), "agent dqn needs a trained network"),
    ):
        said = command(*arguments)
        assert said.code == 2
        assert complaint in said.err
        assert said.err.count("\n") == 1


def test_presets_are_listed_and_shown(command: Command) -> None:
    listed = command("train").out
    assert {"minute", "dqn", "dqn-paper", "deep-afterstate"} <= {line.partition(" ")[0] for line in listed.splitlines()}
    assert 'architecture = "cnn_5l_4_v2"' in command("train", "dqn-paper", "--show").out


def test_a_missing_extra_names_its_pip_line() -> None:
    found = run_python(
        "import sys; sys.modules['torch'] = None\n"
        "from tilewright.cli.main import main\n"
        "print(main(['train', 'dqn']), main(['evaluate', 'dqn:model=x']))"
    )
    assert found.stdout == "1 1\n"
    assert found.stderr.count("pip install 'tilewright[deep]'") == 2
