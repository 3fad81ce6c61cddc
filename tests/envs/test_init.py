"""The package: environments are registered, and without Gymnasium it says what to install."""

import gymnasium
import numpy as np
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


def test_gymnasium_imports_the_module_that_an_id_names() -> None:
    found = run_python(
        "import gymnasium\n"
        "env = gymnasium.make('tilewright.envs:tilewright/2048-v1')\n"
        "envs = gymnasium.make_vec('tilewright.envs:tilewright/Threes-v1', num_envs=2)\n"
        "print(env.unwrapped.game.name, envs.unwrapped.game.name)"
    )
    assert found.stdout == "2048 threes\n"


def test_the_first_version_has_no_limit_of_invalid_moves() -> None:
    with pytest.warns(DeprecationWarning, match="out of date"):
        env = gymnasium.make("tilewright/2048-v0").unwrapped
    assert isinstance(env, BoardEnv)
    ends = []
    for one in (env, gymnasium.make("tilewright/2048-v1").unwrapped):
        one.reset(options={"board": "2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"})
        ends.append([any(one.step(np.int64(0))[2:4]) for _ in range(100)].count(True))
    assert ends == [0, 1]


def test_a_missing_extra_names_its_pip_line() -> None:
    found = run_python(
        "import sys; sys.modules['gymnasium'] = None\n"
        "import tilewright\n"
        "try:\n    import tilewright.envs\n"
        "except ImportError as error:\n    print(error)"
    )
    assert found.stdout == "environments need Gymnasium: pip install 'tilewright[gym]'\n"
