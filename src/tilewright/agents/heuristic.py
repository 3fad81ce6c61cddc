"""`heuristic`: expectimax with a hand-made evaluation; needs no training."""

from dataclasses import dataclass
from typing import ClassVar

from tilewright.agents.search_agent import SearchAgent
from tilewright.games.base import Game
from tilewright.games.policy import Policy
from tilewright.search.afterstate_expectimax import make_afterstate_expectimax
from tilewright.search.expectimax import MAX_DEPTH
from tilewright.search.heuristic import make_heuristic

__all__ = ["HeuristicAgent"]

DEPTHS_BY_TILES = [max(4, min(tiles - 1, MAX_DEPTH)) for tiles in range(17)]
BY_BOARD_PRUNE = 0.005


@dataclass(frozen=True)
class HeuristicAgent(SearchAgent):
    """Searches with hand-made features of lines: `heuristic`, `heuristic:depth=3` or, by time, `heuristic:ms=50`.

    Without `depth`, `ms` and `limits` the depth follows from the board: one less than its number of different tiles, at
    least 4 plies, and less where branches become improbable. Its values only compare moves; they are not points.

    Attributes:
        depth: The depth in plies, where 1 means no search; with `ms`, the largest depth. Without it, the depth follows
            from the board; with `limits` or `prune=0` it is 3.
        prune: Branches less probable than this are evaluated without further search; by default 0.005 where the depth
            follows from the board, and otherwise 0.

    >>> make_agent("heuristic:depth=3").spec
    'heuristic:depth=3'
    """

    name: ClassVar[str] = "heuristic"
    default_depth: ClassVar[None] = None

    def policy(self, game: Game) -> Policy:
        """Return the search over the heuristic."""
        by_board = self.depth is None and self.ms is None and not self.limits
        prune = (BY_BOARD_PRUNE if by_board else 0.0) if self.prune is None else self.prune
        if not prune:
            return self._make_search(make_heuristic(game))
        return make_afterstate_expectimax(
            make_heuristic(game),
            [MAX_DEPTH] if by_board else self._depths(),
            min_probability=prune,
            depths_by_tiles=DEPTHS_BY_TILES if by_board else None,
            milliseconds=self.ms,
            table_megabytes=self.table,
        )
