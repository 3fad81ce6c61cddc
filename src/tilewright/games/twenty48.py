"""2048: the rules as kernels, and the game made from them.

The code of a tile is its exponent: 0 empty, 1 = 2, … 15 = 32768, 16 = 65536, 17 = 131072. Codes up to 15 fit in a
nibble and are moved by table. `State.extra` is the set of cells whose code has a fifth bit. It is zero until two 32768
merge; from then on, moves take the slower path `slide_wide`, which calls `move_line` itself.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from tilewright._core.bits import pdep, popcount, stack_array
from tilewright._core.checks import Range
from tilewright._core.jit import Int, Word, implements, inline, linked
from tilewright.games.base import Game
from tilewright.games.bitboard import (
    LOWEST_BITS,
    board_mask,
    empty_cells,
    largest_nibble,
    nibbles_above,
    orient,
    symmetric_cells,
    symmetric_set,
)
from tilewright.games.line_tables import Line, build_line_table, join_rows, look_up_rows, move_line
from tilewright.games.rules import (
    DOWN,
    ILLEGAL,
    RIGHT,
    UP,
    LineOffsets,
    LineTable,
    Outcomes,
    State,
    downgrade_to,
    high_bits,
    hint_of,
    largest,
    no_hint,
    outcomes,
    slide,
    spawn,
    start,
    start_with_tiles,
    symmetry,
    tile_sum,
)
from tilewright.games.soundness import Bools, Codes, Words, bits_of, board_cells
from tilewright.rng import Stream, below, low_half, next_word

__all__ = ["LARGEST_CODE", "Twenty48", "Twenty48Rules"]

u64 = np.uint64
ZERO, ONE = u64(0), u64(1)
LARGEST_CODE = 17  # 131072, the largest possible tile
WIDE_REWARD = 65536  # the smallest reward of a move that makes a tile above 32768


class Twenty48Line(NamedTuple):
    """The rule of a line, for `move_line`."""

    cascade: bool  # whether a merged tile may merge again in the same move


class Twenty48Rules(NamedTuple):
    """The tables of 2048."""

    moves: LineTable  # the line after the move | reward / 4 << 16
    offsets: LineOffsets
    line: Twenty48Line
    board: Word  # the lowest bit of every nibble that is a cell
    fours: Word  # the new tile is a 4 if 32 random bits are below this
    start_tiles: int
    rows: int
    columns: int


def make_rules(rows: int, columns: int, four: float, start_tiles: int, cascade: bool) -> Twenty48Rules:
    """Build the rules; `four` is the probability that a new tile is a 4."""
    line = Twenty48Line(cascade)
    moves, offsets = build_line_table(line, rows, columns)
    fours = np.uint64(round(four * 2**32))
    return Twenty48Rules(moves, offsets, line, board_mask(rows, columns), fours, start_tiles, rows, columns)


@implements(move_line, Twenty48Line)
def move_2048_line(rule: Twenty48Line, line: Line) -> Int:
    """Move one line: 2 2 4 . -> 4 4 . . with the reward 4, or with cascade 8 . . . with the reward 12.

    Returns:
        A quarter of the reward, which fits in 16 bits.
    """
    reward = 0
    end = 0  # line[:end] is final
    may_merge = False  # whether the last of these tiles may merge with the next
    for i in range(len(line)):
        code = line[i]
        if code == 0:
            continue
        if may_merge and line[end - 1] == code and code < LARGEST_CODE:
            line[end - 1] = code + 1
            reward += 2 << code
            may_merge = rule.cascade
        else:
            line[end] = code
            end += 1
            may_merge = True
    for i in range(end, len(line)):
        line[i] = 0
    return reward >> 2


@implements(slide, Twenty48Rules)
def slide_2048(rules: Twenty48Rules, state: State, action: Int) -> tuple[State, Int]:
    """Slide by table, or cell by cell where a tile does not fit in a nibble."""
    cells = orient(state.cells, action)
    a, b, c, d = look_up_rows(rules.moves, rules.offsets[action], cells)
    reward = np.int64(((a >> u64(16)) + (b >> u64(16)) + (c >> u64(16)) + (d >> u64(16))) << u64(2))
    if reward >= WIDE_REWARD or state.extra:
        return slide_wide(rules, state, action)
    moved = join_rows(a, b, c, d)
    if moved == cells:
        return state, ILLEGAL
    return State(orient(moved, action), ZERO), reward


@linked
def slide_wide(rules: Twenty48Rules, state: State, action: Int) -> tuple[State, Int]:
    """Slide cell by cell: exact for all tiles, slow, and rarely needed."""
    codes, row = stack_array(16), stack_array(4)
    for cell in range(16):
        codes[cell] = wide_code(state, u64(15 - cell))
    length, lanes = (rules.rows, rules.columns) if action in (UP, DOWN) else (rules.columns, rules.rows)
    step, lane_step = (4, 1) if action in (UP, DOWN) else (1, 4)
    far = (length - 1) * step if action in (DOWN, RIGHT) else 0
    if far:
        step = -step
    line = row[:length]
    reward, changed = 0, False
    for lane in range(lanes):
        first = lane * lane_step + far
        for i in range(length):
            line[i] = codes[first + i * step]
        reward += move_line(rules.line, line) << 2
        for i in range(length):
            changed |= line[i] != codes[first + i * step]
            codes[first + i * step] = line[i]
    if not changed:
        return state, ILLEGAL
    cells, extra = ZERO, ZERO
    for cell in range(16):
        cells = (cells << u64(4)) | u64(codes[cell] & 15)
        extra = (extra << ONE) | u64(codes[cell] >> 4)
    return State(cells, extra), reward


@inline
def wide_code(state: State, place: Word) -> Int:
    """The code of the cell in nibble `place`, including its fifth bit."""
    low = (state.cells >> (place << u64(2))) & u64(15)
    return np.int64(low | (((state.extra >> place) & ONE) << u64(4)))


@inline
def _empty(rules: Twenty48Rules, state: State) -> Word:
    """The lowest bit of every empty cell."""
    empty = empty_cells(state.cells, rules.board)
    if state.extra:
        empty &= ~pdep(state.extra, LOWEST_BITS)
    return empty


@implements(spawn, Twenty48Rules)
def spawn_2048(rules: Twenty48Rules, after: State, stream: Stream) -> tuple[State, Int]:
    """Add a 2 or a 4 to a random empty cell; one random word decides both."""
    word = next_word(stream)
    empty = _empty(rules, after)
    place = pdep(ONE << below(word, popcount(empty)), empty)
    return State(after.cells | (place << u64(low_half(word) < rules.fours)), after.extra), 0


implements(start, Twenty48Rules)(start_with_tiles)
implements(hint_of, Twenty48Rules)(no_hint)


@implements(outcomes, Twenty48Rules)
def outcomes_2048(rules: Twenty48Rules, after: State, into: Outcomes) -> Int:
    """A 2 and a 4 in every empty cell, from the top left."""
    four = np.float64(rules.fours) / 2.0**32
    empty = _empty(rules, after)
    cells_left = popcount(empty)
    n = 0
    for place in range(15, -1, -1):
        lowest = ONE << u64(4 * place)
        if not empty & lowest:
            continue
        for code in range(2):
            probability = (four if code else 1.0 - four) / np.float64(cells_left)
            if probability > 0:
                into.cells[n] = after.cells | (lowest << u64(code))
                into.extra[n] = after.extra
                into.probability[n] = probability
                into.reward[n] = 0
                n += 1
    return n


@implements(symmetry, Twenty48Rules)
def symmetry_2048(rules: Twenty48Rules, state: State, which: Int) -> State:
    """Transform the nibbles and the set of fifth bits."""
    return State(
        symmetric_cells(state.cells, which, rules.rows, rules.columns),
        symmetric_set(state.extra, which, rules.rows, rules.columns),
    )


@implements(largest, Twenty48Rules)
def largest_2048(rules: Twenty48Rules, state: State) -> Int:
    """The largest code, including fifth bits."""
    if not state.extra:
        return largest_nibble(state.cells)
    code = 0
    for place in range(16):
        code = max(code, wide_code(state, u64(place)))
    return code


@implements(tile_sum, Twenty48Rules)
def tile_sum_2048(rules: Twenty48Rules, state: State) -> Int:
    """The sum of 2 ** code over all tiles."""
    found: Int = 0
    for place in range(16):
        found += (1 << wide_code(state, u64(place))) & ~1  # an empty cell is 2**0 and does not count
    return found


@implements(downgrade_to, Twenty48Rules)
def downgrade_2048(rules: Twenty48Rules, state: State, largest_code: Int) -> State:
    """Downgrade the tiles of a board that has a larger one; see `downgrade_cells`."""
    if state.extra:
        return State(downgrade_cells(state, largest_code), ZERO)
    if largest_code < 15 and nibbles_above(state.cells, largest_code):
        return State(downgrade_nibbles(state.cells, largest_code), ZERO)
    return state


@linked
def downgrade_cells(state: State, largest_code: Int) -> Word:
    """Halve every tile above the largest missing one until no code is above `largest_code` (Guei 2021).

    65536 16384 8192 -> 32768 16384 8192: the order of the tiles and the legal moves stay the same. Where no tile is
    missing, no tile can be halved.
    """
    cells, extra = state.cells, state.extra
    while True:
        present, largest_found = ZERO, 0  # bit c of `present` is set where a tile of code c is on the board
        for cell in range(16):
            code = wide_code(State(cells, extra), u64(cell))
            present |= ONE << u64(code)
            largest_found = max(largest_found, code)
        missing = largest_found - 1
        while missing > 0 and (present >> u64(missing)) & ONE:
            missing -= 1
        if largest_found <= largest_code or missing <= 0:
            break
        halved, halved_extra = ZERO, ZERO
        for cell in range(16):
            code = wide_code(State(cells, extra), u64(cell))
            if code > missing:
                code -= 1
            halved |= u64(code & 15) << u64(4 * cell)
            halved_extra |= u64(code >> 4) << u64(cell)
        cells, extra = halved, halved_extra
    downgraded = ZERO
    for cell in range(16):
        downgraded |= u64(min(wide_code(State(cells, extra), u64(cell)), 15)) << u64(4 * cell)
    return downgraded


@linked
def downgrade_nibbles(cells: Word, largest_code: Int) -> Word:
    """Do what `downgrade_cells` does, faster, on a board whose codes are nibbles."""
    present, rest = ZERO, cells
    for _ in range(16):
        present |= ONE << (rest & u64(15))
        rest >>= u64(4)
    largest_found = largest_nibble(cells)
    missing = largest_found - 1
    while largest_found > largest_code:
        while missing > 0 and (present >> u64(missing)) & ONE:
            missing -= 1
        if missing <= 0:
            break
        cells -= nibbles_above(cells, missing)
        largest_found -= 1
        missing -= 1  # what is halved fills the gap; the next one is below it, where nothing has changed
    return cells


@implements(high_bits, Twenty48Rules)
def high_bits_2048(rules: Twenty48Rules, state: State) -> Word:
    """The cells with a tile above 32768."""
    return state.extra


@dataclass(frozen=True)
class Twenty48(Game):
    """2048 and its variants.

    >>> Twenty48(rows=3, columns=3, four=0.5).spec
    '2048:rows=3,columns=3,four=0.5'

    Attributes:
        four: The probability that a new tile is a 4.
        start_tiles: The number of tiles on the first board.
        win_tile: The tile that wins the game: 4 to 131072.
        cascade: Whether a merged tile may merge again in the same move, as in the paper of `reproduce goenawan-2020`.
    """

    four: Annotated[float, Range(0, 1)] = 0.1
    start_tiles: Annotated[int, Range(1, 16)] = 2
    win_tile: int = 2048
    cascade: bool = False

    name: ClassVar[str] = "2048"
    can_downgrade: ClassVar[bool] = True
    tile_values: ClassVar[tuple[int, ...]] = (0, *(2**code for code in range(1, LARGEST_CODE + 1)))

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_integer("start_tiles", 1, self.rows * self.columns)
        is_tile = self.win_tile in self.tile_values[2:]
        self._check_that("win_tile", is_tile, "must be a power of two from 4 to 131,072")
        self._check_that("cascade", isinstance(self.cascade, bool), "must be true or false")

    def _make_rules(self) -> Twenty48Rules:
        return make_rules(self.rows, self.columns, self.four, self.start_tiles, self.cascade)

    @property
    def win_code(self) -> int:
        """The code of `win_tile`."""
        return self.code(self.win_tile)

    @property
    def max_outcomes(self) -> int:
        """A 2 and a 4 in every cell."""
        return 2 * self.rows * self.columns

    def _is_extra_sound(self, codes: Codes, extra: Words, after: bool) -> Bools:
        """Fifth bits are on cells of the board, and belong to a 65536 or a 131072."""
        high, on_board = bits_of(extra), board_cells(self.rows, self.columns)
        sound = (extra >> u64(16) == ZERO) & ~(high & (~on_board | (codes > LARGEST_CODE - 16))).any(axis=1)
        has_room: Bools = ((codes == 0) & ~high & on_board).any(axis=1)
        return sound & has_room if after else sound

    def high_bits(self, state: State) -> int:
        """The cells with a tile above 32768."""
        return int(state.extra)
