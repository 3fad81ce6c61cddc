"""`minimax`: α-β against an adversary who places the worst tile."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from tilewright._core.options import Range
from tilewright.agents.base import Agent
from tilewright.errors import SpecError
from tilewright.games.base import Game
from tilewright.search.clock import MAX_MS, MIN_MS
from tilewright.search.heuristic import make_heuristic
from tilewright.search.minimax import MAX_DEPTH, Minimax, make_minimax

__all__ = ["MinimaxAgent"]


@dataclass(frozen=True)
class MinimaxAgent(Agent):
    """Searches to a depth or for a time; the value of a move is its worst case at the last completed depth.

    Attributes:
        depth: The number of moves to look ahead; 3 where no time is given.
        ms: The time for a move in milliseconds.

    >>> make_agent("minimax", ms=100).spec
    'minimax:ms=100'
    """

    depth: Annotated[int | None, Range(1, MAX_DEPTH)] = None
    ms: Annotated[int | float | None, Range(MIN_MS, MAX_MS)] = None

    name: ClassVar[str] = "minimax"
    default_depth: ClassVar[int] = 3

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        if self.depth is not None and self.ms is not None:
            raise SpecError(f"agent minimax: give depth={self.depth} or ms={self.ms}, not both")

    def policy(self, game: Game) -> Minimax:
        """Return the search over the heuristic."""
        evaluator = make_heuristic(game)
        if self.ms is not None:
            return make_minimax(evaluator, milliseconds=self.ms)
        return make_minimax(evaluator, depth=self.depth or self.default_depth)
