"""`heuristic`: expectimax with a hand-made evaluation; needs no training."""

from dataclasses import dataclass
from typing import ClassVar

from tilewright.agents.search_agent import SearchAgent
from tilewright.games.base import Game
from tilewright.games.policy import Policy
from tilewright.search.heuristic import make_heuristic

__all__ = ["HeuristicAgent"]


@dataclass(frozen=True)
class HeuristicAgent(SearchAgent):
    """Searches with hand-made features of lines: `heuristic:depth=3` or, by time, `heuristic:ms=50`.

    Its values only compare moves; they are no points.
    """

    name: ClassVar[str] = "heuristic"
    default_depth: ClassVar[int] = 3

    def policy(self, game: Game) -> Policy:
        """Return the search over the heuristic."""
        return self._make_search(make_heuristic(game))
