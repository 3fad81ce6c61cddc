"""`minimax`: α-β against an adversary who places the worst tile, to a depth or for a time."""

from dataclasses import dataclass
from typing import ClassVar

from tilewright.agents.base import Agent, values_by_action
from tilewright.errors import SpecError
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.state_kernels import typed_state
from tilewright.rng import Stream
from tilewright.search.heuristic import make_heuristic
from tilewright.search.minimax import MOST_DEPTH, Minimax, look_ahead, make_minimax

__all__ = ["MinimaxAgent"]

USUAL_DEPTH = 3
LONGEST_MS = 3_600_000


@dataclass(frozen=True)
class MinimaxAgent(Agent):
    """The value of a move is what the worst case leaves of it at the last depth completed; see `search.minimax`.

    >>> make_agent("minimax", ms=100).spec
    'minimax:ms=100'
    """

    depth: int | None = None  # moves of the player to look ahead; 3 where no time is given
    ms: int | float | None = None  # milliseconds for a move

    name: ClassVar[str] = "minimax"

    def __post_init__(self) -> None:
        if self.depth is not None and self.ms is not None:
            raise SpecError(f"agent minimax: give depth={self.depth} or ms={self.ms}, not both")
        possible = self.depth is None or 1 <= self.depth <= MOST_DEPTH
        self._check("depth", possible, f"must be a number from 1 to {MOST_DEPTH}")
        possible = self.ms is None or 0 < self.ms <= LONGEST_MS
        self._check("ms", possible, f"must be a time in milliseconds, above 0 and up to {LONGEST_MS}")

    def policy(self, game: Game) -> Minimax:
        evaluator = make_heuristic(game)
        if self.ms is not None:
            return make_minimax(evaluator, milliseconds=self.ms)
        return make_minimax(evaluator, depth=self.depth or USUAL_DEPTH)

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        search = self.policy(board.game)
        look_ahead(search, board.game.rules, typed_state(board.state))
        return values_by_action(search.q_values)
