"""Gymnasium environments: options, seeds and actions of all kinds; what is made keeps to its spaces."""

import math
import random
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.envs.options import OBSERVATIONS, REWARDS
from tilewright.envs.single import BoardEnv
from tilewright.envs.text import REWARDS as TEXT_REWARDS
from tilewright.envs.text import TextEnv
from tilewright.envs.vector import BoardVectorEnv
from torture.campaign import Campaign, Case, WrongError, allow_refusal
from torture.kinds.boards import GAMES
from torture.kinds.models import CHECKED
from torture.mutation import any_number, any_text, any_value, mutate_text, sometimes

__all__ = ["Environments"]

_MAX_ENVS = 64
_ANSWERS = ("up", "I play **Left**.", "RIGHT", "down? No: up.", "none of them", "left" * 1000, "")


class Environments(Campaign):
    """Single, vector and text environments; the kernels have bounds checks."""

    name = "environments"
    seconds = 60.0  # the kernels of a game are compiled when it is first played
    environment = CHECKED

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        for game in ("2048", "threes"):
            for observation in OBSERVATIONS[self.parts]:
                for envs in (0, 2):
                    self.run(
                        {
                            "options": {"game": game, "observation": observation},
                            "envs": envs,
                            "seed": 1,
                            "actions": [0, 1],
                        }
                    )

    def make(self, chance: random.Random) -> Case:
        """Make options, a seed, and actions."""
        if sometimes(chance, 0.25):
            return self._make_text(chance)
        options: dict[str, Any] = {
            "game": chance.choice(GAMES),
            "observation": chance.choice(OBSERVATIONS[self.parts]),
            "reward": chance.choice(REWARDS),
            "penalty": chance.choice((0, 1.5, 32)),
            "end_probability": chance.choice((0, 0.5, 1)),
            "end_fraction": chance.choice((0, 0.1, 1)),
            "render_mode": chance.choice((None, "ansi", "rgb_array")),
        }
        _change(chance, options)
        envs: Any = chance.choice((0, 0, 1, 3, 17))
        if sometimes(chance, 0.1):
            envs = any_value(chance)
            envs = 3 if isinstance(envs, int) and envs > _MAX_ENVS else envs
        actions = [
            chance.randrange(4) if sometimes(chance, 0.9) else any_value(chance)
            for _ in range(chance.choice((1, 5, 30)))
        ]
        return {"options": options, "envs": envs, "seed": _any_seed(chance), "actions": actions}

    def _make_text(self, chance: random.Random) -> Case:
        """Make options of a text environment, a seed, and answers of a language model."""
        options: dict[str, Any] = {
            "game": chance.choice(GAMES),
            "teacher": chance.choice(("greedy", "random", "heuristic:depth=1", "ntuple:model=x")),
            "reward": chance.choice(TEXT_REWARDS),
            "penalty": chance.choice((0, 1.5, 100)),
            "max_invalid_moves": chance.choice((0, 1, 10)),
            "render_mode": chance.choice((None, "ansi")),
        }
        _change(chance, options)
        options.setdefault("teacher", "greedy")  # the usual one reads a large model
        answers = [
            chance.choice((chance.choice(_ANSWERS), mutate_text(chance, chance.choice(_ANSWERS)), any_value(chance)))
            for _ in range(chance.choice((1, 5, 30)))
        ]
        return {"options": options, "envs": "text", "seed": _any_seed(chance), "actions": answers}

    def run(self, case: Case) -> None:
        """Make the environment, and play on with whatever actions there are."""
        options, envs = dict(case["options"]), case["envs"]
        if envs == "text":
            self._play_single(TextEnv(**options), case)
        elif envs == 0 and not isinstance(envs, bool):
            self._play_single(BoardEnv(**options), case)
        else:
            options.pop("render_mode", None)
            self._play_vector(BoardVectorEnv(envs, **options), case)

    def _play_single(self, env: BoardEnv | TextEnv, case: Case) -> None:
        observation, _ = env.reset(seed=_seed(case["seed"]))
        for action in case["actions"]:
            made = allow_refusal(partial(env.step, action))
            observation = observation if made is None else made[0]
            if observation not in env.observation_space:
                raise WrongError(f"observation: outside its space after {action!r}")
            if made is not None and not math.isfinite(made[1]):
                raise WrongError(f"reward: {made[1]} for {action!r}")
            if made is not None and (made[2] or made[3]):
                observation, _ = env.reset()
        if env.render_mode is not None:
            env.render()

    def _play_vector(self, env: BoardVectorEnv, case: Case) -> None:
        observation, _ = env.reset(seed=_seed(case["seed"]))
        for action in case["actions"]:
            actions = np.full(env.num_envs, action) if type(action) is int and 0 <= action < 4 else action
            made = allow_refusal(partial(env.step, actions))
            observation = observation if made is None else made[0]
            if observation not in env.observation_space:
                raise WrongError(f"observation: outside its space after {action!r}")


def _change(chance: random.Random, options: dict[str, Any]) -> None:
    """Leave out about half of the options, and replace some values."""
    for name in list(options):
        if sometimes(chance, 0.5):
            del options[name]
        elif sometimes(chance, 0.15):
            options[name] = chance.choice((any_value(chance), any_number(chance), any_text(chance)))


def _any_seed(chance: random.Random) -> Any:
    return chance.choice((None, 1, 2**62)) if sometimes(chance, 0.8) else any_value(chance)


def _seed(value: Any) -> Any:
    """Return a seed; Gymnasium itself answers for those that are no whole numbers from 0 up."""
    is_seed = value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0)
    return value if is_seed else 3
