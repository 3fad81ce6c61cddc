"""Options of an environment: the game, the observation, the reward, and the cost of an invalid move."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilewright._core.checks import Range, check_choice, check_that
from tilewright._core.jit import Int, Word
from tilewright._core.text import did_you_mean, excerpt
from tilewright.games import make_game
from tilewright.games.base import Game

__all__ = ["LIMITS", "OBSERVATIONS", "REWARDS", "EnvOptions", "KernelOptions", "RewardFunction"]

# (scores: float64[n], before: uint8[n, rows, columns], after: uint8[n, rows, columns]) -> n rewards, where `scores` are
# the points that the moves scored, and `before` and `after` are the grids around the moves.
RewardFunction: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.uint8], NDArray[np.uint8]], ArrayLike]
OBSERVATIONS = ("grid", "onehot", "lookahead1", "lookahead2")
REWARDS = ("score", "log2")
_NO_LIMIT = 2**62  # more moves than an episode can have
LIMITS = {
    "penalty": Range(0, 1_000_000_000),
    "end_probability": Range(0, 1),
    "end_fraction": Range(0, 1),
    "end_after": Range(0, 1_000_000_000_000),
    "max_invalid_moves": Range(0, 1_000_000_000),
    "max_episode_steps": Range(1, 1_000_000_000),
    "num_envs": Range(1, 1_000_000),
}


class KernelOptions(NamedTuple):
    """The part of `EnvOptions` that kernels use."""

    log2: bool  # rewards are logarithms of the points
    penalty: float
    end_threshold: Word  # an invalid move ends the episode if a random number below 2**32 is below this one
    end_fraction: float
    end_after: Int
    max_invalid_moves: int  # an episode is truncated after so many invalid moves in a row
    max_episode_steps: int  # an episode is truncated after so many moves
    every_largest: bool  # `largest_codes` is set in every step, not only where an episode ends


@dataclass(frozen=True)
class EnvOptions:
    """Options of an environment.

    An invalid move leaves the board unchanged. It costs `penalty`, and it can end the episode: with probability
    `end_probability`, or because more than `end_fraction` of the moves of the episode are invalid. The fraction is
    tested from the first move at which a single invalid move is not too many: from the tenth move with 0.1. With
    `end_after`, it is tested once there are more invalid moves than that, as in the program of Bouhoula et al. (16).

    A deterministic policy that chooses an invalid move chooses it again, because the board is the same. The episode is
    therefore truncated after `max_invalid_moves` invalid moves in a row. Random moves never get there: with a single
    legal move, the chance of 100 wrong choices in a row is 3e-13.

    Attributes:
        game: A spec such as `2048:rows=3,columns=3`, or a Game.
        observation: The encoding of the board: grid, onehot, lookahead1 or lookahead2 (see `envs.observations`).
        reward: The reward of a valid move: score (its points), log2 (their logarithm; 0 for no points), or a function
            of the points and of the grids before and after the moves (see `RewardFunction`).
        penalty: The amount that is subtracted for an invalid move, from 0 to 1,000,000,000.
        end_probability: The probability that an invalid move ends the episode.
        end_fraction: The largest allowed fraction of invalid moves; 0 for no limit.
        end_after: The number of invalid moves up to which their fraction does not end an episode; 0 for the rule above.
        max_invalid_moves: The number of invalid moves in a row that truncates the episode; 0 for no limit.
        max_episode_steps: The number of moves that truncates the episode; None for no limit.

    Raises:
        UsageError: A value is not allowed.

    >>> EnvOptions("threes", reward="log2", penalty=32, end_fraction=0.1).make_game().name
    'threes'
    >>> EnvOptions(end_fraction=2)
    Traceback (most recent call last):
    ...
    tilewright.errors.UsageError: end_fraction=2: must be from 0 to 1
    """

    game: str | Game = "2048"
    observation: str = "grid"
    reward: str | RewardFunction = "score"
    penalty: float = 0.0
    end_probability: float = 0.0
    end_fraction: float = 0.0
    end_after: int = 0
    max_invalid_moves: int = 100
    max_episode_steps: int | None = None

    def __post_init__(self) -> None:
        """Check all values."""
        check_that(
            isinstance(self.game, str | Game), f"game={self.game!r}", "must be a Game or a spec such as '2048:rows=3'"
        )
        check_choice(f"observation={self.observation!r}", self.observation, OBSERVATIONS)
        check_that(
            self.reward in REWARDS or callable(self.reward),
            f"reward={self.reward!r}{did_you_mean(str(self.reward), REWARDS)}",
            f"must be {', '.join(REWARDS)} or a function",
        )
        for name in ("penalty", "end_probability", "end_fraction", "end_after", "max_invalid_moves"):
            value = getattr(self, name)
            LIMITS[name].check(f"{name}={excerpt(value)}", value, whole=name in ("end_after", "max_invalid_moves"))
        if self.max_episode_steps is not None:
            shown = f"max_episode_steps={excerpt(self.max_episode_steps)}"
            LIMITS["max_episode_steps"].check(shown, self.max_episode_steps, whole=True)
        has_fraction = not self.end_after or self.end_fraction > 0
        check_that(has_fraction, f"end_after={self.end_after}", "needs end_fraction, which it defers")

    def make_game(self) -> Game:
        """Return the game, made from its spec where `game` is a text."""
        return make_game(self.game) if isinstance(self.game, str) else self.game

    @property
    def reward_function(self) -> RewardFunction | None:
        """The function that computes rewards; None where kernels compute them."""
        return None if isinstance(self.reward, str) else self.reward

    def kernel_options(self, *, every_largest: bool = False) -> KernelOptions:
        """Return the options that kernels use.

        Args:
            every_largest: Whether every step finds the largest tile, not only the last one of an episode.
        """
        return KernelOptions(
            log2=self.reward == "log2",
            penalty=float(self.penalty),
            end_threshold=np.uint64(round(self.end_probability * 2**32)),
            end_fraction=float(self.end_fraction),
            end_after=int(self.end_after),
            max_invalid_moves=int(self.max_invalid_moves) or _NO_LIMIT,
            max_episode_steps=int(self.max_episode_steps or _NO_LIMIT),
            every_largest=every_largest,
        )
