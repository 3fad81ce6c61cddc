"""What is to be solved: a game of 2048, what counts, and where walls stand."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tilewright._core.text import excerpt
from tilewright.errors import UsageError
from tilewright.exact.kernels import Space
from tilewright.exact.walls import WALL_CODE, wall_tables
from tilewright.games import make_known_game
from tilewright.games.base import Game
from tilewright.games.bitboard import board_mask
from tilewright.games.rules import State, typed_state
from tilewright.games.state_kernels import symmetry_one
from tilewright.games.twenty48 import Twenty48

__all__ = ["Problem", "as_twenty48", "rules_spec"]

_SMALLEST_GOAL = 8
_LARGEST_GOAL = 8192  # beyond it no table fits, and rewards would not fit the tables of lines


@dataclass(frozen=True)
class Problem:
    """A game to be solved.

    Without a goal, the value of a state is the largest expected further score. With a goal, it is the largest
    probability of ever making a tile of that value.

    Attributes:
        game: The game: 2048 or a variant of it.
        goal: The tile to make; None for the expected score.
        walls: The cells with walls, as a 16-bit set (see `games.bitboard`); 0 for a board without walls.
        name: What the problem is called, where it has a name of its own.
    """

    game: Twenty48
    goal: int | None = None
    walls: int = 0
    name: str = ""

    def __post_init__(self) -> None:
        if self.goal is not None:
            self._check_goal(self.goal)

    def _check_goal(self, goal: object) -> None:
        tiles = self.game.tile_values
        if isinstance(goal, bool) or goal not in tiles[1:]:
            raise UsageError(f"goal={excerpt(goal)}: must be a tile of 2048, such as 64 or 512")
        if goal < _SMALLEST_GOAL:
            raise UsageError(
                f"goal={goal}: must be at least {_SMALLEST_GOAL}, because smaller tiles appear by themselves"
            )
        if goal > 2**self.largest_code:
            where = f"{self.cells} free cells" if self.walls else f"a board of {self.game.rows}x{self.game.columns}"
            raise UsageError(f"goal={goal}: cannot be made; the largest tile on {where} is {2**self.largest_code:,}")
        if goal > _LARGEST_GOAL:
            raise UsageError(f"goal={goal}: must be at most {_LARGEST_GOAL:,}; no table of a larger goal could be kept")

    @property
    def cells(self) -> int:
        """The number of cells without walls."""
        return self.game.rows * self.game.columns - self.walls.bit_count()

    @property
    def largest_code(self) -> int:
        """The code of the largest tile that can be made: one tile fills every other cell with the next smaller one."""
        return self.cells + (self.game.four > 0)

    @property
    def is_score(self) -> bool:
        """Whether values are expected scores, and not probabilities."""
        return self.goal is None

    @property
    def unit(self) -> str:
        """What a value is, in words."""
        return "expected further score" if self.goal is None else f"probability of making a {self.goal}"

    @property
    def title(self) -> str:
        """The problem in a few words."""
        goal = "" if self.goal is None else f" to {self.goal}"
        return self.name or f"{self.game.spec}{goal}"

    @cached_property
    def space(self) -> Space:
        """The problem as kernels see it."""
        rules = self.game.rules
        moves, offsets = rules.moves, rules.offsets
        if self.walls:
            moves, offsets = wall_tables(moves, offsets, rules.rows, rules.columns, cascade=self.game.cascade)
        return Space(
            moves,
            offsets,
            np.uint64(int(board_mask(self.game.rows, self.game.columns)) & ~_nibbles(self.walls, 1)),
            np.uint64(_nibbles(self.walls, WALL_CODE)),
            self._symmetries(),
            self.game.rows,
            self.game.columns,
            0 if self.goal is None else self.game.code(self.goal),
            float(self.game.four),
        )

    def _symmetries(self) -> int:
        """The symmetries that leave the walls where they are: bit `which` is set for symmetry number `which`."""
        count = 8 if self.game.rows == self.game.columns else 4
        walls = typed_state(State(np.uint64(_nibbles(self.walls, WALL_CODE)), np.uint64(0)))
        images = [symmetry_one(self.game.rules, walls, which)[0] for which in range(count)]
        return sum(1 << which for which, image in enumerate(images) if image == walls.cells)

    def to_metadata(self) -> dict[str, str]:
        """What identifies the problem, as text."""
        return {
            "game": rules_spec(self.game),
            "goal": str(self.goal or 0),
            "walls": f"{self.walls:04x}",
            "name": self.name,
        }

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, str]) -> "Problem":
        """Read what `to_metadata` wrote.

        Raises:
            KeyError: Something is missing.
            ValueError: Something is not a problem.
        """
        game = as_twenty48(make_known_game(metadata["game"]))
        if not re.fullmatch("[0-9a-f]{4}", metadata["walls"]):
            raise ValueError(f"{excerpt(metadata['walls'])} is not a set of walls")
        return cls(game, int(metadata["goal"]) or None, int(metadata["walls"], 16), metadata["name"])


def rules_spec(game: Twenty48) -> str:
    """The spec of a game without what does not change its moves: the tile that wins."""
    return Twenty48(game.rows, game.columns, game.four, game.start_tiles, cascade=game.cascade).spec


def as_twenty48(game: Game) -> Twenty48:
    """Return the game itself if it can be solved.

    Raises:
        UsageError: It is another game.
    """
    if type(game) is Twenty48:
        return game
    raise UsageError(
        f"{game.spec}: only 2048 and its variants can be solved; in other games a state is more than its tiles"
    )


def _nibbles(cell_set: int, code: int) -> int:
    """A board with the same code in every cell of a set."""
    return sum(code << 4 * place for place in range(16) if cell_set >> place & 1)
