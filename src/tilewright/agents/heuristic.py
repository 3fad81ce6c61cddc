"""`heuristic`: expectimax by rules of thumb; needs no training."""

from dataclasses import dataclass
from typing import ClassVar

from tilewright.agents.search_agent import SearchingAgent
from tilewright.games.base import Game
from tilewright.search.heuristic import Heuristic, make_heuristic

__all__ = ["HeuristicAgent"]


@dataclass(frozen=True)
class HeuristicAgent(SearchingAgent):
    """`heuristic:depth=3` or, by time, `heuristic:ms=50`. Its values only compare moves; they are no points."""

    name: ClassVar[str] = "heuristic"
    usual_depth: ClassVar[int] = 3

    def evaluator(self, game: Game) -> Heuristic:
        return make_heuristic(game)
