"""The options that agents with an expectimax search share."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from tilewright._core.options import Range
from tilewright.agents.base import Agent
from tilewright.errors import SpecError
from tilewright.search.clock import MAX_MS, MIN_MS
from tilewright.search.evaluator import Evaluator
from tilewright.search.expectimax import MAX_DEPTH, Expectimax, make_expectimax

__all__ = ["MAX_TABLE", "SearchAgent"]

MAX_TABLE = 4_096  # megabytes
MAX_PRUNE = 0.99  # a branch that is more probable than this counts as certain
MAX_LIMITS = 16  # numbers of empty cells
DEPTH_BESIDE_LIMITS = 3  # of the boards that `limits` does not name, where the depth would follow from the board


@dataclass(frozen=True)
class SearchAgent(Agent):
    """Expectimax with some evaluator; the value of a move is that of the last completed depth.

    Attributes:
        depth: The depth in plies, where 1 means no search; with `ms`, the largest depth.
        ms: The time for a move in milliseconds: the search deepens until it is up.
        limits: Depths for boards with 0, 1, 2, … empty cells, like 6-5-4; `depth` is for all others.
        prune: Branches less probable than this are evaluated without further search; 0, the default, searches all.
        table: The size of the transposition table in megabytes; a larger one helps from depth four on.
    """

    depth: Annotated[int | None, Range(1, MAX_DEPTH)] = None
    ms: Annotated[float | None, Range(MIN_MS, MAX_MS)] = None
    limits: str = ""
    prune: Annotated[float | None, Range(0, MAX_PRUNE)] = None
    table: Annotated[float, Range(0, MAX_TABLE)] = 0.5

    default_depth: ClassVar[int | None] = 2  # None: it follows from the board

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        if self.limits and self.ms is not None:
            raise SpecError(f"agent {self.name}: limits and ms cannot be given together")
        self._depths()

    def _depths(self) -> list[int]:
        """Return the depths for boards with 0, 1, 2, … empty cells; the last one is for all that follow."""
        default = MAX_DEPTH if self.ms is not None else self.default_depth or DEPTH_BESIDE_LIMITS
        depth = default if self.depth is None else self.depth
        words = self.limits.split("-") if self.limits else []
        valid = all(word.isdecimal() and len(word) <= 2 and 1 <= int(word) <= MAX_DEPTH for word in words)
        complaint = f"must be at most {MAX_LIMITS} depths of 1 to {MAX_DEPTH}, like 6-5-4"
        self._check("limits", valid and len(words) <= MAX_LIMITS, complaint)
        return [*map(int, words), depth]

    def _make_search(self, evaluator: Evaluator) -> Expectimax:
        return make_expectimax(
            evaluator,
            self._depths(),
            milliseconds=self.ms,
            min_probability=self.prune or 0.0,
            table_megabytes=self.table,
        )
