"""An agent at a game, move by move: it can be shown, and stopped, between any two moves."""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright.agents.base import Agent
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.play.evaluate import Evaluation
from tilewright.web.agents import Player
from tilewright.web.positions import Position, begin

__all__ = ["Made", "Mover", "Series"]

_ROOM = 1024  # moves that are made in one call at most
_PIECE_SECONDS = 0.03


class Made(NamedTuple):
    """A move, and the position it led to."""

    move: str
    position: Position


class Mover:
    """Plays the moves of `evaluate`, some at a time; not to be used by two threads at once."""

    def __init__(self, agent: Agent, game: Game) -> None:
        self._game, self._player = game, agent.player(game)
        self._pace = 1

    def play(self, position: Position, most: int, seconds: float = _PIECE_SECONDS) -> list[Made]:
        """Up to `most` moves, or what can be made in the time, with every position between them."""
        made: list[Made] = []
        deadline = time.monotonic() + seconds
        while len(made) < most:
            stream = position.stream.copy()
            found = self._player.play(position.board, position.score, stream, 1)
            if not found:
                break
            position = Position(Board(self._game, found[0].state), found[0].score, stream)
            made.append(Made(found[0].action, position))
            if time.monotonic() >= deadline:
                break
        return made

    def run_on(self, position: Position, most: int = _ROOM) -> tuple[Position, int]:
        """The position after some moves, about as many as the time of a piece allows, and how many these were."""
        began = time.monotonic()
        stream = position.stream.copy()
        found = self._player.play(position.board, position.score, stream, min(most, self._pace))
        if not found:
            return position, 0
        took = max(time.monotonic() - began, 1e-6)
        self._pace = max(1, min(_ROOM, 2 * self._pace, int(len(found) * _PIECE_SECONDS / took)))
        return Position(Board(self._game, found[-1].state), found[-1].score, stream), len(found)


class Series:
    """Games number 0, 1, … of a seed by one player, as far as they got: what `evaluate` would play on one thread."""

    def __init__(self, player: Player, game: Game, games: int, seed: int) -> None:
        self._player, self._game, self._games, self._seed = player, game, games, seed
        self._mover = Mover(player.agent, game)
        self._scores: list[int] = []
        self._moves: list[int] = []
        self._codes: list[int] = []
        self._seconds = 0.0
        self.position = begin(game, seed, 0)
        self.moves = 0  # of the game under way
        self.is_between = False  # a game has ended, and the next one has not begun

    @property
    def finished(self) -> int:
        return len(self._scores)

    @property
    def is_done(self) -> bool:
        return self.finished == self._games

    def advance(self, most: int = _ROOM) -> bool:
        """Some more moves; says whether a game was finished, and then `next_game` is due."""
        began = time.monotonic()
        self.position, made = self._mover.run_on(self.position, most)
        self._seconds += time.monotonic() - began
        self.moves += made
        if not self._game.is_over(self.position.board):
            return False
        self._scores.append(self.position.score)
        self._moves.append(self.moves)
        self._codes.append(self._game.code(self._game.largest(self.position.board)))
        self.is_between = True
        return True

    def next_game(self) -> None:
        self.position, self.moves = begin(self._game, self._seed, self.finished), 0
        self.is_between = False

    def run(self, until: Callable[[], bool], progress: Callable[[], None]) -> None:
        """Play all games, or until told to stop; `progress` is called after each."""
        while not self.is_done and not until():
            if self.advance():
                progress()
                if not self.is_done:
                    self.next_game()

    def evaluation(self) -> Evaluation:
        """The figures of the games that are finished; there must be one."""
        scores, moves, codes = (_counts(found) for found in (self._scores, self._moves, self._codes))
        return Evaluation(self._player.spec, self._game, self._seed, 1, scores, moves, codes, self._seconds)

    def tiles(self) -> dict[str, int]:
        """How many games ended with which largest tile."""
        codes = sorted(set(self._codes))
        return {str(self._game.value(code)): self._codes.count(code) for code in codes}

    def to_json(self) -> dict[str, object] | None:
        """The figures as `evaluate --json` has them, and the tiles; None before the first game has ended."""
        return self.evaluation().summary() | {"tiles": self.tiles()} if self.finished else None


def _counts(found: list[int]) -> NDArray[np.int64]:
    return np.array(found, np.int64)
