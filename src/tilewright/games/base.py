"""The base class of all games: options in; boards, moves and outcomes out.

A game is a subclass of `Game`: a frozen dataclass whose fields are its options, with a NamedTuple of rules for the
kernels (see `rules`), the values of its tiles, and the notes of its text form. For a game of your own, `LineGame` needs
plain Python only.
"""

import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Annotated, ClassVar

import numpy as np

from tilewright._core.checks import Range, check_integer, check_that
from tilewright._core.options import Configurable, check_ranges
from tilewright._core.text import did_you_mean, excerpt
from tilewright.errors import BoardError, IllegalMoveError, SpecError, UsageError
from tilewright.games import GAMES, notation, state_kernels
from tilewright.games.board import Board, BoardLike
from tilewright.games.palette import WARM_PALETTE, Palette
from tilewright.games.rules import ACTIONS, ILLEGAL, MAX_OUTCOMES, Rules, State, make_outcomes, typed_state
from tilewright.games.soundness import Bools, Codes, Words, board_cells, codes_of
from tilewright.rng import Stream, check_stream, stream_for

__all__ = ["Game", "action_number", "check_same_game", "no_move_error"]

_CHECKED_AT_ONCE = 1 << 16  # states


@dataclass(frozen=True)
class Game(Configurable, ABC):
    """A game, such as `make_game("2048")` or `make_game("threes:rows=3")`.

    Methods that take a board accept everything that `parse` reads: a Board, text, nested lists, an array. Moves are
    "up", "right", "down" and "left".

    A move has two halves. `slide` moves the tiles and gives the *afterstate*; `spawn` adds a random tile to it, and
    `outcomes` lists every tile that it might add.

    >>> import tilewright as tw
    >>> game = tw.make_game("2048")
    >>> after, reward = game.slide("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2", "left")
    >>> game.text(after), reward
    ('4 4 0 0 / 0 0 0 0 / 0 0 0 0 / 2 0 0 0', 4)
    >>> board, _ = game.spawn(after, seed=1)
    >>> game.text(board)
    '4 4 0 0 / 0 0 0 0 / 0 0 2 0 / 2 0 0 0'

    Attributes:
        rows: The number of rows, from 2 to 4.
        columns: The number of columns, from 2 to 4.
    """

    rows: Annotated[int, Range(2, 4)] = 4
    columns: Annotated[int, Range(2, 4)] = 4

    name: ClassVar[str]
    tile_values: ClassVar[tuple[int, ...]]  # by code; code 0 is the empty cell
    palette: ClassVar[Palette] = WARM_PALETTE
    has_hints: ClassVar[bool] = False  # whether boards have a hint about the next tile
    can_downgrade: ClassVar[bool] = False  # whether its rules implement tile-downgrading

    def __post_init__(self) -> None:
        check_ranges(self, "game", SpecError)

    def _label(self, option: str) -> str:
        return f"game {self.name}, option {option}={excerpt(getattr(self, option))}"

    def _check_integer(self, option: str, low: int, high: int) -> None:
        check_integer(self._label(option), getattr(self, option), low, high, error=SpecError)

    def _check_that(self, option: str, holds: bool, complaint: str) -> None:
        check_that(holds, self._label(option), complaint, SpecError)

    # What each game defines

    @abstractmethod
    def _make_rules(self) -> Rules:
        """Build the rules for the kernels; called once for equal games."""

    @property
    @abstractmethod
    def win_code(self) -> int | None:
        """The code of the tile that wins the game; None for a game without one."""

    @property
    def max_outcomes(self) -> int:
        """The largest number of outcomes that an afterstate can have: kernels have room for as many.

        A game that adds one tile, and nothing else, need not define it.

        >>> make_game("2048").max_outcomes, make_game("threes").max_outcomes
        (32, 192)
        """
        return self.rows * self.columns * (len(self.tile_values) - 1)

    def are_sound(self, cells: Words, extra: Words, *, after: bool = False) -> Bools:
        """Tell which words of a file are states that kernels may read (see `soundness`).

        >>> game = make_game("2048:rows=2,columns=2")
        >>> game.are_sound(np.array([0x1200_0000_0000_0000, 0x1111], np.uint64), np.zeros(2, np.uint64)).tolist()
        [True, False]

        Args:
            cells: uint64[n], the first words.
            extra: uint64[n], the second words.
            after: Whether they must be afterstates, to which a tile can be added.

        Returns:
            bool[n].
        """
        found, on_board = np.empty(len(cells), np.bool_), board_cells(self.rows, self.columns)
        for begin in range(0, len(cells), _CHECKED_AT_ONCE):
            chunk = slice(begin, begin + _CHECKED_AT_ONCE)
            codes = codes_of(cells[chunk])
            sound = (codes < len(self.tile_values)).all(axis=1) & (codes[:, ~on_board] == 0).all(axis=1)
            found[chunk] = sound & self._is_extra_sound(codes, extra[chunk], after)
        return found

    def _is_extra_sound(self, codes: Codes, extra: Words, after: bool) -> Bools:
        """Tell which second words belong to these codes; by default any does, if a tile can be added."""
        has_room: Bools = (codes[:, board_cells(self.rows, self.columns)] == 0).any(axis=1)
        return has_room if after else np.ones(len(extra), np.bool_)

    def board_score(self, board: BoardLike) -> int:
        """The score of the tiles themselves, with which a game from this board begins.

        >>> make_game("threes").board_score("3 6 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
        12
        """
        self.parse(board)
        return 0

    def high_bits(self, state: State) -> int:
        """The set of cells whose code has a fifth bit, as a 16-bit mask."""
        return 0

    def notes(self, board: Board) -> dict[str, str]:
        """What the text form of a board says besides the tiles."""
        return {}

    def parse_notes(self, codes: list[int], notes: Mapping[str, str]) -> int:
        """Convert the notes of a board to `State.extra`.

        Args:
            codes: The tile codes of the board, row by row.
            notes: The `name=text` words of the board.

        Raises:
            BoardError: A note is unknown or impossible.
        """
        for name in notes:
            raise BoardError(f"{name}=…: a board of {self.name} has no such note")
        return 0

    # Tiles

    def value(self, code: int) -> int:
        """The value of the tile with this code.

        >>> make_game("2048").value(11)
        2048
        """
        check_integer(f"tile code {excerpt(code)}", code, 0, len(self.tile_values) - 1)
        return self.tile_values[code]

    def code(self, value: int) -> int:
        """The code of the tile with this value.

        >>> make_game("2048").code(2048)
        11

        Raises:
            BoardError: The game has no such tile.
        """
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise BoardError(f"{excerpt(value)} is not a whole number")
        try:
            return self.tile_values.index(value)
        except ValueError:
            tiles = [str(tile) for tile in self.tile_values[1:]]
            raise BoardError(
                f"{excerpt(value)} is not a tile of {self.name} (tiles are {', '.join(tiles[:4])}, … {tiles[-1]})"
            ) from None

    # The verbs

    @property
    def rules(self) -> Rules:
        """The rules for the kernels; made once for equal games."""
        return _rules_of(self)

    @property
    def spec(self) -> str:
        """The text from which `make_game` makes an equal game.

        >>> make_game("2048", rows=3).spec
        '2048:rows=3'
        """
        return GAMES.spec_of(self)

    def _state(self, board: BoardLike) -> State:
        return typed_state(self.parse(board).state)

    def start(self, seed: int = 0) -> Board:
        """Draw a first board: the one with which game 0 of `seed` begins.

        >>> make_game("2048").start(seed=1).tiles
        ((0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 2, 0), (2, 0, 0, 0))
        """
        return self.start_from(stream_for(seed))[0]

    def start_from(self, stream: Stream) -> tuple[Board, int]:
        """Draw a first board from a stream, which is advanced in place.

        >>> board, score = make_game("threes").start_from(stream_for(seed=1))
        >>> score
        9

        Returns:
            The board, and the score with which the game begins.
        """
        state, reward = state_kernels.start_one(self.rules, check_stream(stream))
        return Board(self, State(*state)), reward

    def legal(self, board: BoardLike) -> list[str]:
        """List the legal moves, in the order up, right, down, left.

        >>> make_game("2048").legal("2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
        ['right', 'down']
        """
        mask = state_kernels.legal_mask(self.rules, self._state(board))
        return [action for i, action in enumerate(ACTIONS) if mask >> i & 1]

    def is_over(self, board: BoardLike) -> bool:
        """Whether the game is over: no move is legal.

        >>> make_game("2048:rows=2,columns=2").is_over("2 4 / 8 16")
        True

        Raises:
            BoardError: The board has no tiles, so it is not a position of the game.
        """
        return not self.legal(self.parse_position(board))

    def slide(self, board: BoardLike, action: str) -> tuple[Board, int]:
        """Slide all tiles in one direction.

        >>> after, reward = make_game("2048:rows=2,columns=2").slide("2 2 / 4 0", "right")
        >>> after.tiles, reward
        (((0, 4), (0, 4)), 4)

        Returns:
            The afterstate, to which the new tile is not added yet, and the reward.

        Raises:
            IllegalMoveError: The move changes nothing, or there is no such move.
        """
        number = action_number(action)
        board = self.parse(board)
        state, reward = state_kernels.slide_one(self.rules, typed_state(board.state), number)
        if reward == ILLEGAL:
            legal = f"legal: {', '.join(self.legal(board)) or 'none, the game is over'}"
            reason = "the board has no tiles" if board.is_empty else legal
            raise IllegalMoveError(f"{action} moves nothing on {self.text(board)!r}; {reason}")
        return Board(self, State(*state)), reward

    def spawn(self, after: BoardLike, stream: Stream | None = None, *, seed: int | None = None) -> tuple[Board, int]:
        """Add a random tile to an afterstate.

        >>> board, _ = make_game("2048").spawn("4 4 0 0 / 0 0 0 0 / 0 0 0 0 / 2 0 0 0", seed=1)
        >>> board.tiles[2]
        (0, 0, 2, 0)

        Args:
            after: The afterstate.
            stream: The random stream, advanced in place; see `stream_for`.
            seed: Instead of a stream, for a single tile.

        Returns:
            The board with the new tile, and its reward: 0 in 2048, the score of the tile in Threes.

        Raises:
            BoardError: No tile can be added.
            UsageError: Neither a stream nor a seed is given, or both.
        """
        if (stream is None) == (seed is None):
            raise UsageError("spawn needs either a stream or a seed: game.spawn(after, seed=7)")
        stream = stream_for(seed) if seed is not None else check_stream(stream)
        after = self.parse(after)
        self._check_afterstate(after)
        state, reward = state_kernels.spawn_one(self.rules, typed_state(after.state), stream)
        return Board(self, State(*state)), reward

    def outcomes(self, after: BoardLike) -> list[tuple[Board, float]]:
        """List all boards that can follow an afterstate, with their probabilities.

        >>> game = make_game("2048:rows=2,columns=2")
        >>> [(game.text(board), round(probability, 6)) for board, probability in game.outcomes("2 4 / 8 0")]
        [('2 4 / 8 2', 0.9), ('2 4 / 8 4', 0.1)]

        Raises:
            BoardError: No tile can be added.
        """
        after = self.parse(after)
        self._check_afterstate(after)
        into = make_outcomes()
        n = state_kernels.outcomes_one(self.rules, typed_state(after.state), into)
        return [
            (Board(self, State(int(into.cells[i]), int(into.extra[i]))), float(into.probability[i])) for i in range(n)
        ]

    def _check_afterstate(self, after: Board) -> None:
        if all(code for row in after.codes for code in row):
            raise BoardError(f"{self.text(after)!r}: no cell is empty, so no tile can be added")

    def largest(self, board: BoardLike) -> int:
        """The value of the largest tile.

        >>> make_game("2048").largest("2 64 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
        64
        """
        return self.tile_values[state_kernels.largest_one(self.rules, self._state(board))]

    def tile_sum(self, board: BoardLike) -> int:
        """The sum of all tile values.

        >>> make_game("2048").tile_sum("2 64 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
        72
        """
        return int(state_kernels.tile_sum_one(self.rules, self._state(board)))

    def symmetries(self, board: BoardLike) -> list[Board]:
        """List the symmetric boards, the board itself first: eight on a square board, four on any other.

        >>> game = make_game("2048:rows=2,columns=3")
        >>> [game.text(board) for board in game.symmetries("2 4 8 / 0 0 0")]
        ['2 4 8 / 0 0 0', '8 4 2 / 0 0 0', '0 0 0 / 2 4 8', '0 0 0 / 8 4 2']
        """
        state = self._state(board)
        count = 8 if self.rows == self.columns else 4
        return [Board(self, State(*state_kernels.symmetry_one(self.rules, state, which))) for which in range(count)]

    # Text

    def parse(self, source: BoardLike) -> Board:
        """Read a board.

        The forms are: tile values row by row (`.` or 0 is empty; spaces, commas, slashes), one hexadecimal digit of
        tile code for each cell, a link that contains these digits, JSON, nested lists, an array, a Board.

        >>> game = make_game("2048")
        >>> board = game.parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
        >>> board == game.parse("1120000000000001") == game.parse("https://2048verse.com/p/1120000000000001")
        True
        >>> board == game.parse([[2, 2, 4, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2]])
        True

        Raises:
            BoardError: It is not a board of this game; the message names the cell and the reason.
        """
        if isinstance(source, Board):
            return source if source.game is self or source.game == self else self.parse(source.to_json())
        shape = (self.rows, self.columns)
        values, notes = notation.read_board(source, shape, self.tile_values)
        codes = notation.read_codes(values, self.code, shape)
        cells = high = 0
        for i, code in enumerate(codes):
            place = 15 - (4 * (i // self.columns) + i % self.columns)
            cells |= (code & 15) << 4 * place
            high |= (code >> 4) << place
        return Board(self, State(cells, high | self.parse_notes(codes, notes)))

    def parse_position(self, source: BoardLike) -> Board:
        """Read a board from which a game can continue: one that has tiles, and is not an afterstate of Threes.

        >>> make_game("2048:rows=2,columns=2").parse_position("2 0 / 0 0").tiles
        ((2, 0), (0, 0))

        Raises:
            BoardError: It is not such a board.
        """
        board = self.parse(source)
        if board.is_empty:
            raise no_move_error(board)
        if "entry" in self.notes(board):
            raise BoardError("entry=…: this board is an afterstate; give one before the move or after the new tile")
        return board

    def text(self, board: BoardLike) -> str:
        """Write a board on one line, as `parse` reads it.

        >>> make_game("2048").text("1120000000000001")
        '2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2'
        """
        board = self.parse(board)
        return notation.write_board(board.tiles, self.notes(board))


@functools.lru_cache(maxsize=64)  # bounded, because rules contain tables
def _rules_of(game: Game) -> Rules:
    if game.max_outcomes > MAX_OUTCOMES:
        raise SpecError(
            f"game {game.name}: an afterstate has up to {game.max_outcomes:,} outcomes; kernels have room for "
            f"{MAX_OUTCOMES}"
        )
    return game._make_rules()


def action_number(action: str) -> int:
    """The number of a move: 0 to 3 for up, right, down, left.

    Raises:
        IllegalMoveError: There is no such move.
    """
    if not isinstance(action, str) or action not in ACTIONS:
        hint = did_you_mean(action, ACTIONS) if isinstance(action, str) else ""
        raise IllegalMoveError(f"{excerpt(action)} is not a move{hint}; moves are {', '.join(ACTIONS)}")
    return ACTIONS.index(action)


def check_same_game(trained: Game, played: Game) -> None:
    """Check that a model of one game can play another: the same game, or a variant of it, on a board of the same size.

    Games are the same if they have the same name, and the class of one is that of the other or derived from it: a game
    of yours may have the name of any other.

    Raises:
        UsageError: It cannot.
    """
    alike = (trained.name, trained.rows, trained.columns) == (played.name, played.rows, played.columns)
    if not alike or not (_is_a(trained, type(played)) or _is_a(played, type(trained))):
        raise UsageError(f"the model was trained for {trained.spec} and cannot play {played.spec}")


def _is_a(game: Game, kind: type) -> bool:
    """Tell whether a game is of a class, by the name of the class: its module may have been loaded again."""
    wanted = kind.__module__, kind.__qualname__
    return any((base.__module__, base.__qualname__) == wanted for base in type(game).__mro__)


def no_move_error(board: Board) -> UsageError:
    """The error for a board on which no move is legal: the game is over, or the board is not a position at all."""
    if board.is_empty:
        return BoardError(
            f"the board has no tiles, so it is not a position of {board.game.name}; give at least one tile"
        )
    return UsageError(f"the game is over: no move is legal on {board.game.text(board)!r}")
