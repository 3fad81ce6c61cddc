"""One game: its board, score and history, with undo."""

from dataclasses import dataclass, field

from tilewright.errors import UsageError
from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.games.board import Board, BoardLike
from tilewright.rng import Stream, stream_for

__all__ = ["Episode", "Turn"]


@dataclass(frozen=True)
class Turn:
    """One move of an episode: the move, and what `undo` restores."""

    board: Board  # before the move
    score: int  # before the move
    action: str
    stream: Stream = field(compare=False, repr=False)  # before the move; it follows from the rest


class Episode:
    """A game from its first board on, or from a given one.

    >>> import tilewright as tw
    >>> episode = tw.Episode("2048", seed=7)
    >>> episode.legal
    ['right', 'down', 'left']
    >>> episode.move("left").score
    4
    >>> len(episode.undo().history)
    0

    Attributes:
        game: The game.
        seed: The seed of its random stream.
        number: The number of the game among those of the seed.
        start: The board that it began with, if one was given.
        board: The board now.
        score: The score now.
        history: The moves so far.
        stream: The random stream of the game, advanced in place; agents may draw from it.
    """

    def __init__(
        self, game: Game | str = "2048", seed: int = 0, number: int = 0, start: BoardLike | None = None
    ) -> None:
        """Begin an episode.

        Args:
            game: A game or its spec.
            seed: A whole number from 0 up.
            number: Game `number` of `seed` is the one that `evaluate` plays.
            start: The board to begin with, in any form that `Game.parse` reads.

        Raises:
            UsageError: There is no such game, or `start` is not a position of it.
        """
        self.game: Game = make_game(game)
        self.seed, self.number = seed, number
        self.stream: Stream = stream_for(seed, number)
        self.start: Board | None = None
        self.history: list[Turn] = []
        self.board: Board
        self.score: int
        if start is None:
            self.board, self.score = self.game.start_from(self.stream)
        else:
            self.start = self.board = self.game.parse_position(start)
            self.score = self.game.board_score(self.board)

    @property
    def legal(self) -> list[str]:
        """The legal moves now; none when the game is over."""
        return self.game.legal(self.board)

    @property
    def is_over(self) -> bool:
        """Whether the game is over: no move is legal."""
        return not self.legal

    @property
    def is_won(self) -> bool:
        """Whether the winning tile is on the board; always False in a game without one."""
        win = self.game.win_code
        return win is not None and self.game.largest(self.board) >= self.game.tile_values[win]

    def move(self, action: str) -> "Episode":
        """Play one move: slide, then add a random tile.

        >>> Episode("2048", seed=7).move("left").move("down").score
        4

        Returns:
            The episode itself.

        Raises:
            IllegalMoveError: The move is not legal; the episode is unchanged.
        """
        before = self.stream.copy()
        after, reward = self.game.slide(self.board, action)
        board, spawn_reward = self.game.spawn(after, self.stream)
        self.history.append(Turn(self.board, self.score, action, before))
        self.board, self.score = board, self.score + reward + spawn_reward
        return self

    def undo(self) -> "Episode":
        """Take back the last move; the same move again adds the same tile.

        >>> episode = Episode("2048", seed=7)
        >>> episode.move("left").undo().score
        0

        Returns:
            The episode itself.

        Raises:
            UsageError: There is no move to take back.
        """
        if not self.history:
            raise UsageError("there is no move to take back")
        turn = self.history.pop()
        self.board, self.score, self.stream = turn.board, turn.score, turn.stream
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Episode):
            return NotImplemented
        mine, theirs = (
            (one.game, one.seed, one.number, one.start, one.board, one.score, one.history) for one in (self, other)
        )
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return f"{self.board}\nscore {self.score:,}, {len(self.history)} moves{', over' if self.is_over else ''}"

    def __repr__(self) -> str:
        state = f"score {self.score:,}, {len(self.history)} moves{', over' if self.is_over else ''}"
        return f"<Episode of {self.game.spec}, seed {self.seed}: {state}>"
