"""The examples run."""

import subprocess
import sys
from pathlib import Path

from tests.process import environment

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_ppo_of_stable_baselines_trains_on_our_environment() -> None:
    command = [sys.executable, str(EXAMPLES / "train_ppo.py"), "--steps", "100"]
    found = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=300, check=False)
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("after 100 steps: mean score ")
