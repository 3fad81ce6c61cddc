"""What agents that search by expectimax have in common: how deep, how long, how wide."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from tilewright.agents.base import Agent, values_by_action
from tilewright.agents.lowering import downgrade_board, with_downgrading
from tilewright.errors import SpecError
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.policy import Policy
from tilewright.games.state_kernels import typed_state
from tilewright.ntuple.model import Model
from tilewright.rng import Stream
from tilewright.search.evaluator import Evaluator
from tilewright.search.expectimax import DEEPEST, Expectimax, make_expectimax, think_once

__all__ = ["SearchingAgent"]

LARGEST_TABLE = 4_096  # megabytes
LONGEST_THOUGHT = 3_600_000  # milliseconds


@dataclass(frozen=True)
class SearchingAgent(Agent):
    """Expectimax with some leaf; the value of a move is what the search found, `depth` plies deep (1 is no search)."""

    depth: int | None = None  # plies; with `ms` the most that are tried
    ms: float | None = None  # milliseconds a move: deepens ply by ply until they are over
    limits: str = ""  # depths for boards with 0, 1, 2, … empty cells, like 6-5-4; `depth` is for all that follow
    prune: float = 0.0  # branches less probable than this are judged at once
    table: float = 0.5  # megabytes of the transposition table; more serves a depth of four and beyond

    usual_depth: ClassVar[int] = 2

    def __post_init__(self) -> None:
        self._check("depth", self.depth is None or 1 <= self.depth <= DEEPEST, f"must be 1 to {DEEPEST}")
        possible = self.ms is None or 0 < self.ms <= LONGEST_THOUGHT
        self._check("ms", possible, f"must be above 0 and at most {LONGEST_THOUGHT:,}")
        self._check("prune", 0 <= self.prune < 1, "must be a probability: at least 0, below 1")
        self._check("table", 0 <= self.table <= LARGEST_TABLE, f"must be 0 to {LARGEST_TABLE:,} megabytes")
        if self.limits and self.ms is not None:
            raise SpecError(f"agent {self.name}: limits and ms cannot be given together")
        self._depths()

    def _depths(self) -> list[int]:
        """How deep boards with 0, 1, 2, … empty cells are searched; the last is for all that follow."""
        usual = DEEPEST if self.ms is not None else self.usual_depth
        depth = usual if self.depth is None else self.depth
        words = self.limits.split("-") if self.limits else []
        depths = all(word.isdecimal() and 1 <= int(word) <= DEEPEST for word in words)
        self._check("limits", depths and len(words) <= 16, f"must be at most 16 depths of 1 to {DEEPEST}, like 6-5-4")
        return [*map(int, words), depth]

    @abstractmethod
    def evaluator(self, game: Game) -> Evaluator:
        """What judges the boards at the end of the search, with room of its own: one for every thread."""

    def trained(self, game: Game) -> Model | None:
        """The network that judges, if one does: what it does not know is searched as a smaller board."""
        return None

    def policy(self, game: Game) -> Policy:
        model = self.trained(game)
        return with_downgrading(self._search(game), model) if model else self._search(game)

    def _search(self, game: Game) -> Expectimax:
        return make_expectimax(
            self.evaluator(game),
            self._depths(),
            milliseconds=self.ms or 0.0,
            least_probability=self.prune,
            table_megabytes=self.table,
        )

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        search, model = self._search(board.game), self.trained(board.game)
        state = downgrade_board(board, model) if model else typed_state(board.state)
        think_once(search, board.game.rules, state)
        return values_by_action(search.q_values)
