"""The environments as a vector environment of Stable-Baselines3."""

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from tilewright.deep.checkpoint import check_games, check_that_sound
from tilewright.envs.batch import BatchedGames
from tilewright.envs.options import EnvOptions
from tilewright.envs.single import observation_space

__all__ = ["BoardVecEnv", "FinishedGame"]

_SEED_STRIDE = 1_000_003  # game i of seed s has the stream of seed s · stride + i: different seeds share no stream


# Where an episode has ended: `terminal_observation` and `TimeLimit.truncated`.
StepInfo: TypeAlias = dict[str, NDArray[np.uint8] | bool]


class FinishedGame(NamedTuple):
    """The result of a training game."""

    score: int
    largest_code: int  # the code of the largest tile


class BoardVecEnv(VecEnv):
    """A number of games in the form of Stable-Baselines3's `VecEnv`; one kernel call moves all of them.

    MaskablePPO of sb3-contrib finds the masks by itself.

    >>> env = BoardVecEnv(EnvOptions("2048", observation="onehot"), 8, seed=1)
    >>> env.reset().shape
    (8, 16, 4, 4)

    Attributes:
        games: The games.
        reward_scale: Rewards are divided by this number.
        action_masks: bool[n, 4], True where a move is legal now.
        finished: The games that have ended since the last `pop_finished`.
    """

    def __init__(self, options: EnvOptions, num_envs: int, *, reward_scale: float = 1.0, seed: int = 0) -> None:
        """Prepare the games.

        Args:
            options: The options of the environments.
            num_envs: The number of games.
            reward_scale: The divisor of the rewards.
            seed: The seed of all games.
        """
        self.games = BatchedGames(options, num_envs, autoreset=True)
        self.reward_scale = reward_scale
        super().__init__(num_envs, observation_space(self.games.game, self.games.encoder), spaces.Discrete(4))
        for i in range(num_envs):
            self.games.seed(i, seed * _SEED_STRIDE + i)
        self.action_masks = np.ones((num_envs, 4), np.bool_)
        self.finished: list[FinishedGame] = []
        self._actions = np.zeros(num_envs, np.int64)

    def reset(self) -> NDArray[np.uint8]:
        """Start a new episode in every game and return the observations.

        Seeds that were set by `seed` take effect now.
        """
        for i, seed in enumerate(self._seeds):
            if seed is not None:
                self.games.seed(i, seed)
        self._reset_seeds()
        result = self.games.reset()
        self.action_masks = result.action_masks.astype(np.bool_)
        return result.observations.reshape(self.num_envs, *self.games.observation_shape)

    def pop_finished(self) -> list[FinishedGame]:
        """Return the games that have ended since the last call."""
        finished, self.finished = self.finished, []
        return finished

    def current_grids(self) -> NDArray[np.uint8]:
        """Return the grids of all games as uint8[n, rows, columns]."""
        return self.games.grids(self.games.state.cells, self.games.state.extra)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the arrays of a checkpoint, which are restored in place; those of bool as bytes, for files."""
        arrays: dict[str, NDArray[np.generic]] = {**self.games.state._asdict(), "action_masks": self.action_masks}
        del arrays["last_valid"]  # without a limit of invalid moves in a row it has no effect
        return {
            f"games.{name}": array.view(np.uint8) if array.dtype == np.bool_ else array
            for name, array in arrays.items()
        }

    def check_restored(self) -> None:
        """Raise FileError unless the restored games can have been played."""
        state = self.games.state
        check_games(self.games.game, state.cells, state.extra, state.streams, state.scores)
        sound = ((state.invalid_moves >= 0) & (state.invalid_moves <= state.moves)).all()
        check_that_sound(sound, "a game has more invalid moves than moves")
        flags = [array for array in self.arrays().values() if array.dtype == np.uint8]
        check_that_sound(all(np.isin(array, (0, 1)).all() for array in flags), "a game has an impossible flag")

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Store the actions for `step_wait`."""
        self._actions = np.ascontiguousarray(actions, np.int64)

    def step_wait(
        self,
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.bool_], list[StepInfo]]:
        """Make the stored moves.

        Returns:
            Observations, rewards, which episodes have ended, and the information: where an episode has ended,
            `terminal_observation` and `TimeLimit.truncated`.
        """
        result, any_ended = self.games.step(self._actions)
        self.action_masks = result.action_masks.astype(np.bool_)
        infos: list[StepInfo] = [{} for _ in range(self.num_envs)]
        dones = result.terminated | result.truncated
        if any_ended:
            for i in np.flatnonzero(dones):
                infos[i]["terminal_observation"] = result.final_observations[i].reshape(self.games.observation_shape)
                infos[i]["TimeLimit.truncated"] = bool(result.truncated[i] and not result.terminated[i])
                self.finished.append(FinishedGame(int(result.final_scores[i]), int(result.largest_codes[i])))
        observations = result.observations.reshape(self.num_envs, *self.games.observation_shape)
        return observations, (result.rewards / self.reward_scale).astype(np.float32), dones, infos

    def close(self) -> None:
        """Do nothing: the games hold no resources."""

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """Return an attribute of the games, once for each index; the masks and None as `render_mode` are such, too.

        Raises:
            AttributeError: There is no such attribute.
        """
        if attr_name == "action_masks":
            return self.env_method(attr_name, indices=indices)
        value = None if attr_name == "render_mode" else getattr(self.games, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: object, indices: int | Iterable[int] | None = None) -> None:
        """Raise AttributeError: attributes cannot be set."""
        raise AttributeError(f"{attr_name} of a board cannot be set")

    def env_method(
        self,
        method_name: str,
        *method_args: object,
        indices: int | Iterable[int] | None = None,
        **method_kwargs: object,
    ) -> list[NDArray[np.bool_]]:
        """Call `action_masks`, the only method of a board: bool[4] for each index, True where a move is legal.

        Raises:
            AttributeError: There is no such method.
        """
        if method_name == "action_masks":
            return [self.action_masks[i] for i in self._get_indices(indices)]
        raise AttributeError(f"a board has no method {method_name}")

    def env_is_wrapped(self, wrapper_class: type, indices: int | Iterable[int] | None = None) -> list[bool]:
        """Return False for each index: there are no wrappers."""
        return [False for _ in self._get_indices(indices)]
