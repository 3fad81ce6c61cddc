"""Thousands of boards as one Gymnasium vector environment, moved by one kernel call."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from tilewright.envs.batch import Boards, Moved
from tilewright.envs.options import CustomReward, EnvOptions
from tilewright.envs.render import board_picture
from tilewright.envs.single import BoardEnv, observation_space
from tilewright.errors import UsageError
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.rules import State

__all__ = ["BoardVectorEnv"]

Observations = NDArray[np.uint8]
Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]
Info = dict[str, Any]


class BoardVectorEnv(VectorEnv[Observations, NDArray[np.int64], NDArray[Any]]):
    """`num_envs` boards of one game; everything else is as in `BoardEnv`, whose games these are, seed by seed.

    With `autoreset_mode` NEXT_STEP a finished episode stays for one step, and the step after it, whatever its action
    is, begins the next: reward 0. With SAME_STEP the next episode begins at once; the last observation and information
    of the old one are `info["final_obs"]` and `info["final_info"]`. Both are as Gymnasium 1.x defines them.

    >>> import gymnasium, tilewright.envs
    >>> envs = gymnasium.make_vec("tilewright/2048-v0", num_envs=1000)
    >>> observations, info = envs.reset(seed=1)
    >>> observations.shape, info["action_mask"].shape
    ((1000, 4, 4), (1000, 4))
    """

    def __init__(
        self,
        num_envs: int,
        game: str | Game = "2048",
        *,
        observation: str = "grid",
        reward: str | CustomReward = "score",
        penalty: float = 0.0,
        end_probability: float = 0.0,
        end_fraction: float = 0.0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        mode = _mode(autoreset_mode)
        if render_mode not in (None, "ansi", "rgb_array"):
            raise UsageError(f"render_mode={render_mode!r}: allowed are ansi, rgb_array, or none")
        options = EnvOptions(game, observation, reward, penalty, end_probability, end_fraction)
        self.boards = Boards(options, num_envs, again=mode == AutoresetMode.SAME_STEP)
        self.game = self.boards.game
        self.num_envs, self.render_mode = num_envs, render_mode
        self.metadata = {**BoardEnv.metadata, "autoreset_mode": mode}
        self.single_action_space = spaces.Discrete(4)
        self.single_observation_space = observation_space(self.game, self.boards.view)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._all = np.ones(num_envs, np.bool_)
        self._seeded = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, Info]:
        """Start a game on every board; the seed of board i is `seed + i`, or number i of a list."""
        for i, one in enumerate(self._seeds(seed)):
            if one is not None:
                self.boards.seed(i, one)
        moved = self.boards.begin()
        return moved.seen.reshape(self.num_envs, *self.boards.shape), self._info(moved)

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        first, self._seeded = not self._seeded, True
        if isinstance(seed, int):
            self._np_random, self._np_random_seed = np.random.default_rng(seed), seed
            return range(seed, seed + self.num_envs)
        given = [None] * self.num_envs if seed is None else list(seed)
        if len(given) != self.num_envs:
            raise UsageError(f"{len(given)} seeds for {self.num_envs} environments")
        if not first:
            return given
        return [int(self.np_random.integers(2**62)) if one is None else one for one in given]

    def step(self, actions: NDArray[np.int64]) -> tuple[Observations, Floats, Truths, Truths, Info]:
        chosen = np.ascontiguousarray(actions, np.int64)
        if chosen.shape != (self.num_envs,) or chosen.min() < 0 or chosen.max() > 3:
            raise UsageError(f"actions must be {self.num_envs} numbers from 0 to 3")
        moved, any_ended = self.boards.step(chosen)
        info = self._info(moved)
        if any_ended:
            self._tell_ends(moved, info)
        seen = moved.seen.reshape(self.num_envs, *self.boards.shape)
        return seen, moved.rewards, moved.ended, np.zeros(self.num_envs, np.bool_), info

    def _info(self, moved: Moved) -> Info:
        return {"action_mask": moved.masks, "_action_mask": self._all, "score": moved.scores, "_score": self._all}

    def _tell_ends(self, moved: Moved, info: Info) -> None:
        ended = moved.ended
        largest = np.array(self.game.tile_values)[moved.codes]
        if not self.boards.again:
            info.update(largest=largest, _largest=ended)
            return
        info["final_obs"], info["_final_obs"] = moved.final_seen.reshape(self.num_envs, *self.boards.shape), ended
        info["final_info"] = {
            "action_mask": moved.final_masks,
            "_action_mask": ended,
            "score": moved.final_scores,
            "_score": ended,
            "largest": largest,
            "_largest": ended,
        }
        info["_final_info"] = ended

    def board(self, i: int) -> Board:
        """Board number i as it is now."""
        status = self.boards.status
        return Board(self.game, State(status.cells[i].item(), status.extra[i].item()))

    def render(self) -> tuple[Any, ...] | None:
        if self.render_mode is None:
            return None
        draw = board_picture if self.render_mode == "rgb_array" else str
        return tuple(draw(self.board(i)) for i in range(self.num_envs))


def _mode(mode: AutoresetMode | str) -> AutoresetMode:
    found = next((one for one in AutoresetMode if mode in (one, one.name, one.value)), None)
    if found not in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        raise UsageError(f"autoreset_mode={mode}: allowed are NEXT_STEP and SAME_STEP")
    return found
