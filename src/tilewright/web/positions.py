"""A game on the wire. The server keeps no games: a position carries its own chance, so a step is a pure function.

`stream` is the state of the game's random stream in hexadecimal: the same move from the same position brings the same
tile, and game 0 of seed 7 is the one that `evaluate --seed 7` plays.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np

from tilewright._core.text import excerpt
from tilewright.errors import SpecError, UsageError
from tilewright.games import GAMES, make_game
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.play.recording import state_text
from tilewright.rng import Stream, stream_for

__all__ = ["Position", "begin", "read_game", "read_position", "step"]

_LARGEST_SCORE = 2**53  # what a number in JSON holds exactly


@dataclass(frozen=True)
class Position:
    """A board, the score so far, and the chance to come."""

    board: Board
    score: int
    stream: Stream

    def to_json(self) -> dict[str, Any]:
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


def stream_text(stream: Iterable[Any]) -> str:
    return "".join(f"{int(word):016x}" for word in stream)


def read_stream(text: str) -> Stream:
    if not re.fullmatch(r"[0-9a-f]{32}", text):
        raise UsageError(f"stream={excerpt(text)}: must be 32 hexadecimal digits, as a position has them")
    return np.array([int(text[:16], 16), int(text[16:], 16)], np.uint64)


@lru_cache(maxsize=256)
def read_game(spec: str, longest: int) -> Game:
    if len(spec) > longest:
        raise SpecError(f"a text of {len(spec):,} characters is no game")
    GAMES.check_imported(spec)
    return make_game(spec)


@cache
def _usual_stream() -> Stream:
    """The chance of a board that comes without; never changed, since every step works on a copy."""
    return stream_for(0)


def read_position(game: Game, board: str, score: int | None = None, stream: str | None = None) -> Position:
    """A position out of its parts; without a score and a stream it is the beginning of a game."""
    found = game.parse_position(board)
    if score is not None and not 0 <= score <= _LARGEST_SCORE:
        raise UsageError(f"score={excerpt(score)}: must be from 0 to 2**53")
    chance = _usual_stream() if stream is None else read_stream(stream)
    return Position(found, game.board_score(found) if score is None else score, chance)


def begin(game: Game, seed: int, number: int) -> Position:
    """Game `number` of `seed`, before its first move."""
    if not 0 <= number < 2**63:
        raise UsageError(f"number={excerpt(number)}: must be a whole number from 0 up")
    stream = stream_for(seed, number)
    board, score = game.start_from(stream)
    return Position(board, score, stream)


def step(position: Position, move: str) -> tuple[Position, Board, int]:
    """One move: the position that came of it, the board before the new tile, and what the move earned."""
    game, stream = position.board.game, position.stream.copy()
    after, reward = game.slide(position.board, move)
    board, gain = game.spawn(after, stream)
    earned = reward + gain
    return replace(position, board=board, score=position.score + earned, stream=stream), after, earned
