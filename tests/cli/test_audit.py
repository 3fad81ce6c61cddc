"""`tilewright audit`: a table or JSON, and an exit code that says whether something is wrong."""

import json

from tests.cli.conftest import Command

OURS = "gymnasium:tilewright.envs:tilewright/2048-v1"
QUICK = ("--moves", "400", "--agent-moves", "0", "--starts", "10")


def test_our_environment_passes(command: Command) -> None:
    said = command("audit", OURS, *QUICK)
    assert (said.code, said.err) == (0, "")
    assert "actions: 0 up, 1 right, 2 down, 3 left" in said.out
    assert "accused with a probability of at most 0.1 %" in said.out
    verdicts = [line.split()[:4] for line in said.out.splitlines() if line.startswith(("slides", "merges"))]
    assert [words[0] for words in verdicts] == ["slides", "merges"]
    assert all("ok" in words for words in verdicts)


def test_a_wrong_engine_fails_with_an_example(command: Command) -> None:
    said = command("audit", "tests.audit.engines:OmitsMerges", *QUICK)
    assert (said.code, said.err) == (1, "tilewright: tests.audit.engines:OmitsMerges: 1 finding\n")
    assert "legal moves: a legal move is missing (" in said.out
    example = said.out[said.out.index("  board ") :].splitlines()
    assert [line.split()[0] for line in example[:4]] == ["board", "move", "expected", "found"]


def test_json_has_everything(command: Command) -> None:
    said = command("audit", "tests.audit.engines:OmitsMerges", *QUICK, "--json")
    facts = json.loads(said.out)
    assert (said.code, facts["findings"], facts["actions"]) == (1, 1, ["up", "right", "down", "left"])
    (check,) = [check for check in facts["checks"] if check["verdict"] == "found"]
    assert check["check"] == "legal moves"
    (finding,) = check["findings"]
    board, move = finding["example"]["board"], finding["example"]["move"]
    assert len(board) == 4
    assert move in finding["example"]["expected"]
    assert move not in finding["example"]["found"]


def test_an_unknown_engine_is_a_usage_error(command: Command) -> None:
    said = command("audit", "pgxx")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("tilewright: there is no engine 'pgxx'")
