"""An agent that plays move by move, so that a game can be shown and stopped between any two moves."""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.play.evaluate import Evaluation
from tilewright.web.agents import WebAgent
from tilewright.web.positions import Position, start_position
from tilewright.web.schemas import JsonObject
from tilewright.web.searches import Search

__all__ = ["GameSeries", "Playback", "PlaybackMove"]

_MAX_MOVES = 1024  # of one call
_CALL_SECONDS = 0.03  # about how long one call takes, so that a game can be stopped soon


class PlaybackMove(NamedTuple):
    """A move, and the position that it leads to."""

    move: str
    position: Position


class Playback:
    """An agent at work on one game, which plays some moves at a time: those of `evaluate`.

    It has a player of its own, so that a model that changes meanwhile does not change the game. Use it on one thread at
    a time.
    """

    def __init__(self, agent: WebAgent, game: Game, search: Search | None = None) -> None:
        """Put an agent to work; `search` stops it."""
        self._agent, self._game, self._search = agent, game, search or agent.new_search()
        with agent.reporting_failures():
            self._player = agent.agent.player(game)
        self._moves_per_call = 1

    def play(self, position: Position, max_moves: int, seconds: float = _CALL_SECONDS) -> list[PlaybackMove]:
        """Play on from a position, and return every position on the way.

        Returns:
            The moves: none only if the game is over, and fewer than `max_moves` when the time is up.
        """
        moves: list[PlaybackMove] = []
        deadline = time.monotonic() + seconds
        while len(moves) < max_moves:
            _, move, position = self._play(position, 1)
            if move is None:
                break
            moves.append(PlaybackMove(move, position))
            if time.monotonic() >= deadline:
                break
        return moves

    def advance(self, position: Position, max_moves: int = _MAX_MOVES) -> tuple[Position, int]:
        """Play on from a position without the positions on the way.

        Returns:
            The last position and the number of moves, which is adapted to the speed of the agent.
        """
        started = time.monotonic()
        count, _, position = self._play(position, min(max_moves, self._moves_per_call))
        seconds = max(time.monotonic() - started, 1e-6)
        target = int(count * _CALL_SECONDS / seconds)
        self._moves_per_call = max(1, min(_MAX_MOVES, 2 * self._moves_per_call, target))
        return position, count

    def _play(self, position: Position, max_moves: int) -> tuple[int, str | None, Position]:
        """Return the number of moves, the last move and the last position."""
        stream = position.stream.copy()
        with self._agent.reporting_failures(), self._search.using(self._player):
            moves = self._player.play(position.board, position.score, stream, max_moves)
        self._agent.note_done(self._game, "play")
        if not moves:
            return 0, None, position
        last = moves[-1]
        return len(moves), last.action, Position(Board(self._game, last.state), last.score, stream)


class GameSeries:
    """The games number 0, 1, … of a seed: those that `evaluate` plays on one thread, with results at any time.

    Attributes:
        position: The position of the current game.
        moves: The number of moves of the current game.
        is_between: Whether a game is over and the next one has not started.
    """

    def __init__(self, agent: WebAgent, game: Game, games: int, seed: int, search: Search | None = None) -> None:
        """Start the first of the games; `search` stops them."""
        self._agent, self._game, self._games, self._seed = agent, game, games, seed
        self._playback = Playback(agent, game, search)
        self._scores: list[int] = []
        self._moves: list[int] = []
        self._codes: list[int] = []
        self._seconds = 0.0
        self.position = start_position(game, seed, 0)
        self.moves = 0
        self.is_between = False

    @property
    def finished(self) -> int:
        """The number of finished games."""
        return len(self._scores)

    def scores(self, first: int) -> list[int]:
        """Return the scores of the finished games from number `first` on."""
        return self._scores[first:]

    @property
    def is_done(self) -> bool:
        """Whether all games are finished."""
        return self.finished == self._games

    def advance(self, max_moves: int = _MAX_MOVES) -> bool:
        """Play some moves of the current game.

        Returns:
            Whether the game is over; then call `next_game`, unless it was the last one.
        """
        started = time.monotonic()
        self.position, count = self._playback.advance(self.position, max_moves)
        self._seconds += time.monotonic() - started
        self.moves += count
        if not self._game.is_over(self.position.board):
            return False
        self._scores.append(self.position.score)
        self._moves.append(self.moves)
        self._codes.append(self._game.code(self._game.largest(self.position.board)))
        self.is_between = True
        return True

    def next_game(self) -> None:
        """Start the next game."""
        self.position, self.moves = start_position(self._game, self._seed, self.finished), 0
        self.is_between = False

    def run(self, should_stop: Callable[[], bool], progress: Callable[[], None]) -> None:
        """Play all games.

        Args:
            should_stop: Called between moves; True ends the series.
            progress: Called after every game.
        """
        while not self.is_done and not should_stop():
            if self.advance():
                progress()
                if not self.is_done:
                    self.next_game()

    def evaluation(self) -> Evaluation:
        """Return the evaluation of the finished games, of which there must be one."""
        scores, moves, codes = (_array(counts) for counts in (self._scores, self._moves, self._codes))
        return Evaluation(self._agent.spec, self._game, self._seed, 1, scores, moves, codes, self._seconds)

    def tiles(self) -> dict[str, int]:
        """Return the number of games by the largest tile at their end."""
        codes = sorted(set(self._codes))
        return {str(self._game.value(code)): self._codes.count(code) for code in codes}

    def to_json(self) -> JsonObject | None:
        """Return the results of `evaluate` and the tiles; None before the first game is finished."""
        return {**self.evaluation().summary(), "tiles": self.tiles()} if self.finished else None


def _array(counts: list[int]) -> NDArray[np.int64]:
    return np.array(counts, np.int64)
