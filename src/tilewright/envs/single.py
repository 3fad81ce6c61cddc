"""One board as a Gymnasium environment."""

import operator
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from tilewright._core.checks import check_choice, check_integer
from tilewright._core.text import did_you_mean, excerpt
from tilewright.envs.batch import BatchedGames
from tilewright.envs.observations import Encoder, OneHotEncoder, observation_shape
from tilewright.envs.options import EnvOptions, RewardFunction
from tilewright.envs.render import render_rgb
from tilewright.errors import UsageError
from tilewright.games.base import Game, no_move_error
from tilewright.games.board import Board, BoardLike
from tilewright.games.rules import ACTIONS, State

__all__ = ["BoardEnv", "Info", "check_options", "check_seed", "observation_space"]

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
    is. `info["action_mask"]` marks the valid moves; on a board without any, it is all ones.

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
    `reset(options={"board": …})` starts from a board of your own, and `{"board": …, "score": …}` with a score.

    ## Episode End
    The episode terminates when no move is valid, with probability `end_probability` after an invalid move, and when
    more than `end_fraction` of its moves are invalid (and, with `end_after`, more moves than that). It is truncated
    after `max_invalid_moves` invalid moves in a row: a deterministic policy would repeat them for ever. A step after
    the end raises an error.

    ## Information
    | key | content |
    | --- | --- |
    | `action_mask` | `int8[4]`, 1 where a move is valid; `env.action_space.sample(mask)` accepts it |
    | `score` | the score of the game so far |
    | `largest` | the largest tile |

    ## Tree Search
    `outcomes(action)` lists the boards to which a move can lead, with their probabilities; `set_next_board(board)`
    makes the next step lead to one of them. Environments can be copied and pickled, with their random stream.

    ## Arguments
    `game`: a spec such as `"2048:rows=3,columns=3"`, or a Game. `observation`, `reward`, `penalty`, `end_probability`,
    `end_fraction`, `end_after`, `max_invalid_moves`: as above. `render_mode`: `"human"` (prints to the terminal),
    `"ansi"` (text) or `"rgb_array"`.

    ```python
    import gymnasium
    env = gymnasium.make("tilewright.envs:tilewright/2048-v1", observation="onehot", penalty=32, end_fraction=0.1)
    ```

    ## Version History
    * v1: an episode is truncated after 100 invalid moves in a row (`max_invalid_moves`)
    * v0: no such limit
    """

    metadata = {"render_modes": ["human", "ansi", "rgb_array"], "render_fps": 4}  # noqa: RUF012

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
        max_invalid_moves: int = 100,
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
            max_invalid_moves: The number of invalid moves in a row that truncates the episode; 0 for no limit.
            render_mode: human, ansi, rgb_array or None.

        Raises:
            UsageError: A value is not allowed.
        """
        if render_mode is not None:
            check_choice(f"render_mode={render_mode!r}", render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        options = EnvOptions(
            game, observation, reward, penalty, end_probability, end_fraction, end_after, max_invalid_moves
        )
        self._games = BatchedGames(options, 1, every_largest=True)
        self._result, self._action = self._games.make_result(), np.zeros(1, np.int64)
        self._make_views()
        self._seeded, self._ended = False, True
        self._next_board: Board | None = None
        self.game = self._games.game
        self.action_space = spaces.Discrete(4)
        self.observation_space = observation_space(self.game, self._games.encoder)

    def _make_views(self) -> None:
        """Keep views of the arrays that every step overwrites; copies of the environment make their own."""
        self._observation = self._result.observations.reshape(self._games.observation_shape)
        self._mask = self._result.action_masks[0]

    def __getstate__(self) -> dict[str, object]:
        """Leave out the views, which copies would no longer share with their arrays."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_observation", "_mask")}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._make_views()

    def reset(self, *, seed: int | None = None, options: dict[str, object] | None = None) -> tuple[Observation, Info]:
        """Start a new episode.

        Args:
            seed: The seed of this episode and of those that follow; by default the random stream continues.
            options: `{"board": board}` starts from a board in any form that `Game.parse` reads, and `"score"` gives its
                score; by default the board is drawn.

        Returns:
            The first observation and the information.

        Raises:
            UsageError: The seed is not a whole number from 0 up, an option is unknown, or no move is legal on the
                board.
        """
        check_seed(seed)
        chosen = check_options(options, ("board", "score"))
        board = self._read_start(chosen) if "board" in chosen else None
        super().reset(seed=None if seed is None else int(seed))
        if seed is not None or not self._seeded:
            self._games.seed(0, int(self.np_random.integers(2**62)) if seed is None else int(seed))
            self._seeded = True
        self._next_board, self._ended = None, False
        result = self._games.reset(self._result)
        if board is not None:
            self._games.set_state(0, board.state, int(chosen.get("score", self.game.board_score(board))))
            self._games.observe(result)
            result.largest_codes[0] = self.game.code(self.game.largest(board))
        if self.render_mode == "human":
            self.render()
        return self._observation.copy(), self._info()

    def _read_start(self, options: dict[str, Any]) -> Board:
        board = self.game.parse_position(options["board"])
        if not self.game.legal(board):
            raise no_move_error(board)
        if "score" in options:
            check_integer(f"score={excerpt(options['score'])}", options["score"], 0)
        return board

    def step(self, action: np.int64) -> tuple[Observation, SupportsFloat, bool, bool, Info]:
        """Make a move.

        Args:
            action: 0 up, 1 right, 2 down, 3 left.

        Returns:
            The observation, the reward, whether the episode terminates, whether it is truncated, and the information.

        Raises:
            UsageError: The action is not a whole number from 0 to 3, or the episode has ended.
            IllegalMoveError: `set_next_board` was called, and the move changes nothing.
        """
        if self._ended:
            raise UsageError("the episode has ended, or not begun: call reset() first")
        try:
            number = operator.index(action)
        except TypeError:
            raise _bad_action(action) from None
        if not 0 <= number <= 3:
            raise _bad_action(action)
        if self._next_board is not None:
            self._games.choose_outcome(0, number, self._next_board)
            self._next_board = None
        self._action[0] = number
        result, self._ended = self._games.step(self._action, self._result)
        terminated = self._ended and result.terminated.item()
        truncated = self._ended and result.truncated.item()
        if self.render_mode == "human":
            self.render()
        return (
            self._observation.copy(),
            result.rewards.item(),
            terminated,
            truncated,
            self._info(),
        )

    def _info(self) -> Info:
        result = self._result
        return {
            "action_mask": self._mask.copy(),
            "score": result.scores.item(),
            "largest": self.game.tile_values[result.largest_codes.item()],
        }

    def outcomes(self, action: int) -> list[tuple[Board, float]]:
        """List the boards to which a move can lead, with their probabilities.

        >>> env = BoardEnv("2048:rows=2,columns=2")
        >>> _ = env.reset(options={"board": "2 2 / 4 8"})
        >>> [(str(env.game.text(board)), round(probability, 6)) for board, probability in env.outcomes(3)]
        [('4 2 / 4 8', 0.9), ('4 4 / 4 8', 0.1)]

        Raises:
            IllegalMoveError: The move changes nothing.
        """
        after, _ = self.game.slide(self.board, ACTIONS[action])
        return self.game.outcomes(after)

    def set_next_board(self, board: BoardLike) -> None:
        """Make the next step lead to one of the outcomes of its move, instead of a random one.

        The random stream is advanced until it draws this outcome.

        >>> env = BoardEnv("2048:rows=2,columns=2")
        >>> _ = env.reset(options={"board": "2 2 / 4 8"})
        >>> env.set_next_board("4 4 / 4 8")
        >>> observation, *_ = env.step(3)
        >>> observation.tolist()
        [[2, 2], [2, 3]]

        Args:
            board: A board in any form that `Game.parse` reads. The step raises UsageError if it is not among the
                outcomes of its move.
        """
        self._next_board = self.game.parse(board)

    @property
    def board(self) -> Board:
        """The current board."""
        state = self._games.state
        return Board(self.game, State(state.cells.item(), state.extra.item()))

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the valid moves as bool[4], under the name that MaskablePPO of sb3-contrib uses."""
        return self._mask.astype(np.bool_)

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
    return UsageError(f"action={excerpt(action)}: must be a whole number from 0 to 3")


def check_seed(seed: object) -> None:
    """Raise UsageError unless a seed is None or a whole number from 0 up."""
    if seed is not None:
        check_integer(f"seed={excerpt(seed)}", seed, 0)


def check_options(options: dict[str, Any] | None, known: tuple[str, ...]) -> dict[str, Any]:
    """Return the options of a reset, an empty dictionary for None; raise UsageError if one is unknown."""
    for name in options or {}:
        if name not in known:
            raise UsageError(f"reset has no option {name!r}{did_you_mean(str(name), known)}; known: {', '.join(known)}")
    return options or {}
