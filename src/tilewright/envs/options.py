"""On which terms a game is an environment: what is seen, what is rewarded, what an invalid move costs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Word
from tilewright._core.registry import did_you_mean
from tilewright.errors import UsageError
from tilewright.games import make_game
from tilewright.games.base import Game

__all__ = ["REWARDS", "CustomReward", "EnvOptions", "KernelOptions"]

# points: float64[n], what the moves earned; before, after: uint8[n, rows, columns], the grids -> float64[n]
CustomReward: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.uint8], NDArray[np.uint8]], Any]
REWARDS = ("score", "log2")


class KernelOptions(NamedTuple):
    """What the kernel needs of `EnvOptions`."""

    log2: bool
    penalty: float
    end_probability: Word  # out of 2**32
    end_fraction: float


@dataclass(frozen=True)
class EnvOptions:
    """The options of an environment.

    An invalid move changes nothing. It costs `penalty`; it ends the episode with probability `end_probability`, or when
    more than `end_fraction` of all moves so far were invalid (0: never), counted from the move on which one alone would
    not be too much: from the tenth with 0.1.
    """

    game: str | Game = "2048"
    observation: str = "grid"
    reward: str | CustomReward = "score"
    penalty: float = 0.0
    end_probability: float = 0.0
    end_fraction: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.reward, str) and self.reward not in REWARDS:
            hint = did_you_mean(self.reward, REWARDS)
            allowed = ", ".join(REWARDS)
            raise UsageError(f"reward={self.reward!r}: no such reward{hint}; allowed: {allowed}, or a function")
        if not np.isfinite(self.penalty) or self.penalty < 0:
            raise UsageError(f"penalty={self.penalty}: must be a number from 0 up; it is subtracted")
        for option in ("end_probability", "end_fraction"):
            value = getattr(self, option)
            if not 0 <= value <= 1:
                raise UsageError(f"{option}={value}: must be from 0 to 1")

    def make_game(self) -> Game:
        return make_game(self.game) if isinstance(self.game, str) else self.game

    @property
    def custom(self) -> CustomReward | None:
        return None if isinstance(self.reward, str) else self.reward

    def kernel_options(self) -> KernelOptions:
        chance = np.uint64(round(self.end_probability * 2**32))
        return KernelOptions(self.reward == "log2", float(self.penalty), chance, float(self.end_fraction))
