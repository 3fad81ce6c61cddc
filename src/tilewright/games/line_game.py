"""Games of your own in plain Python: how one line slides, and which tiles are new.

A subclass of `LineGame` defines its tiles, `slide_line` and `spawns`. tilewright calls `slide_line` once for every
possible line and keeps the results in a table, so that kernels play the game at full speed: all agents, training, the
environments, and every command work with it.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Integral, Real
from typing import Annotated, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from tilewright._core.bits import pdep, popcount
from tilewright._core.checks import Range
from tilewright._core.jit import Int, Word, implements
from tilewright._core.text import excerpt
from tilewright.errors import SpecError
from tilewright.games.base import Game
from tilewright.games.bitboard import board_mask, empty_cells, orient, symmetric_cells
from tilewright.games.line_tables import LINES, arrange_tables, join_rows, look_up_rows, rewards_of_rows
from tilewright.games.rules import (
    ILLEGAL,
    LARGEST_NIBBLE,
    LineOffsets,
    LineTable,
    Outcomes,
    State,
    downgrade_to,
    high_bits,
    hint_of,
    largest,
    largest_of_nibbles,
    no_high_bits,
    no_hint,
    not_downgraded,
    outcomes,
    slide,
    spawn,
    start,
    start_with_tiles,
    symmetry,
    tile_sum,
)
from tilewright.games.soundness import Bools, Codes, Words
from tilewright.rng import Stream, below, low_half, next_word

__all__ = ["LineGame", "LineRules"]

u64 = np.uint64
ZERO, ONE = u64(0), u64(1)
MAX_TILES = LARGEST_NIBBLE
MAX_VALUE = 2**31 - 1  # of a tile or the reward of a line, so that no sum overflows
MAX_REWARDS = 2**16  # different ones


class LineRules(NamedTuple):
    """The tables of a `LineGame`."""

    moves: LineTable  # the line after the move | index of its reward << 16
    offsets: LineOffsets
    rewards: NDArray[np.int64]  # int64[n]: the different rewards of a line, the smallest first; the first is 0
    tiles: NDArray[np.int64]  # int64[16]: tile values by code
    spawn_codes: NDArray[np.uint64]  # uint64[k]: the codes of new tiles, the largest first
    spawn_limits: NDArray[np.uint64]  # uint64[k]: code i is the new tile if 32 random bits are below limit i, not i - 1
    board: Word  # the lowest bit of every nibble that is a cell
    start_tiles: int
    rows: int
    columns: int


@implements(slide, LineRules)
def slide_lines(rules: LineRules, state: State, action: Int) -> tuple[State, Int]:
    """Slide by table."""
    cells = orient(state.cells, action)
    a, b, c, d = look_up_rows(rules.moves, rules.offsets[action], cells)
    moved = join_rows(a, b, c, d)
    if moved == cells:
        return state, ILLEGAL
    return State(orient(moved, action), ZERO), rewards_of_rows(rules.rewards, a, b, c, d)


@implements(spawn, LineRules)
def spawn_on_line_board(rules: LineRules, after: State, stream: Stream) -> tuple[State, Int]:
    """Add a random tile to a random empty cell; one random word decides both."""
    word = next_word(stream)
    empty = empty_cells(after.cells, rules.board)
    lowest_bit = pdep(ONE << below(word, popcount(empty)), empty)
    i = 0
    while low_half(word) >= rules.spawn_limits[i]:
        i += 1
    return State(after.cells | (lowest_bit * rules.spawn_codes[i]), ZERO), 0


implements(start, LineRules)(start_with_tiles)
implements(largest, LineRules)(largest_of_nibbles)
implements(downgrade_to, LineRules)(not_downgraded)
implements(hint_of, LineRules)(no_hint)
implements(high_bits, LineRules)(no_high_bits)


@implements(outcomes, LineRules)
def outcomes_of_line_board(rules: LineRules, after: State, into: Outcomes) -> Int:
    """Every new tile in every empty cell: cells from the top left, tiles from the smallest."""
    empty = empty_cells(after.cells, rules.board)
    cells_left = np.float64(popcount(empty))
    n = 0
    for place in range(15, -1, -1):
        lowest_bit = ONE << u64(4 * place)
        if not empty & lowest_bit:
            continue
        for i in range(len(rules.spawn_codes) - 1, -1, -1):
            below_limit = rules.spawn_limits[i] - (rules.spawn_limits[i - 1] if i else ZERO)
            into.cells[n] = after.cells | (lowest_bit * rules.spawn_codes[i])
            into.extra[n] = ZERO
            into.probability[n] = np.float64(below_limit) / 2.0**32 / cells_left
            into.reward[n] = 0
            n += 1
    return n


@implements(symmetry, LineRules)
def symmetry_of_line_board(rules: LineRules, state: State, which: Int) -> State:
    """Transform the nibbles."""
    return State(symmetric_cells(state.cells, which, rules.rows, rules.columns), ZERO)


@implements(tile_sum, LineRules)
def tile_sum_of_line_board(rules: LineRules, state: State) -> Int:
    """The sum of the values of all nibbles."""
    found: Int = 0
    for place in range(16):
        found += rules.tiles[(state.cells >> u64(4 * place)) & u64(15)]
    return found


@dataclass(frozen=True)
class LineGame(Game):
    """Your own game, in plain Python.

    All four moves slide every line of the board by the same rule, `slide_line`, towards the side of the move. Then a
    tile of `spawns` is added to a random empty cell.

    >>> import tilewright as tw
    >>> class Doubling(tw.LineGame):
    ...     tile_values = (2, 4, 8, 16, 32, 64)
    ...     win_tile = 64
    ...
    ...     def slide_line(self, line):
    ...         tiles = [tile for tile in line if tile]
    ...         if len(tiles) > 1 and tiles[0] == tiles[1] < 64:
    ...             tiles[:2] = [2 * tiles[0]]
    ...         return tiles + [0] * (len(line) - len(tiles)), 1 if len(tiles) < sum(map(bool, line)) else 0
    ...
    ...     def spawns(self):
    ...         return {2: 1.0}
    >>> game = Doubling(rows=3, columns=3)
    >>> after, reward = game.slide("2 2 4 / 0 0 0 / 0 0 2", "left")
    >>> after.tiles[0], reward
    ((4, 4, 0), 1)

    The options `rows`, `columns` (2 to 4), `start_tiles` and `win_tile` can be given other defaults in the class, as
    above. Further options are annotated attributes: `bonus: int = 3`. In a file my_games.py, the spec of the game is
    `my_games:Doubling,rows=3`.

    Attributes:
        tile_values: Up to 15 tiles, the smallest first; 0, the empty cell, may be left out.
        start_tiles: The number of tiles on the first board.
        win_tile: The tile that wins the game; None for none.
    """

    start_tiles: Annotated[int, Range(1, 16)] = 2
    win_tile: int | None = None

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        tiles = vars(cls).get("tile_values")
        if isinstance(tiles, Sequence) and not isinstance(tiles, str):
            cls.tile_values = tuple(tiles) if list(tiles[:1]) == [0] else (0, *tiles)

    def __post_init__(self) -> None:
        self._check_tiles()
        super().__post_init__()
        self._check_integer("start_tiles", 1, self.rows * self.columns)
        is_tile = self.win_tile is None or self.win_tile in self.tile_values[1:]
        self._check_that("win_tile", is_tile, f"must be one of tile_values, {self.tile_values[1:]}")

    # What a subclass defines

    @abstractmethod
    def slide_line(self, line: list[int]) -> tuple[list[int], int]:
        """Slide one line towards its first cell.

        Args:
            line: The tile values, 0 for an empty cell. It has `columns` or `rows` cells and may be changed.

        Returns:
            The line after the move, with as many cells, and the reward, a whole number from 0 up. A line that cannot
            move is returned as it is, with the reward 0.
        """

    @abstractmethod
    def spawns(self) -> Mapping[int, float]:
        """The new tiles with their probabilities, which add up to 1: `{2: 0.9, 4: 0.1}`."""

    # What follows from it

    @property
    def win_code(self) -> int | None:
        """The code of `win_tile`."""
        return None if self.win_tile is None else self.code(self.win_tile)

    def _is_extra_sound(self, codes: Codes, extra: Words, after: bool) -> Bools:
        """There is nothing besides the tiles."""
        return super()._is_extra_sound(codes, extra, after) & (extra == ZERO)

    def _refuse(self, complaint: str) -> NoReturn:
        raise SpecError(f"game {self.name}: {complaint}")

    def _check_tiles(self) -> None:
        example = "as tile_values = (2, 4, 8, 16)"
        tiles = getattr(type(self), "tile_values", None)
        if not isinstance(tiles, tuple):
            self._refuse(f"tile_values must list the tiles, the smallest first, {example}")
        for tile in tiles[1:]:
            if not _is_whole(tile) or not 1 <= tile <= MAX_VALUE:
                self._refuse(
                    f"tile_values: {excerpt(tile)} is not a tile; tiles are whole numbers from 1 to {MAX_VALUE:,}"
                )
        if not 1 <= len(tiles) - 1 <= MAX_TILES:
            self._refuse(f"tile_values has {len(tiles) - 1} tiles; a game has 1 to {MAX_TILES}")
        if list(tiles) != sorted(set(tiles)):
            self._refuse(f"tile_values must rise from tile to tile, {example}; it is {tiles[1:]}")

    def _make_rules(self) -> LineRules:
        self._check_tiles()
        slides = {length: self._slide_all(length) for length in {self.rows, self.columns}}
        rewards = np.unique(np.concatenate([reward for _, reward in slides.values()]))
        if len(rewards) > MAX_REWARDS:
            self._refuse(f"slide_line has {len(rewards):,} different rewards; at most {MAX_REWARDS:,} are possible")

        def tables(length: int) -> tuple[LineTable, LineTable]:
            moved, reward = slides[length]
            first = (moved | np.searchsorted(rewards, reward) << 16).astype(np.uint32)
            return first, _mirrored(first, length)

        moves, offsets = arrange_tables(tables, self.rows, self.columns)
        codes, limits = self._spawn_limits()
        tiles = np.zeros(16, np.int64)
        tiles[: len(self.tile_values)] = self.tile_values
        board = board_mask(self.rows, self.columns)
        return LineRules(
            moves, offsets, rewards, tiles, codes, limits, board, self.start_tiles, self.rows, self.columns
        )

    def _slide_all(self, length: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Call `slide_line` for every line of `length` cells.

        Returns:
            The moved lines and the rewards, by the four nibbles of the line: int64[65536] each. Lines that are
            impossible move nowhere.
        """
        moved, rewards = np.arange(LINES), np.zeros(LINES, np.int64)
        codes = {tile: code for code, tile in enumerate(self.tile_values)}
        for line in product(self.tile_values, repeat=length):
            after, reward = self._slide_line(list(line), codes)
            number = _line_number([codes[tile] for tile in line])
            moved[number], rewards[number] = _line_number(after), reward
        return moved, rewards

    def _slide_line(self, line: list[int], codes: dict[int, int]) -> tuple[list[int], int]:
        """Call `slide_line`, and check all that the kernels rely on: the codes of the moved line, and the reward."""
        call = f"slide_line({line})"
        try:
            found = self.slide_line(list(line))
        except Exception as error:
            raise SpecError(f"game {self.name}: {call} raised {type(error).__name__}: {error}") from error
        if not isinstance(found, tuple) or len(found) != 2 or not isinstance(found[0], list | tuple):
            self._refuse(
                f"{call} returned {excerpt(found, 60)}; return the new line and the reward, as ([4, 0, 0, 0], 4)"
            )
        moved, reward = list(found[0]), found[1]
        if len(moved) != len(line):
            self._refuse(f"{call} returned {moved}; the new line must have {len(line)} cells, 0 for an empty one")
        for tile in moved:
            if not _is_whole(tile) or tile not in codes:
                self._refuse(
                    f"{call} returned {excerpt(moved, 60)}; {excerpt(tile)} is not in tile_values: "
                    "add it there, or do not merge to it"
                )
        if not _is_whole(reward) or not 0 <= reward <= MAX_VALUE:
            self._refuse(f"{call} has the reward {excerpt(reward)}; return a whole number from 0 to {MAX_VALUE:,}")
        if moved == line and reward:
            self._refuse(f"{call} moves nothing but has the reward {reward}; return 0 for a line that does not move")
        if moved.count(0) < line.count(0):
            self._refuse(f"{call} returned {moved}; a move must not add tiles, only move and merge them")
        if moved != line and 0 not in moved:
            self._refuse(
                f"{call} returned {moved}; a full line that moves must have an empty cell afterwards, "
                "because a new tile needs one: merge tiles, or return the line as it is"
            )
        return [codes[tile] for tile in moved], int(reward)

    def _spawn_limits(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """The codes of the new tiles, the largest first, and their cumulative probabilities out of 2**32."""
        found = self.spawns()
        if not isinstance(found, Mapping) or not found:
            self._refuse(
                f"spawns() returned {excerpt(found, 60)}; return tiles with their probabilities, as {{2: 1.0}}"
            )
        for tile, probability in found.items():
            if not _is_whole(tile) or tile not in self.tile_values[1:]:
                self._refuse(f"spawns(): {excerpt(tile)} is not in tile_values")
            if not isinstance(probability, Real) or not 2**-32 <= probability <= 1:
                self._refuse(
                    f"spawns(): {tile} has the probability {excerpt(probability)}; it must be above 0 and at most 1"
                )
        total = sum(found.values())
        if abs(total - 1) > 1e-6:
            self._refuse(f"spawns(): the probabilities add up to {total:g}; they must add up to 1")
        tiles = sorted(found, reverse=True)
        limits = np.rint(np.cumsum([float(found[tile]) for tile in tiles]) * 2.0**32)
        limits[-1] = 2.0**32
        return np.array([self.code(tile) for tile in tiles], np.uint64), limits.astype(np.uint64)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _line_number(codes: list[int]) -> int:
    """The four nibbles of a line, first cell highest."""
    return sum(code << (12 - 4 * i) for i, code in enumerate(codes))


def _mirrored(table: LineTable, length: int) -> LineTable:
    """The table of moves to the last cell, from that of moves to the first."""
    lines = np.arange(LINES)
    backwards = np.zeros(LINES, np.int64)
    for i in range(length):
        backwards |= (lines >> (12 - 4 * i) & 15) << (12 - 4 * (length - 1 - i))
    entries = table[backwards].astype(np.int64)
    return (entries & ~0xFFFF | backwards[entries & 0xFFFF]).astype(np.uint32)
