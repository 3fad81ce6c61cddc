"""One game being played: board, score and history, with undo."""

from dataclasses import dataclass, field

from tilewright.errors import UsageError
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.rng import Stream, stream_for

__all__ = ["Episode", "Turn"]


@dataclass(frozen=True)
class Turn:
    """What a move started from; enough to take it back."""

    board: Board
    score: int
    action: str
    stream: Stream = field(compare=False)  # it follows from the rest, and arrays do not compare to one truth


@dataclass
class Episode:
    """A game from its first board on, or from `start`. Game number `number` of `seed` is the one that `evaluate` plays.

    >>> episode = Episode(make_game("2048"), seed=7)
    >>> episode.move(episode.legal[0]).score
    4
    >>> len(episode.undo().history)
    0
    """

    game: Game
    seed: int = 0
    number: int = 0
    start: Board | None = None
    board: Board = field(init=False)
    score: int = field(init=False)
    history: list[Turn] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._stream = stream_for(self.seed, self.number)
        if self.start is None:
            self.board, self.score = self.game.start_from(self._stream)
        else:
            self.board = self.game.parse(self.start)
            self.score = self.game.points(self.board)

    @property
    def legal(self) -> list[str]:
        return self.game.legal(self.board)

    @property
    def is_over(self) -> bool:
        return not self.legal

    @property
    def is_won(self) -> bool:
        """Whether the winning tile was made; a game without one is never won."""
        win = self.game.win_code
        return win is not None and self.game.largest(self.board) >= self.game.value(win)

    @property
    def stream(self) -> Stream:
        """The game's own random stream, for agents that draw from it."""
        return self._stream

    def move(self, action: str) -> "Episode":
        """Play one move and let the new tile come. An illegal move raises and changes nothing."""
        before = self._stream.copy()
        after, reward = self.game.slide(self.board, action)
        board, gain = self.game.spawn(after, self._stream)
        self.history.append(Turn(self.board, self.score, action, before))
        self.board, self.score = board, self.score + reward + gain
        return self

    def undo(self) -> "Episode":
        """Take the last move back; the same move again brings the same tile."""
        if not self.history:
            raise UsageError("there is no move to take back")
        turn = self.history.pop()
        self.board, self.score, self._stream = turn.board, turn.score, turn.stream
        return self

    def __str__(self) -> str:
        return f"{self.board}\nscore {self.score:,}, {len(self.history)} moves{', over' if self.is_over else ''}"
