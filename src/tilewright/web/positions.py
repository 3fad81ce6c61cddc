"""Positions of games in requests and answers.

The server keeps no games. A position contains its random stream, in hexadecimal, so a move is a pure function: the same
move from the same position brings the same tile. Game 0 of seed 7 is the one that `evaluate` plays with seed 7.
"""

import re
from dataclasses import dataclass
from functools import cache

import numpy as np

from tilewright._core.text import excerpt
from tilewright.errors import UsageError
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.play.recording import state_text
from tilewright.rng import Stream, stream_for
from tilewright.web.schemas import JsonObject

__all__ = ["Position", "entry_of", "play_move", "read_position", "start_position", "stream_text"]


@dataclass(frozen=True)
class Position:
    """A position of a game.

    Attributes:
        board: The board.
        score: The score so far.
        stream: uint64[2], the random stream from which the next tiles come; never changed in place.
    """

    board: Board
    score: int
    stream: Stream

    def to_json(self) -> JsonObject:
        """Return the fields of `PositionAnswer`."""
        game, board = self.board.game, self.board
        legal, win = game.legal(board), game.win_code
        largest = game.largest(board)
        return {
            "game": game.spec,
            "board": board.tiles,
            "code": state_text(game, board.state),
            "text": game.text(board),
            "notes": board.notes,
            "score": self.score,
            "legal": legal,
            "over": not legal,
            "won": win is not None and largest >= game.value(win),
            "largest": largest,
            "stream": stream_text(self.stream),
        }


def stream_text(stream: Stream) -> str:
    """Write the state of a stream as 32 hexadecimal digits.

    >>> stream_text(np.array([1, 255], np.uint64))
    '000000000000000100000000000000ff'
    """
    return "".join(f"{int(word):016x}" for word in stream)


def _read_stream(text: str) -> Stream:
    if not re.fullmatch(r"[0-9a-f]{32}", text):
        raise UsageError(f"stream={excerpt(text)}: must be 32 hexadecimal digits, as in a position of this server")
    return np.array([int(text[:16], 16), int(text[16:], 16)], np.uint64)


@cache
def _default_stream() -> Stream:
    return stream_for(0)


def read_position(game: Game, board: str, score: int | None = None, stream: str | None = None) -> Position:
    """Return the position of a request.

    Args:
        game: The game.
        board: Any text that is a board of the game.
        score: The score so far; by default that of a game which begins with this board.
        stream: The random stream as `stream_text` writes it; by default always the same one.

    Raises:
        UsageError: One of them is not possible.
    """
    found = game.parse_position(board)
    own_stream = _default_stream() if stream is None else _read_stream(stream)
    return Position(found, game.board_score(found) if score is None else score, own_stream)


def entry_of(move: str, position: Position) -> list[object]:
    """Return [move, board, score, stream, legal moves], the legal moves as their first letters."""
    board = position.board
    legal = "".join(action[0] for action in board.game.legal(board))
    return [move, state_text(board.game, board.state), position.score, stream_text(position.stream), legal]


def start_position(game: Game, seed: int, number: int) -> Position:
    """Return the first position of game `number` of a seed."""
    stream = stream_for(seed, number)
    board, score = game.start_from(stream)
    return Position(board, score, stream)


def play_move(position: Position, move: str) -> tuple[Position, Board]:
    """Play a move.

    Returns:
        The next position, and the afterstate.

    Raises:
        IllegalMoveError: The move changes nothing.
    """
    game, stream = position.board.game, position.stream.copy()
    after, reward = game.slide(position.board, move)
    board, spawn_reward = game.spawn(after, stream)
    return Position(board, position.score + reward + spawn_reward, stream), after
