"""One board as a Gymnasium environment."""

from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from tilewright.envs.batch import Boards
from tilewright.envs.observations import View, make_view, view_shape
from tilewright.envs.options import CustomReward, EnvOptions
from tilewright.envs.render import board_picture
from tilewright.errors import UsageError
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.rules import State

__all__ = ["BoardEnv", "observation_space"]

Observation = NDArray[np.uint8]
Info = dict[str, Any]


def observation_space(game: Game, view: View) -> spaces.Space[Observation]:
    shape = view_shape(view)
    is_one_hot = len(shape) == 3 and view == make_view(game, "onehot")
    highest = 1 if is_one_hot else len(game.tile_values) - 1
    return spaces.Box(0, highest, shape, np.uint8)


class BoardEnv(gymnasium.Env[Observation, np.int64]):
    """
    ## Description
    2048 or Threes on one board: slide all tiles in one of four directions, merge what fits, get a new tile.

    ## Action Space
    `Discrete(4)`: 0 up, 1 right, 2 down, 3 left. An invalid move, one that would change nothing, changes nothing;
    `info["action_mask"]` says which moves are valid.

    ## Observation Space
    | `observation` | space | what it is |
    | --- | --- | --- |
    | `"grid"` | `Box(0, 17, (4, 4), uint8)` | exponents, 0 for an empty cell; in Threes codes up to 15 |
    | `"onehot"` | `Box(0, 1, (16, 4, 4), uint8)` | plane c is 1 where the exponent is c |
    | `"lookahead1"` | `Box(0, 17, (5, 4, 4), uint8)` | the grid, and the four that a move makes of it |
    | `"lookahead2"` | `Box(0, 17, (21, 4, 4), uint8)` | and the sixteen that two moves make of it |

    What an invalid move would lead to is all zero. In Threes a grid has a fifth row, which tells the next tile in each
    of its cells: 1, 2, 3, or 4 for a bonus tile.

    ## Rewards
    | `reward` | what a valid move earns |
    | --- | --- |
    | `"score"` | its points: in 2048 the values of the merged tiles, in Threes what the board's worth grows by |
    | `"log2"` | the logarithm of the points, 0 for none |
    | a function | what `function(points, before, after)` gives: arrays of n points and n grids, n rewards |

    An invalid move earns minus `penalty`.

    ## Starting State
    A first board of the game: two tiles in 2048 (`game="2048:start_tiles=1"` for one), nine in Threes.

    ## Episode End
    The episode ends (terminated) when no move is valid; after an invalid move with probability `end_probability`; and when
    more than `end_fraction` of its moves were invalid. It is never truncated.

    ## Information
    | key | what it is |
    | --- | --- |
    | `action_mask` | `int8[4]`, 1 where a move is valid: what `env.action_space.sample(mask)` takes |
    | `score` | the score of the game so far |
    | `largest` | at the end of an episode: the largest tile |

    ## Arguments
    `game`: a spec such as `"2048:rows=3,columns=3"`, or a Game; `observation`, `reward`, `penalty`, `end_probability`,
    `end_fraction` as above; `render_mode`: `"human"` (prints to the terminal), `"ansi"` (text) or `"rgb_array"`.

    ```python
    import gymnasium, tilewright.envs
    env = gymnasium.make("tilewright/2048-v0", observation="onehot", penalty=32, end_share=0.1)
    ```

    ## Version History
    * v0: first version
    """

    metadata: dict[str, Any] = {"render_modes": ["human", "ansi", "rgb_array"], "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game = "2048",
        *,
        observation: str = "grid",
        reward: str | CustomReward = "score",
        penalty: float = 0.0,
        end_probability: float = 0.0,
        end_fraction: float = 0.0,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            allowed = ", ".join(self.metadata["render_modes"])
            raise UsageError(f"render_mode={render_mode!r}: allowed are {allowed}, or none")
        self.render_mode = render_mode
        self._boards = Boards(EnvOptions(game, observation, reward, penalty, end_probability, end_fraction), 1)
        self._moved, self._action = self._boards.room(), np.zeros(1, np.int64)
        self._shape = self._boards.shape
        self._seeded = False
        self.game = self._boards.game
        self.action_space = spaces.Discrete(4)
        self.observation_space = observation_space(self.game, self._boards.view)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, Info]:
        super().reset(seed=seed)
        if seed is not None or not self._seeded:
            self._boards.seed(0, int(self.np_random.integers(2**62)) if seed is None else seed)
            self._seeded = True
        moved = self._boards.begin(self._moved)
        if self.render_mode == "human":
            self.render()
        return moved.seen.reshape(self._shape).copy(), self._info()

    def step(self, action: np.int64) -> tuple[Observation, SupportsFloat, bool, bool, Info]:
        if not 0 <= action <= 3:
            raise UsageError(f"action {action}: must be from 0 to 3")
        self._action[0] = action
        moved, ended = self._boards.step(self._action, self._moved)
        info = self._info()
        if ended:
            info["largest"] = self.game.value(int(moved.codes[0]))
        if self.render_mode == "human":
            self.render()
        return moved.seen.reshape(self._shape).copy(), moved.rewards.item(), ended, False, info

    def _info(self) -> Info:
        return {"action_mask": self._moved.masks[0].copy(), "score": self._moved.scores.item()}

    @property
    def board(self) -> Board:
        """The board as it is now."""
        status = self._boards.status
        return Board(self.game, State(status.cells.item(), status.extra.item()))

    def action_masks(self) -> NDArray[np.bool_]:
        """Which moves are valid, under the name that MaskablePPO of sb3-contrib asks for."""
        return self._moved.masks[0].astype(np.bool_)

    def render(self) -> Any:
        if self.render_mode is None:
            gymnasium.logger.warn('render() without a render_mode: make the environment with one, such as "ansi"')
            return None
        if self.render_mode == "rgb_array":
            return board_picture(self.board)
        text = f"score {self._boards.status.scores.item():,}\n{self.board}"
        if self.render_mode == "ansi":
            return text
        print(text)
        return None
