"""`exact`: perfect play by a table of exact values."""

import time
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Self, TypeAlias

from tilewright.agents.base import Agent, Analysis, PlayedMove, Player
from tilewright.exact.policy import ExactPolicy
from tilewright.exact.table import ExactTable, checked_values, load_table
from tilewright.games.base import Game
from tilewright.games.board import BoardLike
from tilewright.games.policy import act_one
from tilewright.games.rules import typed_state
from tilewright.rng import Stream, new_stream

__all__ = ["ExactAgent", "TableSource", "find_table"]

TableSource: TypeAlias = str | Path | ExactTable  # a file, or a table in memory


def find_table(source: TableSource) -> ExactTable:
    """Return the table of a file, which is read once and shared, or a table as it is.

    Raises:
        FileError: The file cannot be read, is damaged, or is not a table.
    """
    if isinstance(source, ExactTable):
        return source
    return _load(Path(source), _version(source))


def _version(source: TableSource) -> int:
    """Return the time at which the file of a table was last written; 0 for one in memory or without a file."""
    if isinstance(source, ExactTable):
        return 0
    file = Path(source)
    return file.stat().st_mtime_ns if file.exists() else 0


@lru_cache(maxsize=4)
def _load(file: Path, changed: int) -> ExactTable:
    return load_table(file)


@dataclass(frozen=True)
class ExactAgent(Agent):
    """Plays perfectly: the move of the highest exact value, the first of equal ones.

    The value of a move is the expected further score or, if the table has a goal, the probability of making that tile.
    Once the goal is made, every move is worth 1.

    Attributes:
        table: A file that `solve` wrote, or an ExactTable.
    """

    table: TableSource = field(repr=False)

    name: ClassVar[str] = "exact"

    def policy(self, game: Game) -> ExactPolicy:
        """Return the table as a policy.

        Raises:
            FileError: The file of the table cannot be read, is damaged, or is not a table.
            SpecError: The table is of another game.
        """
        table = find_table(self.table)
        table.check_plays(game)
        return table.policy()

    def player(self, game: Game) -> Player:
        """Return the agent at work on `game`."""
        return _ExactPlayer(self, game, self.policy(game), find_table(self.table))

    def loaded(self, game: Game) -> Self:
        """Return the agent with its table in memory."""
        return replace(self, table=find_table(self.table))

    def _model_version(self, game: Game) -> object:
        return _version(self.table)


class _ExactPlayer(Player):
    """A player that refuses boards which its table does not have.

    With an endgame table it has no policy for kernels: a game may leave the pattern of the walls at any move.
    """

    def __init__(self, agent: Agent, game: Game, policy: ExactPolicy, table: ExactTable) -> None:
        super().__init__(agent, game, None if table.problem.walls else policy)
        self._exact, self._is_distilled = policy, table.is_distilled
        self.unit = "points" if table.problem.is_score else "probability"

    def analyse(self, board: BoardLike, stream: Stream | None = None) -> Analysis:
        self._check_stopped()
        self._control.began[0] = 1
        board, began = self.game.parse_position(board), time.perf_counter()
        act_one(self._exact, self.game.rules, typed_state(board.state), new_stream())
        values = checked_values(self._exact, board, is_distilled=self._is_distilled)
        move = max(values, key=lambda action: values[action]) if values else None
        return Analysis(values, move, None, None, time.perf_counter() - began, self.unit)

    def play(self, board: BoardLike, score: int, stream: Stream, max_moves: int) -> list[PlayedMove]:
        if max_moves:
            self.analyse(board)  # if the table has the first board, it has all that follow
        return super().play(board, score, stream, max_moves)
