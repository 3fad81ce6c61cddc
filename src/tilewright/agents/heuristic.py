"""`heuristic`: expectimax with a hand-made evaluation; needs no training."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from tilewright._core.options import Range
from tilewright.agents.endgames import with_endgames
from tilewright.agents.search_agent import MAX_TABLE, SearchAgent
from tilewright.games.base import Game
from tilewright.games.policy import Policy
from tilewright.games.twenty48 import Twenty48
from tilewright.search.afterstate_expectimax import make_afterstate_expectimax
from tilewright.search.expectimax import MAX_DEPTH
from tilewright.search.heuristic import make_corner_heuristic, make_heuristic

__all__ = ["HeuristicAgent"]

DEPTHS_BY_TILES = [max(4, min(tiles - 1, MAX_DEPTH)) for tiles in range(17)]
# By the number of different tiles, from 0 on: crowded boards are rare, and games end on them.
PRUNES_BY_TILES = [0.01] * 9 + [0.006, 0.002, 0.0007, 0.0005]


@dataclass(frozen=True)
class HeuristicAgent(SearchAgent):
    """Searches with hand-made features of lines: `heuristic`, `heuristic:depth=3` or, by time, `heuristic:ms=50`.

    Without `depth`, `ms` and `limits` the depth follows from the board: one less than its number of different tiles, at
    least 4 plies, and less where branches become improbable. The more different tiles, the less probable a branch may
    be. Its values only compare moves; they are not points.

    Attributes:
        depth: The depth in plies, where 1 means no search; with `ms`, the largest depth. Without it, the depth follows
            from the board; with `limits` or `prune=0` it is 3.
        prune: Branches less probable than this are evaluated without further search; by default 0.01 to 0.0005 where
            the depth follows from the board, and otherwise 0.
        table: The size of the transposition table in megabytes.
        endgames: Files of endgame tables (`solve endgame:…`), with + between them, that correct its values.

    >>> make_agent("heuristic:depth=3").spec
    'heuristic:depth=3'
    """

    table: Annotated[float, Range(0, MAX_TABLE)] = 4
    endgames: str = ""

    name: ClassVar[str] = "heuristic"
    default_depth: ClassVar[None] = None

    def policy(self, game: Game) -> Policy:
        """Return the search over the heuristic, with the endgame tables."""
        by_board = self.depth is None and self.ms is None and not self.limits
        prune: float | list[float] = self.prune or 0.0
        if self.prune is None and by_board:
            prune = PRUNES_BY_TILES
        if not prune:
            return with_endgames(self._make_search(make_heuristic(game)), self.endgames, game)
        search = make_afterstate_expectimax(
            make_corner_heuristic(game) if isinstance(game, Twenty48) else make_heuristic(game),
            [MAX_DEPTH] if by_board else self._depths(),
            min_probability=prune,
            depths_by_tiles=DEPTHS_BY_TILES if by_board else None,
            milliseconds=self.ms,
            table_megabytes=self.table,
        )
        return with_endgames(search, self.endgames, game)
