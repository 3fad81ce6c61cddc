"""The package: environments are registered, and without Gymnasium it says what to install."""

import gymnasium
import pytest

import tilewright.envs
from tests.process import run_python
from tilewright.envs.single import BoardEnv
from tilewright.envs.vector import BoardVectorEnv


@pytest.mark.parametrize("name", tilewright.envs.IDS)
def test_both_kinds_of_environment_are_registered(name: str) -> None:
    env = gymnasium.make(name).unwrapped
    envs = gymnasium.make_vec(name, num_envs=3, autoreset_mode="SAME_STEP")
    assert isinstance(env, BoardEnv)
    assert isinstance(envs.unwrapped, BoardVectorEnv)
    assert env.game.name == envs.unwrapped.game.name == tilewright.envs.IDS[name]
    assert envs.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.SAME_STEP


def test_a_missing_extra_names_its_pip_line() -> None:
    found = run_python(
        "import sys; sys.modules['gymnasium'] = None\n"
        "import tilewright\n"
        "try:\n    import tilewright.envs\n"
        "except ImportError as error:\n    print(error)"
    )
    assert found.stdout == "environments need Gymnasium: pip install 'tilewright[gym]'\n"
