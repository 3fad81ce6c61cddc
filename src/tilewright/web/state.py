"""All that one server has: its bounds, its threads, its players, its jobs and its runs."""

from pathlib import Path

from tilewright.games import GAMES, make_game
from tilewright.games.base import Game
from tilewright.web.agents import Player, Players
from tilewright.web.executors import Lane, Lanes
from tilewright.web.jobs import Jobs
from tilewright.web.limits import Limits
from tilewright.web.positions import begin
from tilewright.web.runs import RunShelf

__all__ = ["Site"]


class Site:
    """Made once a server; nothing in it belongs to a visitor but the jobs."""

    def __init__(self, runs: Path, limits: Limits) -> None:
        self.limits = limits
        self.lanes = Lanes(limits)
        self.shelf = RunShelf(runs)
        self.players = Players(self.shelf, limits)
        self.jobs = Jobs(self.lanes.jobs, limits, self.shelf.hide)
        self.sockets = 0  # open ones
        self._warm: set[tuple[str, str]] = set()  # quick players, by the games they have played here

    def is_quick(self, player: Player, game: Game) -> bool:
        """Whether a move takes no time worth speaking of: the first one may load a model and compile kernels."""
        return player.is_quick and (player.spec, game.name) in self._warm

    def has_played(self, player: Player, game: Game) -> None:
        if player.is_quick:
            self._warm.add((player.spec, game.name))

    def lane_of(self, player: Player, game: Game) -> Lane:
        return self.lanes.quick if self.is_quick(player, game) else self.lanes.slow

    def warm_up(self) -> None:
        """Load or compile what the first visitor needs."""
        for name in GAMES.available():
            game = make_game(name)
            position = begin(game, 0, 0)
            position.to_json()
            self.players.make(None, game).agent.values(position.board)

    def close(self) -> None:
        self.jobs.close()
        self.lanes.close()
