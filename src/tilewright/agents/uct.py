"""`uct`: Monte Carlo tree search with chance nodes."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from tilewright._core.options import Range
from tilewright.agents.rollout_agent import RolloutAgent
from tilewright.games.base import Game
from tilewright.search.mcts import Uct, make_uct

__all__ = ["UctAgent"]

MIN_ROLLOUTS = 4  # each legal move is tried once


@dataclass(frozen=True)
class UctAgent(RolloutAgent):
    """Grows a tree by `rollouts` rollouts a move; the value of a move is the mean of its rollouts.

    Attributes:
        c: The weight of exploration against exploitation: 0 only exploits, 100 is flat Monte Carlo.

    >>> board = make_game("2048").parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
    >>> sorted(make_agent("uct:rollouts=100").values(board))
    ['down', 'left', 'right', 'up']
    """

    rollouts: Annotated[int, Range(MIN_ROLLOUTS, 1_000_000)] = 1000
    c: Annotated[float, Range(0, 1_000)] = 2.0

    name: ClassVar[str] = "uct"

    def policy(self, game: Game) -> Uct:
        """Return the search."""
        return make_uct(self._make_rollouts(game), self.rollouts, float(self.c))
