"""Outlooks: the chances of the next tiles from a position, estimated by games that an agent plays out from there."""

from collections.abc import Callable

import numpy as np

from tilewright.play.statistics import mean_of, rate_of
from tilewright.rng import stream_for
from tilewright.web.agents import WebAgent
from tilewright.web.playback import Playback
from tilewright.web.positions import Position
from tilewright.web.schemas import JsonObject
from tilewright.web.searches import Search

__all__ = ["Outlook"]

_TILES = 4  # the tiles after the largest one whose chances are told


class Outlook:
    """Games that an agent plays out from one position, each with a stream of its own."""

    def __init__(
        self, agent: WebAgent, position: Position, games: int, seed: int, search: Search | None = None
    ) -> None:
        """Put an agent to work; `search` stops it."""
        self._agent, self._position, self._games, self._seed = agent, position, games, seed
        self._playback = Playback(agent, position.board.game, search)
        self._points: list[int] = []
        self._codes: list[int] = []

    @property
    def finished(self) -> int:
        """The number of finished games."""
        return len(self._points)

    def run(self, should_stop: Callable[[], bool], progress: Callable[[], None]) -> None:
        """Play all games.

        Args:
            should_stop: Called between moves; True ends the outlook.
            progress: Called after every game.
        """
        game, start = self._position.board.game, self._position
        while self.finished < self._games:
            position = Position(start.board, start.score, stream_for(self._seed, self.finished))
            while not game.is_over(position.board):
                if should_stop():
                    return
                position, _ = self._playback.advance(position)
            self._points.append(position.score - start.score)
            self._codes.append(game.code(game.largest(position.board)))
            progress()

    def to_json(self) -> JsonObject | None:
        """Return the rates of the next tiles and the further points with 95 % intervals; None before the first game."""
        if not self.finished:
            return None
        game = self._position.board.game
        largest = game.code(game.largest(self._position.board))
        next_codes = range(largest + 1, min(largest + 1 + _TILES, len(game.tile_values)))
        codes = np.array(self._codes)
        rates = {code: rate_of(int((codes >= code).sum()), self.finished) for code in next_codes}
        tiles = {str(game.value(code)): {"rate": rate.value, "ci95": rate.interval} for code, rate in rates.items()}
        points = mean_of(np.array(self._points))
        return {
            "agent": self._agent.spec,
            "games": self.finished,
            "points": {"mean": points.value, "ci95": points.interval},
            "tiles": tiles,
        }
