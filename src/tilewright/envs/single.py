"""One board as a Gymnasium environment."""

from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from tilewright._core.checks import check_choice
from tilewright.envs.batch import BatchedGames
from tilewright.envs.observations import Encoder, OneHotEncoder, observation_shape
from tilewright.envs.options import EnvOptions, RewardFunction
from tilewright.envs.render import render_rgb
from tilewright.errors import UsageError
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.rules import State

__all__ = ["BoardEnv", "observation_space"]

Observation = NDArray[np.uint8]
Info = dict[str, Any]


def observation_space(game: Game, encoder: Encoder) -> spaces.Space[Observation]:
    """Return the space of the observations that an encoder makes of a game."""
    highest = 1 if isinstance(encoder, OneHotEncoder) else len(game.tile_values) - 1
    return spaces.Box(0, highest, observation_shape(encoder), np.uint8)


class BoardEnv(gymnasium.Env[Observation, np.int64]):
    """2048 or Threes on one board.

    ## Description
    Each move slides all tiles in one of four directions and merges tiles where the rules allow it. Then a new tile
    appears.

    ## Action Space
    `Discrete(4)`: 0 up, 1 right, 2 down, 3 left. A move that would change nothing is invalid and leaves the board as it
    is. `info["action_mask"]` marks the valid moves.

    ## Observation Space
    | `observation` | space | content |
    | --- | --- | --- |
    | `"grid"` | `Box(0, 17, (4, 4), uint8)` | exponents, 0 for an empty cell; in Threes codes up to 15 |
    | `"onehot"` | `Box(0, 1, (16, 4, 4), uint8)` | plane c is 1 where the exponent is c |
    | `"lookahead1"` | `Box(0, 17, (5, 4, 4), uint8)` | the grid, and its four afterstates |
    | `"lookahead2"` | `Box(0, 17, (21, 4, 4), uint8)` | the same, and the sixteen boards after two moves |

    The afterstate of an invalid move is all zero. In Threes, a grid has a fifth row that holds the hint of the next
    tile in each of its cells: 1, 2, 3, or 4 for any bonus tile.

    ## Rewards
    | `reward` | reward of a valid move |
    | --- | --- |
    | `"score"` | its points: in 2048 the sum of the merged tiles, in Threes the increase of the board's score |
    | `"log2"` | the logarithm of the points; 0 for no points |
    | a function | the result of `function(points, before, after)` for arrays of n points and n grids |

    The reward of an invalid move is `-penalty`.

    ## Starting State
    A start board of the game: two tiles in 2048 (`game="2048:start_tiles=1"` for one), nine tiles in Threes.

    ## Episode End
    The episode terminates when no move is valid, with probability `end_probability` after an invalid move, and when
    more than `end_fraction` of its moves are invalid (and, with `end_after`, more moves than that). It is never
    truncated.

    ## Information
    | key | content |
    | --- | --- |
    | `action_mask` | `int8[4]`, 1 where a move is valid; `env.action_space.sample(mask)` accepts it |
    | `score` | the score of the game so far |
    | `largest` | the largest tile; only at the end of an episode |

    ## Arguments
    `game`: a spec such as `"2048:rows=3,columns=3"`, or a Game. `observation`, `reward`, `penalty`, `end_probability`,
    `end_fraction`, `end_after`: as above. `render_mode`: `"human"` (prints to the terminal), `"ansi"` (text) or
    `"rgb_array"`.

    ```python
    import gymnasium, tilewright.envs
    env = gymnasium.make("tilewright/2048-v0", observation="onehot", penalty=32, end_fraction=0.1)
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
        reward: str | RewardFunction = "score",
        penalty: float = 0.0,
        end_probability: float = 0.0,
        end_fraction: float = 0.0,
        end_after: int = 0,
        render_mode: str | None = None,
    ) -> None:
        """Make the environment.

        Args:
            game: A spec or a Game.
            observation: The encoding of the board.
            reward: The reward of a valid move.
            penalty: The cost of an invalid move.
            end_probability: The probability that an invalid move ends the episode.
            end_fraction: The largest allowed fraction of invalid moves; 0 for no limit.
            end_after: The number of invalid moves up to which their fraction does not end an episode.
            render_mode: human, ansi, rgb_array or None.

        Raises:
            UsageError: A value is not allowed.
        """
        if render_mode is not None:
            check_choice(f"render_mode={render_mode!r}", render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        options = EnvOptions(game, observation, reward, penalty, end_probability, end_fraction, end_after)
        self._games = BatchedGames(options, 1)
        self._result, self._action = self._games.make_result(), np.zeros(1, np.int64)
        self._shape = self._games.observation_shape
        self._seeded = False
        self.game = self._games.game
        self.action_space = spaces.Discrete(4)
        self.observation_space = observation_space(self.game, self._games.encoder)

    def reset(self, *, seed: int | None = None, options: dict[str, object] | None = None) -> tuple[Observation, Info]:
        """Start a new episode.

        Args:
            seed: The seed of this episode and of those that follow; by default the random stream continues.
            options: Not used.

        Returns:
            The first observation and the information.
        """
        super().reset(seed=seed)
        if seed is not None or not self._seeded:
            self._games.seed(0, int(self.np_random.integers(2**62)) if seed is None else seed)
            self._seeded = True
        result = self._games.reset(self._result)
        if self.render_mode == "human":
            self.render()
        return result.observations.reshape(self._shape).copy(), self._info()

    def step(self, action: np.int64) -> tuple[Observation, SupportsFloat, bool, bool, Info]:
        """Make a move.

        Args:
            action: 0 up, 1 right, 2 down, 3 left.

        Returns:
            The observation, the reward, whether the episode terminates, False (it is never truncated), and the
            information.

        Raises:
            UsageError: The action is not a number from 0 to 3.
        """
        try:
            if not 0 <= action <= 3:
                raise _bad_action(action)
            self._action[0] = action
        except TypeError:
            raise _bad_action(action) from None
        result, terminated = self._games.step(self._action, self._result)
        info = self._info()
        if terminated:
            info["largest"] = self.game.value(int(result.largest_codes[0]))
        if self.render_mode == "human":
            self.render()
        return result.observations.reshape(self._shape).copy(), result.rewards.item(), terminated, False, info

    def _info(self) -> Info:
        return {"action_mask": self._result.action_masks[0].copy(), "score": self._result.scores.item()}

    @property
    def board(self) -> Board:
        """The current board."""
        state = self._games.state
        return Board(self.game, State(state.cells.item(), state.extra.item()))

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the valid moves as bool[4], under the name that MaskablePPO of sb3-contrib uses."""
        return self._result.action_masks[0].astype(np.bool_)

    def render(self) -> NDArray[np.uint8] | str | None:
        """Render the current board.

        Returns:
            Text (ansi), uint8[height, width, 3] (rgb_array), or None (human prints to the terminal).
        """
        if self.render_mode is None:
            gymnasium.logger.warn('render() needs a render_mode: make the environment with one, such as "ansi"')
            return None
        if self.render_mode == "rgb_array":
            return render_rgb(self.board)
        text = f"score {self._games.state.scores.item():,}\n{self.board}"
        if self.render_mode == "ansi":
            return text
        print(text)
        return None


def _bad_action(action: object) -> UsageError:
    return UsageError(f"action={action}: must be a number from 0 to 3")
