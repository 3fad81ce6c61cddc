"""Threes: the rules as kernels, and the game made from them.

Tile codes: 0 empty, 1 = 1, 2 = 2, 3 = 3, 4 = 6, 5 = 12, … 14 = 6144, 15 = 12288. `State.extra` holds what the player
knows besides the tiles:

    bits 0-3    hint: 0 unknown; 1, 2, 3 that tile; from 4 a bonus tile: codes 4 … hint with equal probability
    bits 4-12   bag: the numbers of 1s, 2s and 3s that are left, three bits each; all zero if unknown
    bits 16-31  entry, in afterstates only: the set of cells where the next tile may enter

The next tile is drawn when its hint is shown. The largest possible bonus tile depends on the largest tile on the board
at that time, so the hint contains it. An empty bag is refilled at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.bits import pdep, popcount, trailing_zeros
from tilewright._core.checks import Range
from tilewright._core.jit import Int, Word, implements, inline
from tilewright._core.text import excerpt
from tilewright.errors import BoardError
from tilewright.games.base import Game
from tilewright.games.bitboard import board_mask, empty_cells, largest_nibble, orient, symmetric_cells, symmetric_set
from tilewright.games.board import Board, BoardLike
from tilewright.games.line_tables import Line, build_line_table, join_rows, look_up_rows, move_line, rewards_of_rows
from tilewright.games.palette import Palette
from tilewright.games.rules import (
    DOWN,
    ILLEGAL,
    RIGHT,
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
    not_downgraded,
    outcomes,
    slide,
    spawn,
    start,
    symmetry,
    tile_sum,
)
from tilewright.games.soundness import Bools, Codes, Words, bits_of, is_entry_possible
from tilewright.rng import Stream, below, low_half, next_word

__all__ = ["FULL_BAG", "Threes", "ThreesRules", "tile_score"]

u64 = np.uint64
ZERO, ONE, TWO, THREE = u64(0), u64(1), u64(2), u64(3)
FULL_BAG = u64(0o444)  # four each of 1, 2, 3
BONUS_FROM = 7  # bonus tiles need a 48 (code 7) on the board …
BONUS_STEP = 3  # … and are at most an eighth of the largest tile: three codes less
BONUS_CHANCE = u64(2**32 // 21)  # out of 2**32
ENTRY_SHIFT = u64(16)
HINT_AND_BAG = u64(0x1FFF)

THREES_PALETTE = Palette(
    (
        *("#5fb8e8", "#ef6a7f", "#fbf8ef", "#f8efd6", "#f6e3b4", "#f4d58d", "#f2c464", "#eeae45"),
        *("#e08a35", "#d46f33", "#c25238", "#a83c4a", "#83406c", "#5b4b8a", "#3c3a32"),
    ),
    frozenset({0, 3, 4, 5, 6, 7, 8}),
)


class ThreesLine(NamedTuple):
    """The rule of a line, for `move_line`."""

    largest_code: int  # tiles of this code do not merge


class ThreesRules(NamedTuple):
    """The tables of Threes."""

    moves: LineTable  # the line after the move | code of the merged tile << 16
    offsets: LineOffsets
    tile_scores: NDArray[np.int64]  # int64[16]: the score of a tile of each code
    merge_rewards: NDArray[np.int64]  # int64[16]: the increase of the score when a tile of this code is made
    board: Word  # the lowest bit of every nibble that is a cell
    start_tiles: int
    rows: int
    columns: int


def tile_score(code: int) -> int:
    """The score of one tile: 3 ** (log2(v / 3) + 1) for tiles v >= 3, so 3 for a 3 and 9 for a 6; 0 for 1 and 2.

    >>> [tile_score(code) for code in range(6)]
    [0, 0, 0, 3, 9, 27]
    """
    return int(3 ** (code - 2)) if code >= 3 else 0


def make_rules(rows: int, columns: int, start_tiles: int, largest_code: int) -> ThreesRules:
    """Build the rules; tiles of `largest_code` do not merge."""
    moves, offsets = build_line_table(ThreesLine(largest_code), rows, columns)
    scores = np.array([tile_score(code) for code in range(16)])
    rewards = np.array([0, 0, 0, *(tile_score(c) - 2 * tile_score(c - 1) for c in range(3, 16))])
    return ThreesRules(moves, offsets, scores, rewards, board_mask(rows, columns), start_tiles, rows, columns)


@implements(move_line, ThreesLine)
def move_threes_line(rule: ThreesLine, line: Line) -> Int:
    """Move one line by one cell: 1 2 3 . -> 3 3 . .   3 . 3 6 -> 3 3 6 .   3 6 6 6 -> 3 12 6 .

    Returns:
        The code of the merged tile; 0 if no tiles merge.
    """
    for i in range(len(line) - 1):
        near, far = line[i], line[i + 1]
        merged = 0
        if near + far == 3 and near and far:
            merged = 3
        elif near == far and near >= 3 and near < rule.largest_code:
            merged = near + 1
        if near == 0 or merged:
            line[i] = merged if merged else far
            for k in range(i + 1, len(line) - 1):
                line[k] = line[k + 1]
            line[len(line) - 1] = 0
            return merged
    return 0


@implements(slide, ThreesRules)
def slide_threes(rules: ThreesRules, state: State, action: Int) -> tuple[State, Int]:
    """Slide by table; the afterstate contains the cells where the next tile may enter."""
    cells = orient(state.cells, action)
    a, b, c, d = look_up_rows(rules.moves, rules.offsets[action], cells)
    moved = join_rows(a, b, c, d)
    if moved == cells:
        return state, ILLEGAL
    reward = rewards_of_rows(rules.merge_rewards, a, b, c, d)
    entry = _entry_cells(rules, moved ^ cells, action)
    extra = (state.extra & HINT_AND_BAG) | (entry << ENTRY_SHIFT)
    return State(orient(moved, action), extra), reward


@inline
def _entry_cells(rules: ThreesRules, changed: Word, action: Int) -> Word:
    """The last cells of the lines that moved: those whose row of `changed` is not zero."""
    first = u64(changed >> u64(48) != ZERO)
    second = u64((changed >> u64(32)) & u64(0xFFFF) != ZERO)
    third = u64((changed >> u64(16)) & u64(0xFFFF) != ZERO)
    fourth = u64(changed & u64(0xFFFF) != ZERO)
    if action & 1:  # lines are rows; the new tile enters on the right, or on the left after a move to the right
        column = 0 if action == RIGHT else rules.columns - 1
        lanes = (first << u64(12)) | (second << u64(8)) | (third << u64(4)) | fourth
        return lanes << u64(3 - column)
    row = 0 if action == DOWN else rules.rows - 1
    lanes = (first << u64(3)) | (second << TWO) | (third << ONE) | fourth
    return lanes << u64(4 * (3 - row))


@inline
def _bag_count(bag: Word, tile: Word) -> Word:
    """The number of tiles of one kind (1, 2 or 3) in the bag."""
    return (bag >> (THREE * (tile - ONE))) & u64(7)


@inline
def _bag_without(bag: Word, tile: Word) -> Word:
    """The bag after drawing `tile`: refilled if that was the last tile; an unknown bag stays unknown."""
    if not bag:
        return bag
    bag -= ONE << (THREE * (tile - ONE))
    return bag if bag else FULL_BAG


@inline
def _draw(bag: Word, word: Word) -> Word:
    """Draw a 1, 2 or 3 from the bag, every tile in it with the same probability."""
    if not bag:
        return ONE + below(word, THREE)
    ones, twos = _bag_count(bag, ONE), _bag_count(bag, TWO)
    number = below(word, ones + twos + _bag_count(bag, THREE))
    return ONE + u64(number >= ones) + u64(number >= ones + twos)


@inline
def _draw_hint(cells: Word, bag: Word, stream: Stream) -> tuple[Word, Word]:
    """Draw the next tile: its hint, and the bag after it."""
    word = next_word(stream)
    if low_half(word) < BONUS_CHANCE:
        code = largest_nibble(cells)
        if code >= BONUS_FROM:
            return u64(code - BONUS_STEP), bag
    tile = _draw(bag, word)
    return tile, _bag_without(bag, tile)


@implements(spawn, ThreesRules)
def spawn_threes(rules: ThreesRules, after: State, stream: Stream) -> tuple[State, Int]:
    """Add the tile of the hint to a random entry cell, and draw the next hint."""
    hint, bag = after.extra & u64(15), (after.extra >> u64(4)) & u64(0o777)
    if not hint:
        hint, bag = _draw_hint(after.cells, bag, stream)
    word = next_word(stream)
    tile = hint
    if hint > THREE:
        tile = u64(4) + ((low_half(word) * (hint - THREE)) >> u64(32))
    entry = after.extra >> ENTRY_SHIFT
    place = trailing_zeros(pdep(ONE << below(word, popcount(entry)), entry))
    cells = after.cells | (tile << (place << TWO))
    hint, bag = _draw_hint(cells, bag, stream)
    return State(cells, hint | (bag << u64(4))), rules.tile_scores[tile]


@implements(start, ThreesRules)
def start_threes(rules: ThreesRules, stream: Stream) -> tuple[State, Int]:
    """Add `start_tiles` tiles from the bag to random cells, and draw the first hint."""
    cells, bag = ZERO, FULL_BAG
    score: Int = 0
    for _ in range(rules.start_tiles):
        tile = _draw(bag, next_word(stream))
        bag = _bag_without(bag, tile)
        empty = empty_cells(cells, rules.board)
        cells |= pdep(ONE << below(next_word(stream), popcount(empty)), empty) * tile
        score += rules.tile_scores[tile]
    hint, bag = _draw_hint(cells, bag, stream)
    return State(cells, hint | (bag << u64(4))), score


@inline
def _hint_probability(cells: Word, bag: Word, hint: Word) -> float:
    """The probability that the next hint is `hint`; 4 stands for any bonus tile."""
    bonus = 1.0 / 21.0 if largest_nibble(cells) >= BONUS_FROM else 0.0
    if hint > THREE:
        return bonus
    if not bag:
        return (1.0 - bonus) / 3.0
    left = _bag_count(bag, ONE) + _bag_count(bag, TWO) + _bag_count(bag, THREE)
    return (1.0 - bonus) * np.float64(_bag_count(bag, hint)) / np.float64(left)


@implements(outcomes, ThreesRules, forceinline=False)
def outcomes_threes(rules: ThreesRules, after: State, into: Outcomes) -> Int:
    """All combinations of the tile, its cell, and the next hint."""
    known_hint, known_bag = after.extra & u64(15), (after.extra >> u64(4)) & u64(0o777)
    entry = after.extra >> ENTRY_SHIFT
    lanes = np.float64(popcount(entry))
    n = 0
    for first_hint in range(1, 5):  # the known hint, or all possible ones
        hint, bag, hint_probability = u64(first_hint), known_bag, 1.0
        if known_hint:
            if hint != min(known_hint, u64(4)):
                continue
            hint = known_hint
        else:
            hint_probability = _hint_probability(after.cells, bag, hint)
            if hint <= THREE:
                bag = _bag_without(bag, hint)
            else:
                hint = u64(largest_nibble(after.cells) - BONUS_STEP)
        if hint_probability == 0.0:
            continue
        lowest = min(hint, u64(4))
        for tile in range(lowest, hint + ONE):
            tile_probability = hint_probability / (np.float64(hint - lowest + ONE) * lanes)
            for place in range(15, -1, -1):
                if (entry >> u64(place)) & ONE:
                    cells = after.cells | (u64(tile) << u64(4 * place))
                    n = _list_next_hints(rules, cells, bag, tile_probability, rules.tile_scores[tile], into, n)
    return n


@inline
def _list_next_hints(
    rules: ThreesRules, cells: Word, bag: Word, tile_probability: float, reward: int, into: Outcomes, n: int
) -> Int:
    """Write the outcomes of one new tile from index `n` on; returns the index after them."""
    for next_hint in range(1, 5):
        hint, left = u64(next_hint), bag
        probability = tile_probability * _hint_probability(cells, bag, hint)
        if probability == 0.0:
            continue
        if hint <= THREE:
            left = _bag_without(bag, hint)
        else:
            hint = u64(largest_nibble(cells) - BONUS_STEP)
        into.cells[n] = cells
        into.extra[n] = hint | (left << u64(4))
        into.probability[n] = probability
        into.reward[n] = reward
        n += 1
    return n


@implements(symmetry, ThreesRules)
def symmetry_threes(rules: ThreesRules, state: State, which: Int) -> State:
    """Transform the nibbles and the entry cells."""
    entry = symmetric_set(state.extra >> ENTRY_SHIFT, which, rules.rows, rules.columns)
    cells = symmetric_cells(state.cells, which, rules.rows, rules.columns)
    return State(cells, (state.extra & HINT_AND_BAG) | (entry << ENTRY_SHIFT))


implements(largest, ThreesRules)(largest_of_nibbles)
implements(downgrade_to, ThreesRules)(not_downgraded)
implements(high_bits, ThreesRules)(no_high_bits)


@implements(tile_sum, ThreesRules)
def tile_sum_threes(rules: ThreesRules, state: State) -> Int:
    """The sum of all tile values: 1, 2, then 3 · 2 ** (code - 3)."""
    found: Int = 0
    for place in range(16):
        code = np.int64((state.cells >> u64(4 * place)) & u64(15))
        found += code if code < 3 else 3 << (code - 3)
    return found


@implements(hint_of, ThreesRules)
def hint_of_threes(rules: ThreesRules, state: State) -> Int:
    """The hint: 1, 2, 3, or from 4 the largest code of a bonus tile."""
    return np.int64(state.extra & u64(15))


@dataclass(frozen=True)
class Threes(Game):
    """Threes, with hint, bag and bonus tiles.

    >>> Threes(max_tile=6144).spec
    'threes:max_tile=6144'

    Attributes:
        start_tiles: The number of tiles on the first board.
        max_tile: The largest tile, which does not merge: 6 to 12288, as in the app; 6144 in Yeh et al. 2016.
    """

    start_tiles: Annotated[int, Range(1, 16)] = 9
    max_tile: int = 12288

    name: ClassVar[str] = "threes"
    tile_values: ClassVar[tuple[int, ...]] = (0, 1, 2, *(3 * 2**k for k in range(13)))
    palette: ClassVar[Palette] = THREES_PALETTE
    has_hints: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_integer("start_tiles", 1, self.rows * self.columns)
        is_tile = self.max_tile in self.tile_values[4:]
        self._check_that("max_tile", is_tile, "must be 3 times a power of two, from 6 to 12,288")

    def _make_rules(self) -> ThreesRules:
        return make_rules(self.rows, self.columns, self.start_tiles, self.code(self.max_tile))

    def code(self, value: int) -> int:
        """The code of the tile with this value, which is at most `max_tile`."""
        if isinstance(value, Integral) and value > self.max_tile:
            raise BoardError(f"{excerpt(value)} is beyond the largest tile of this game, {self.max_tile}")
        return super().code(value)

    @property
    def win_code(self) -> None:
        """No tile wins: Threes is played until no move is legal."""
        return

    @property
    def max_outcomes(self) -> int:
        """Every tile of an unknown hint in every lane that can move, with every hint that can follow."""
        bonus_tiles = max(0, self.code(self.max_tile) - BONUS_STEP - 3)
        return (3 + bonus_tiles) * max(self.rows, self.columns) * 4

    def board_score(self, board: BoardLike) -> int:
        """The sum of the scores of all tiles."""
        return sum(tile_score(code) for row in self.parse(board).codes for code in row)

    def notes(self, board: Board) -> dict[str, str]:
        """The hint, the bag and, in afterstates, the entry cells, as far as they are known."""
        extra = int(board.state.extra)
        hint, bag, entry = extra & 15, extra >> 4 & 0o777, extra >> 16
        notes = {}
        if hint:
            top = max(max(row) for row in board.codes) - BONUS_STEP
            notes["hint"] = str(hint) if hint <= 3 else "+" if hint == top else f"+{self.value(hint)}"
        if bag:
            notes["bag"] = "".join(str(bag >> 3 * i & 7) for i in range(3))
        if entry:
            notes["entry"] = "".join(f"{15 - place:x}" for place in range(15, -1, -1) if entry >> place & 1)
        return notes

    def parse_notes(self, codes: list[int], notes: Mapping[str, str]) -> int:
        """Read hint, bag and entry cells; see `notes`."""
        read = {"hint": self._read_hint, "bag": self._read_bag, "entry": self._read_entry}
        extra = 0
        for name, text in notes.items():
            if name not in read:
                raise BoardError(f"{name}=…: a board of Threes has the notes hint, bag and entry")
            extra |= read[name](text, codes)
        return extra

    def _read_hint(self, text: str, codes: list[int]) -> int:
        """1, 2, 3, `+` (a bonus tile up to an eighth of the largest tile) or `+24` (a bonus tile up to 24)."""
        if text in ("1", "2", "3"):
            return int(text)
        top = max(codes) - BONUS_STEP
        if text.startswith("+") and text[1:].isascii() and text[1:].isdigit():
            asked = int(text[1:])
            top = self.code(asked) if asked in self.tile_values else 0
        elif text != "+":
            raise BoardError(f"hint={text[:20]}: a hint is 1, 2, 3 or +")
        if not BONUS_FROM - BONUS_STEP <= top <= self.code(self.max_tile) - BONUS_STEP:
            raise BoardError(f"hint={text[:20]}: no bonus tile is possible; the largest tile must be 48 or more")
        return top

    def _read_bag(self, text: str, codes: list[int]) -> int:
        if len(text) != 3 or not set(text) <= set("01234") or text == "000":
            raise BoardError(
                f"bag={text[:20]}: a bag is the numbers of 1s, 2s and 3s that are left, as 413: 0 to 4 each, not all 0"
            )
        return sum(int(count) << 3 * i for i, count in enumerate(text)) << 4

    def _read_entry(self, text: str, codes: list[int]) -> int:
        cells = {4 * row + column for row in range(self.rows) for column in range(self.columns)}
        entry = {int(cell, 16) if cell in "0123456789abcdef" else -1 for cell in text}
        occupied = {4 * (i // self.columns) + i % self.columns for i, code in enumerate(codes) if code}
        if not entry or not entry <= cells - occupied:
            raise BoardError(f"entry={text[:20]}: must list empty cells, as hexadecimal digits from the top left")
        tiles, entries = (np.array([[cell in found for cell in range(16)]]) for found in (occupied, entry))
        if not is_entry_possible(tiles, entries, self.rows, self.columns)[0]:
            raise BoardError(
                f"entry={text[:20]}: no move leads there; tiles enter at one edge, behind rows or columns with tiles"
            )
        return sum(1 << 15 - cell for cell in entry) << 16

    def _is_extra_sound(self, codes: Codes, extra: Words, after: bool) -> Bools:
        """Hint and bag are possible, and tiles enter where a move can have left room."""
        largest_code = self.code(self.max_tile)
        hint, bag, entry = extra & u64(15), extra >> u64(4) & u64(0o777), bits_of(extra >> ENTRY_SHIFT)
        sound: Bools = (codes <= largest_code).all(axis=1) & (hint <= u64(max(3, largest_code - BONUS_STEP)))
        sound &= extra & ~(HINT_AND_BAG | u64(0xFFFF) << ENTRY_SHIFT) == ZERO
        for tile in range(3):
            sound &= bag >> u64(3 * tile) & u64(7) <= u64(4)
        if after:
            return sound & is_entry_possible(codes > 0, entry, self.rows, self.columns)
        return sound & ~entry.any(axis=1)

    def _check_afterstate(self, after: Board) -> None:
        entry = int(after.state.extra) >> 16
        if not entry:
            raise BoardError(
                f"{self.text(after)!r} is not an afterstate: it has no note entry=… with cells where a tile may enter"
            )
        if entry.bit_count() > max(self.rows, self.columns):  # more outcomes than kernels have room for
            raise BoardError(f"{self.text(after)!r} is not an afterstate: tiles enter at one edge only")
