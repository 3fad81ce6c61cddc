"""`uct`: Monte Carlo tree search with chance nodes."""

import math
from dataclasses import dataclass
from typing import ClassVar

from tilewright.agents.rollout_agent import RolloutAgent
from tilewright.games.base import Game
from tilewright.search.mcts import Uct, make_uct

__all__ = ["UctAgent"]

MAX_C = 1000.0


@dataclass(frozen=True)
class UctAgent(RolloutAgent):
    """Grows a tree by `rollouts` rollouts a move; the value of a move is the mean of its rollouts.

    Attributes:
        c: The weight of exploration against exploitation: 0 only exploits, 100 is flat Monte Carlo.

    >>> board = make_game("2048").parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
    >>> sorted(make_agent("uct:rollouts=100").values(board))
    ['down', 'left', 'right', 'up']
    """

    rollouts: int = 1000
    c: float = 2.0

    name: ClassVar[str] = "uct"
    min_rollouts: ClassVar[int] = 4  # each legal move is tried once
    max_rollouts: ClassVar[int] = 1_000_000

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        self._check("c", math.isfinite(self.c) and 0 <= self.c <= MAX_C, f"must be from 0 to {MAX_C:,.0f}")

    def policy(self, game: Game) -> Uct:
        """Return the search."""
        return make_uct(self._make_rollouts(game), self.rollouts, float(self.c))
