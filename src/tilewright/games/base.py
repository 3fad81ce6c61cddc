"""A game as people use it: options in, boards, moves and outcomes out.

A game is one subclass of `Game`: a frozen dataclass whose fields are its options, a NamedTuple of rules for the kernels
(see `rules`), the values of its tiles, and what its text form says beside the tiles.
"""

import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tilewright._core.registry import did_you_mean, option_spec
from tilewright.errors import BoardError, IllegalMoveError, SpecError
from tilewright.games import notation, state_kernels
from tilewright.games.board import Board
from tilewright.games.palette import WARM, Palette
from tilewright.games.rules import ACTIONS, ILLEGAL, Rules, State
from tilewright.rng import Stream, stream_for

__all__ = ["Game"]


@dataclass(frozen=True)
class Game(ABC):
    """The verbs of a game for Python code; every game has `rows` and `columns` among its options."""

    rows: int = 4
    columns: int = 4

    name: ClassVar[str]
    tile_values: ClassVar[tuple[int, ...]]  # by code; code 0 is the empty cell
    palette: ClassVar[Palette] = WARM
    has_hints: ClassVar[bool] = False  # is something of the next tile known?

    def __post_init__(self) -> None:
        for option in ("rows", "columns"):
            self._check(option, 2 <= getattr(self, option) <= 4, "a number from 2 to 4")

    def _check(self, option: str, holds: bool, allowed: str) -> None:
        if not holds:
            raise SpecError(f"game {self.name}, option {option}={getattr(self, option)}: must be {allowed}")

    # What each game says of itself

    @abstractmethod
    def _make_rules(self) -> Rules: ...

    @property
    @abstractmethod
    def win_code(self) -> int | None:
        """The code of the tile that wins, if the game knows winning."""

    def points(self, board: Board) -> int:
        """What the tiles of a board are worth by themselves: the score that a game from this board begins with."""
        return 0

    def high_bits(self, state: State) -> int:
        """The set of cells whose code has a fifth bit."""
        return 0

    def notes(self, board: Board) -> dict[str, str]:
        """What the text form says beside the tiles."""
        return {}

    def parse_notes(self, codes: list[int], notes: Mapping[str, str]) -> int:
        """`State.extra` for a board that was read; `notes` are its `name=text` words."""
        for name in notes:
            raise BoardError(f"{name}=…: a board of {self.name} has no such note")
        return 0

    # Tiles

    def value(self, code: int) -> int:
        """The number on a tile: in 2048, code 11 is the tile 2048."""
        return self.tile_values[code]

    def code(self, value: int) -> int:
        """The code of the tile with that number on it; raises BoardError if there is none."""
        try:
            return self.tile_values.index(value)
        except ValueError:
            tiles = [str(tile) for tile in self.tile_values[1:]]
            raise BoardError(
                f"{notation.excerpt(value)} is no tile of {self.name} (tiles are {', '.join(tiles[:4])}, … {tiles[-1]})"
            ) from None

    def _state(self, board: Board) -> State:
        """What kernels take of a board; raises BoardError for one of another game."""
        if board.game is not self and board.game != self:
            raise BoardError(f"{board!r} is no board of {self.spec}")
        return state_kernels.typed_state(board.state)

    # The verbs

    @property
    def rules(self) -> Rules:
        """What kernels take: made once for equal games."""
        return _rules_of(self)

    @property
    def spec(self) -> str:
        """The text that `make_game` reads: `2048` or `2048:rows=3`."""
        return option_spec(self)

    def start(self, seed: int = 0) -> Board:
        """A first board.

        >>> make_game("2048").start(seed=1).to_json()["board"]
        [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 2, 0], [2, 0, 0, 0]]
        """
        return self.start_from(stream_for(seed))[0]

    def start_from(self, stream: Stream) -> tuple[Board, int]:
        """A first board out of `stream`, and what its tiles are worth."""
        state, reward = state_kernels.start_one(self.rules, stream)
        return Board(self, State(*state)), reward

    def legal(self, board: Board) -> list[str]:
        """The legal moves, in the order up, right, down, left."""
        mask = state_kernels.legal_mask(self.rules, self._state(board))
        return [action for i, action in enumerate(ACTIONS) if mask >> i & 1]

    def is_over(self, board: Board) -> bool:
        """Whether no move is legal."""
        return not self.legal(board)

    def slide(self, board: Board, action: str) -> tuple[Board, int]:
        """Move all tiles: the afterstate, before a new tile comes, and the reward. Raises on an illegal move."""
        state, reward = state_kernels.slide_one(self.rules, self._state(board), action_number(action))
        if reward == ILLEGAL:
            legal = ", ".join(self.legal(board)) or "none: the game is over"
            raise IllegalMoveError(f"{action} moves nothing on {self.text(board)!r}; legal: {legal}")
        return Board(self, State(*state)), reward

    def spawn(self, after: Board, stream: Stream) -> tuple[Board, int]:
        """One random outcome of an afterstate, and what the new tile is worth (nothing in 2048)."""
        self._check_afterstate(after)
        state, reward = state_kernels.spawn_one(self.rules, self._state(after), stream)
        return Board(self, State(*state)), reward

    def outcomes(self, after: Board) -> list[tuple[Board, float]]:
        """All boards that may follow an afterstate, with their probabilities."""
        self._check_afterstate(after)
        into = state_kernels.make_outcomes()
        n = state_kernels.outcomes_one(self.rules, self._state(after), into)
        return [
            (Board(self, State(int(into.cells[i]), int(into.extra[i]))), float(into.probability[i])) for i in range(n)
        ]

    def _check_afterstate(self, after: Board) -> None:
        if all(code for row in after.codes for code in row):
            raise BoardError(f"{self.text(after)!r}: no cell is empty, so no tile can enter")

    def largest(self, board: Board) -> int:
        """The largest tile on the board."""
        return self.value(state_kernels.largest_one(self.rules, self._state(board)))

    def total(self, board: Board) -> int:
        """The sum of all tiles on the board."""
        return int(state_kernels.tile_sum_one(self.rules, self._state(board)))

    def symmetries(self, board: Board) -> list[Board]:
        """The symmetric images, the board itself first: eight on a square board, four on any other."""
        state = self._state(board)
        count = 8 if self.rows == self.columns else 4
        return [Board(self, State(*state_kernels.symmetry_one(self.rules, state, which))) for which in range(count)]

    # Text

    def parse(self, source: Any) -> Board:
        """Read a board: 16 numbers, 16 hexadecimal codes, JSON, or nested lists.

        >>> game = make_game("2048")
        >>> game.parse("1120000000000001") == game.parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
        True
        """
        if isinstance(source, Board):
            return source if source.game == self else self.parse(source.to_json())
        values, notes = notation.read(source, self.rows, self.columns, self.tile_values)
        codes = notation.codes_of_values(values, self.code, self.columns)
        cells = high = 0
        for i, code in enumerate(codes):
            place = 15 - (4 * (i // self.columns) + i % self.columns)
            cells |= (code & 15) << 4 * place
            high |= (code >> 4) << place
        return Board(self, State(cells, high | self.parse_notes(codes, notes)))

    def text(self, board: Board) -> str:
        """The one-line form that `parse` reads: `4 4 0 0 / 0 0 0 0 / …`."""
        return notation.write(board.tiles, self.notes(board))


@functools.lru_cache(maxsize=64)  # rules have tables, and there are more variants than memory
def _rules_of(game: Game) -> Rules:
    return game._make_rules()


def action_number(action: str) -> int:
    """0 to 3 for up, right, down, left."""
    try:
        return ACTIONS.index(action)
    except ValueError:
        raise IllegalMoveError(f"{action!r} is no move{did_you_mean(str(action), ACTIONS)}") from None
