"""A text environment for language models: board as text, move as text, and every move graded by a strong player."""

import re
import string
from typing import SupportsFloat

import gymnasium
from gymnasium import spaces

from tilewright._core.checks import check_choice, check_integer, check_range
from tilewright._core.text import excerpt
from tilewright.agents import make_agent
from tilewright.agents.base import Agent, Player
from tilewright.envs.single import Info, check_options, check_seed
from tilewright.errors import UsageError
from tilewright.games import make_game
from tilewright.games.base import Game, no_move_error
from tilewright.games.board import Board
from tilewright.games.episode import Episode
from tilewright.games.rules import ACTIONS

__all__ = ["TextEnv", "read_move", "write_observation"]

REWARDS = ("regret", "score")
MAX_ANSWER = 1000  # characters that the space of actions allows; longer answers are read, too
MAX_OBSERVATION = 1000
_MOVE = re.compile(rf"\b({'|'.join(ACTIONS)})\b", re.IGNORECASE)


def read_move(answer: str) -> str | None:
    """Return the last word of an answer that is a move; None if there is none.

    >>> read_move("Up would open the corner, so I play **Left**.")
    'left'
    """
    found = _MOVE.findall(answer)
    return found[-1].lower() if found else None


def write_observation(board: Board, score: int) -> str:
    """Write a board as a language model reads it: its rows, its notes, the score and the legal moves.

    >>> print(write_observation(make_game("2048:rows=2,columns=2").parse("2 2 / 0 16"), 4))
     2  2
     . 16
    score: 4
    legal moves: right, down, left
    """
    width = max(len(str(tile)) for row in board.tiles for tile in row)
    rows = [" ".join(f"{tile or '.':>{width}}" for tile in row) for row in board.tiles]
    notes = [f"{name}: {text}" for name, text in board.notes.items()]
    legal = ", ".join(board.game.legal(board)) or "none, the game is over"
    return "\n".join([*rows, *notes, f"score: {score}", f"legal moves: {legal}"])


class TextEnv(gymnasium.Env[str, str]):
    """2048 or Threes in words, for language models.

    ## Observation Space
    `Text`: the rows of the board with `.` for an empty cell, in Threes the hint and the bag, the score, and the legal
    moves.

    ## Action Space
    `Text`: any answer; its last word that is `up`, `right`, `down` or `left`, in any case, is the move. An answer
    without one, or with a move that is not legal, changes nothing.

    ## Rewards
    `reward="regret"`: minus what the move loses against the best move by the values of `teacher`: 0 for the best move,
    negative for others, so that every single move is graded. An invalid answer costs as much as the worst legal move,
    and `penalty` in addition. `reward="score"`: the points of the move, and `-penalty` for an invalid answer.

    ## Episode End
    The episode terminates when no move is legal. It is truncated after `max_invalid_moves` invalid answers in a row.

    ## Information
    `move` (None for an invalid answer), `best`, `regret`, `values` of the teacher for the board before the move,
    `legal` moves now, `score` and `largest` tile.

    >>> env = TextEnv("2048:rows=2,columns=2", teacher="greedy")
    >>> observation, info = env.reset(options={"board": "2 2 / 0 16"})
    >>> observation, reward, terminated, truncated, info = env.step("I slide everything down.")
    >>> reward, info["best"], info["values"]
    (-4.0, 'right', {'right': 4.0, 'down': 0.0, 'left': 4.0})

    ## Version History
    * v0: first version
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game = "2048",
        *,
        teacher: str | Agent = "ntuple",
        reward: str = "regret",
        penalty: float = 100.0,
        max_invalid_moves: int = 10,
        render_mode: str | None = None,
    ) -> None:
        """Make the environment.

        Args:
            game: A spec or a Game.
            teacher: The agent that grades the moves, or its spec.
            reward: regret or score.
            penalty: The cost of an invalid answer.
            max_invalid_moves: The number of invalid answers in a row that truncates the episode; 0 for no limit.
            render_mode: ansi or None.

        Raises:
            UsageError: A value is not allowed.
        """
        check_choice(f"reward={reward!r}", reward, REWARDS)
        check_range(f"penalty={excerpt(penalty)}", penalty, 0, 1_000_000_000)
        check_integer(f"max_invalid_moves={excerpt(max_invalid_moves)}", max_invalid_moves, 0)
        if render_mode is not None:
            check_choice(f"render_mode={render_mode!r}", render_mode, self.metadata["render_modes"])
        self.game, self.teacher = make_game(game), make_agent(teacher)
        self.reward, self.penalty, self.max_invalid_moves = reward, float(penalty), max_invalid_moves
        self.render_mode = render_mode
        self.observation_space = spaces.Text(MAX_OBSERVATION, charset=string.printable)
        self.action_space = spaces.Text(MAX_ANSWER, min_length=0, charset=string.printable)
        self._episode: Episode | None = None
        self._player: Player | None = None
        self._invalid, self._ended = 0, True

    def __getstate__(self) -> dict[str, object]:
        """Leave out the player, whose tables are made again."""
        return {**self.__dict__, "_player": None}

    def reset(self, *, seed: int | None = None, options: dict[str, object] | None = None) -> tuple[str, Info]:
        """Start a new episode.

        Args:
            seed: The seed of this episode; the game is that of `Episode(game, seed)`. By default another game.
            options: `{"board": board}` starts from a board in any form that `Game.parse` reads.

        Returns:
            The first observation and the information.

        Raises:
            UsageError: The seed or the board is impossible, or an option is unknown.
        """
        check_seed(seed)
        start = check_options(options, ("board",)).get("board")
        super().reset(seed=None if seed is None else int(seed))
        game_seed = int(self.np_random.integers(2**62)) if seed is None else int(seed)
        episode = Episode(self.game, game_seed, start=start)
        if episode.is_over:
            raise no_move_error(episode.board)
        self._episode, self._invalid, self._ended = episode, 0, False
        return self._observe(episode), self._info(episode)

    def step(self, action: str) -> tuple[str, SupportsFloat, bool, bool, Info]:
        """Read an answer, make its move, and grade it.

        Args:
            action: The answer of the player.

        Returns:
            The observation, the reward, whether the episode terminates, whether it is truncated, and the information.

        Raises:
            UsageError: The answer is not text, or the episode has ended.
        """
        if self._ended or self._episode is None:
            raise UsageError("the episode has ended, or not begun: call reset() first")
        if not isinstance(action, str):
            raise UsageError(f"action={excerpt(action)}: must be a text that contains a move: {', '.join(ACTIONS)}")
        episode, score = self._episode, self._episode.score
        values = self._values(episode.board)
        move = read_move(action)
        move = move if move in values else None
        best = max(values, key=lambda one: values[one])
        regret = values[best] - (min(values.values()) if move is None else values[move])
        self._invalid = 0 if move is not None else self._invalid + 1
        if move is not None:
            episode.move(move)
        fine = self.penalty if move is None else 0.0
        reward = (-regret if self.reward == "regret" else float(episode.score - score)) - fine
        truncated = bool(self.max_invalid_moves) and self._invalid >= self.max_invalid_moves
        self._ended = episode.is_over or truncated
        info = {"move": move, "best": best, "regret": regret, "values": values, **self._info(episode)}
        return self._observe(episode), reward, episode.is_over, truncated, info

    def _values(self, board: Board) -> dict[str, float]:
        if self._player is None:
            self._player = self.teacher.player(self.game)
        return {move: float(value) for move, value in self._player.analyse(board).values.items()}

    @property
    def board(self) -> Board:
        """The current board."""
        if self._episode is None:
            raise UsageError("the episode has not begun: call reset() first")
        return self._episode.board

    def _observe(self, episode: Episode) -> str:
        return write_observation(episode.board, episode.score)

    def _info(self, episode: Episode) -> Info:
        largest = self.game.largest(episode.board)
        return {"legal": episode.legal, "score": episode.score, "largest": largest}

    def render(self) -> str | None:
        """Return the current observation with render_mode ansi, and None otherwise."""
        return self._observe(self._episode) if self.render_mode == "ansi" and self._episode is not None else None
