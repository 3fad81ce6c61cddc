"""Many boards as Stable-Baselines3 wants environments."""

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from tilewright.envs.batch import Boards
from tilewright.envs.options import EnvOptions
from tilewright.envs.single import observation_space

__all__ = ["BoardVecEnv", "Finished"]


class Finished(NamedTuple):
    """A game that came to its end."""

    score: int
    code: int  # of the largest tile


class BoardVecEnv(VecEnv):
    """Grids in SB3's form; rewards are in `reward_scale`s. It keeps the masks of now, and the games that were finished."""

    def __init__(self, options: EnvOptions, count: int, *, reward_scale: float = 1.0, seed: int = 0) -> None:
        self.boards = Boards(options, count, again=True)
        self.reward_scale = reward_scale
        super().__init__(count, observation_space(self.boards.game, self.boards.view), spaces.Discrete(4))
        for i in range(count):
            self.boards.seed(i, seed * 1_000_003 + i)
        self.masks = np.ones((count, 4), np.bool_)
        self.finished: list[Finished] = []
        self._actions = np.zeros(count, np.int64)

    def reset(self) -> NDArray[np.uint8]:
        moved = self.boards.begin()
        self.masks = moved.masks.astype(np.bool_)
        return moved.seen.reshape(self.num_envs, *self.boards.shape)

    def look(self) -> NDArray[np.uint8]:
        """The grids of now, after boards and masks were restored."""
        return self.boards.grids(self.boards.status.cells, self.boards.status.extra)

    def step_async(self, actions: NDArray[Any]) -> None:
        self._actions = np.ascontiguousarray(actions, np.int64)

    def step_wait(self) -> Any:
        moved, any_ended = self.boards.step(self._actions)
        self.masks = moved.masks.astype(np.bool_)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if any_ended:
            for i in np.flatnonzero(moved.ended):
                infos[i]["terminal_observation"] = moved.final_seen[i].reshape(self.boards.shape)
                self.finished.append(Finished(int(moved.final_scores[i]), int(moved.codes[i])))
        seen = moved.seen.reshape(self.num_envs, *self.boards.shape)
        return seen, (moved.rewards / self.reward_scale).astype(np.float32), moved.ended, infos

    def close(self) -> None:
        pass

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.boards, attr_name, None) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise AttributeError(f"{attr_name} of a board cannot be set")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        raise AttributeError(f"a board has no method {method_name}")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]
