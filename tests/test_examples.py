"""The examples run."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.process import HANG_SECONDS, environment

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize(
    ("command", "beginning"),
    [
        (["train_ppo.py", "--steps", "100"], "after 100 steps: mean score "),
        (["train_dqn.py", "--steps", "300"], "after 300 steps: mean score "),
        (["train_maskable_ppo.py", "--steps", "300"], "after 300 steps: mean score "),
        (["cleanrl_ppo.py", "--steps", "300"], "after 300 steps: mean score "),
        (["torchrl_reinforce.py", "--steps", "512"], "after 512 steps: mean reward of a step "),
        (["text_player.py", "--moves", "20", "--teacher", "greedy"], "corner: loses "),
        (["expectimax_on_env.py", "--moves", "10"], "score "),
    ],
    ids=lambda value: Path(value[0]).stem if isinstance(value, list) else "",
)
def test_an_example_runs(command: list[str], beginning: str) -> None:
    found = subprocess.run(
        [sys.executable, str(EXAMPLES / command[0]), *command[1:]],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith(beginning)
