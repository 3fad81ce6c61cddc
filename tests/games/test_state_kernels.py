"""Ctrl-C while the result of a kernel is made for Python: the process does not crash."""

import ast
from pathlib import Path

import pytest

from tests.process import PACKAGE, run_python

CALLS = """
from tilewright import make_game, stream_for
from tilewright.games import state_kernels
from tilewright.games.rules import State, typed_state

game = make_game({spec!r})
board, _ = game.start_from(stream_for(1))
action = ["up", "right", "down", "left"].index(game.legal(board)[0])
after, _ = game.slide(board, game.legal(board)[0])
state, moved = typed_state(board.state), typed_state(after.state)
rules, stream = game.rules, stream_for(2)

def call_all():
    return [
        state_kernels.start_one(rules, stream)[0],
        state_kernels.slide_one(rules, state, action)[0],
        state_kernels.spawn_one(rules, moved, stream)[0],
        state_kernels.symmetry_one(rules, state, 1),
    ]

def interrupted(*arguments):
    raise KeyboardInterrupt

call_all()  # compiles them
State.__new__ = interrupted
made = call_all()
print([type(words).__name__ for words in made], made[1] == tuple(after.state))
"""


@pytest.mark.parametrize("spec", ["2048", "threes"])
def test_states_are_made_without_python_code_that_a_signal_could_interrupt(spec: str) -> None:
    said = run_python(CALLS.format(spec=spec))
    assert said.returncode == 0, said.stderr[-2000:]
    assert said.stdout == f"{['tuple'] * 4} True\n"


@pytest.mark.parametrize("source", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_kernel_returns_a_state(source: Path) -> None:
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and "kernel" in map(ast.unparse, node.decorator_list):
            returned = "" if node.returns is None else ast.unparse(node.returns)
            assert "State" not in returned, f"{node.name} in line {node.lineno}"
