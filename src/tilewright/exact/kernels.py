"""The kernels of the solver: moves and new tiles of whole layers, and the values of a layer from those above it.

A layer is all states, or all afterstates, with the same sum of tiles: a move keeps the sum, and a new tile adds 2 or 4.
Each board stands for all that are symmetric to it; the one whose 64 bits are the smallest number is *canonical*. Layers
are sorted, so that a board is found by binary search.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.bits import popcount
from tilewright._core.jit import Float, Int, Word, inline, kernel
from tilewright.exact.walls import FORBIDDEN
from tilewright.games.bitboard import LOWEST_BITS, empty_cells, flip, mirror, orient, transpose
from tilewright.games.line_tables import join_rows, look_up_rows
from tilewright.games.rules import ILLEGAL, LineOffsets, LineTable

__all__ = [
    "Keys",
    "Space",
    "Values",
    "add_tiles",
    "add_up",
    "afterstate_values",
    "board_sum",
    "canonical",
    "count_states",
    "drop_duplicates",
    "find",
    "merge_unique",
    "move_states",
    "move_value",
    "reaches_goal",
    "slide_cells",
    "spread_weights",
    "start_weights",
    "state_values",
    "sum_boards",
]

u64 = np.uint64
Keys = NDArray[np.uint64]  # sorted canonical boards, each once
Values = NDArray[np.float64]  # one for each key


class Space(NamedTuple):
    """The rules of a problem, without its randomness drawn: what kernels need to enumerate and to solve it."""

    moves: LineTable
    offsets: LineOffsets
    free: Word  # the lowest bit of every cell without a wall
    walls: Word  # the walls as tiles
    symmetries: int  # bit `which` is set where symmetry `which` leaves the walls in place
    rows: int
    columns: int
    goal: int  # the code of the tile to make; 0 for the expected score
    four: float  # the probability that a new tile is a 4: exactly, not rounded to 32 bits


@inline
def canonical(space: Space, cells: Word) -> Word:
    """The smallest of the symmetric boards."""
    symmetries = space.symmetries
    if symmetries == 1:
        return cells
    mirrored = mirror(cells, space.columns)
    best = min(cells, mirrored) if symmetries & 2 else cells
    if symmetries & 4:
        best = min(best, flip(cells, space.rows))
    if symmetries & 8:
        best = min(best, flip(mirrored, space.rows))
    if symmetries >> 4:
        turned = transpose(cells)
        mirrored = mirror(turned, space.columns)
        if symmetries & 16:
            best = min(best, turned)
        if symmetries & 32:
            best = min(best, mirrored)
        if symmetries & 64:
            best = min(best, flip(turned, space.rows))
        if symmetries & 128:
            best = min(best, flip(mirrored, space.rows))
    return best


@inline
def orbit(space: Space, cells: Word) -> Int:
    """The number of different boards that are symmetric to this one."""
    fixed, of_all = 0, 0
    for which in range(8):
        if space.symmetries >> which & 1:
            image = transpose(cells) if which & 4 else cells
            image = mirror(image, space.columns) if which & 1 else image
            image = flip(image, space.rows) if which & 2 else image
            fixed += image == cells
            of_all += 1
    return of_all // fixed


@inline
def slide_cells(space: Space, cells: Word, action: Int) -> tuple[Word, Int]:
    """The board after a move and the reward; ILLEGAL where nothing moves or a wall would."""
    turned = orient(cells, action)
    a, b, c, d = look_up_rows(space.moves, space.offsets[action], turned)
    high = (a >> u64(16)) + (b >> u64(16)) + (c >> u64(16)) + (d >> u64(16))
    moved = join_rows(a, b, c, d)
    if moved == turned or high >= u64(FORBIDDEN):
        return cells, ILLEGAL
    return orient(moved, action), np.int64(high << u64(2))


@inline
def reaches_goal(space: Space, cells: Word) -> bool:
    """Whether some cell has the code of the goal: whether a nibble of the difference is zero (Mycroft's test)."""
    if space.goal == 0:
        return False
    difference = cells ^ (u64(space.goal) * LOWEST_BITS)
    return ((difference - LOWEST_BITS) & ~difference & (LOWEST_BITS << u64(3))) != u64(0)


@inline
def find(keys: Keys, begin: Int, end: Int, key: Word) -> Int:
    """The index of a key between `begin` and `end`, -1 where there is none; binary search without hard branches."""
    count = end - begin
    if count <= 0:
        return -1
    while count > 1:
        half = count >> 1
        begin = begin + half if keys[begin + half] <= key else begin
        count -= half
    return begin if keys[begin] == key else -1


@inline
def board_sum(space: Space, cells: Word) -> Int:
    """The sum of all tiles without the walls."""
    found: Int = 0
    cells ^= space.walls
    while cells:
        found += (1 << np.int64(cells & u64(15))) & ~1
        cells >>= u64(4)
    return found


# Enumeration


@kernel
def move_states(space: Space, states: Keys, into: Keys) -> Int:
    """Write the canonical afterstates of all moves to `into`, without those that have reached the goal.

    Args:
        space: The problem.
        states: The states of a layer.
        into: uint64[4 * len(states)], overwritten.

    Returns:
        How many were written; some are written more than once.
    """
    n = 0
    for i in range(len(states)):
        for action in range(4):
            after, reward = slide_cells(space, states[i], action)
            if reward != ILLEGAL and not reaches_goal(space, after):
                into[n] = canonical(space, after)
                n += 1
    return n


@kernel
def count_states(space: Space, states: Keys) -> tuple[Int, Int]:
    """Count the states that have a legal move, and the boards that all states stand for."""
    live, boards = 0, 0
    for i in range(len(states)):
        boards += orbit(space, states[i])
        for action in range(4):
            if slide_cells(space, states[i], action)[1] != ILLEGAL:
                live += 1
                break
    return live, boards


@kernel
def add_tiles(space: Space, afterstates: Keys, code: Int, into: Keys) -> Int:
    """Write the canonical states with a new tile of a code to `into`; returns how many were written.

    Args:
        space: The problem.
        afterstates: The afterstates of a layer.
        code: The code of the new tile.
        into: uint64[cells * len(afterstates)], overwritten.
    """
    n = 0
    for i in range(len(afterstates)):
        empty = empty_cells(afterstates[i], space.free)
        while empty:
            place = empty & (~empty + u64(1))
            empty ^= place
            into[n] = canonical(space, afterstates[i] | (place * u64(code)))
            n += 1
    return n


@kernel
def start_weights(space: Space, boards: Keys, weights: Values, code: Int, into: Keys, chances: Values) -> Int:
    """Add a first tile to boards: like `add_tiles`, with the probability of each result in `chances`."""
    n = 0
    chance = space.four if code == 2 else 1.0 - space.four
    for i in range(len(boards)):
        empty = empty_cells(boards[i], space.free)
        cells = np.float64(popcount(empty))
        while empty:
            place = empty & (~empty + u64(1))
            empty ^= place
            into[n] = canonical(space, boards[i] | (place * u64(code)))
            chances[n] = weights[i] * chance / cells
            n += 1
    return n


@kernel
def sum_boards(space: Space, boards: Keys, into: NDArray[np.int64]) -> None:
    """Write the sums of the tiles of some boards to `into`."""
    for i in range(len(boards)):
        into[i] = board_sum(space, boards[i])


@kernel
def drop_duplicates(boards: Keys) -> Int:
    """Move the different ones of sorted boards to the front, in place; returns how many there are."""
    n = 0
    for i in range(len(boards)):
        if i == 0 or boards[i] != boards[i - 1]:
            boards[n] = boards[i]
            n += 1
    return n


@kernel
def merge_unique(first: Keys, second: Keys, into: Keys) -> Int:
    """Merge two layers into one, each board once; returns how many there are.

    Args:
        first: Sorted, each board once.
        second: The same.
        into: uint64[len(first) + len(second)], overwritten.
    """
    i, j, n = 0, 0, 0
    while i < len(first) and j < len(second):
        a, b = first[i], second[j]
        into[n] = min(a, b)
        n += 1
        i += a <= b
        j += b <= a
    for k in range(i, len(first)):
        into[n] = first[k]
        n += 1
    for k in range(j, len(second)):
        into[n] = second[k]
        n += 1
    return n


@kernel
def add_up(boards: Keys, weights: Values, keys: Keys, into: Values) -> None:
    """Add the weight of every board to the entry of its key in `into`; every board must be among the keys."""
    for i in range(len(boards)):
        into[find(keys, 0, len(keys), boards[i])] += weights[i]


@kernel
def spread_weights(space: Space, afterstates: Keys, weights: Values, code: Int, keys: Keys, into: Values) -> None:
    """Distribute the weight of every afterstate over its states with a new tile of a code.

    Args:
        space: The problem.
        afterstates: The afterstates of a layer.
        weights: Their weights.
        code: The code of the new tile.
        keys: The states of the layer of the results.
        into: float64[len(keys)], to which the weights are added.
    """
    chance = space.four if code == 2 else 1.0 - space.four
    for i in range(len(afterstates)):
        empty = empty_cells(afterstates[i], space.free)
        weight = weights[i] * chance / np.float64(popcount(empty))
        while empty:
            place = empty & (~empty + u64(1))
            empty ^= place
            into[find(keys, 0, len(keys), canonical(space, afterstates[i] | (place * u64(code))))] += weight


# Backward induction


@kernel
def afterstate_values(
    space: Space, afterstates: Keys, twos: Keys, of_twos: Values, fours: Keys, of_fours: Values, into: Values
) -> Int:
    """Write the expectation over the new tile to `into`; returns the number of states that were not found: none.

    Args:
        space: The problem.
        afterstates: Some afterstates of a layer.
        twos: The states of the layer above: those with a new 2.
        of_twos: Their values.
        fours: The states of the layer above that.
        of_fours: Their values.
        into: float64[len(afterstates)], overwritten.
    """
    missing = 0
    for i in range(len(afterstates)):
        empty = empty_cells(afterstates[i], space.free)
        cells = np.float64(popcount(empty))
        with_two: Float = 0.0
        with_four: Float = 0.0
        while empty:
            place = empty & (~empty + u64(1))
            empty ^= place
            if space.four < 1:
                found = find(twos, 0, len(twos), canonical(space, afterstates[i] | place))
                missing += found < 0
                with_two += of_twos[found] if found >= 0 else np.nan
            if space.four > 0:
                found = find(fours, 0, len(fours), canonical(space, afterstates[i] | (place << u64(1))))
                missing += found < 0
                with_four += of_fours[found] if found >= 0 else np.nan
        value = ((1.0 - space.four) * with_two + space.four * with_four) / cells
        into[i] = min(value, 1.0) if space.goal else value  # rounding may add 2 ** -52 to certainty
    return missing


@inline
def move_value(space: Space, cells: Word, action: Int, keys: Keys, values: Values, begin: Int, end: Int) -> Float:
    """The value of a move, -inf where it is illegal, NaN where the afterstate is not in the layer."""
    after, reward = slide_cells(space, cells, action)
    if reward == ILLEGAL:
        return -np.inf
    if reaches_goal(space, after):
        return 1.0
    found = find(keys, begin, end, canonical(space, after))
    if found < 0:
        return np.nan
    return values[found] if space.goal else reward + values[found]


@kernel
def state_values(space: Space, states: Keys, afterstates: Keys, of_afterstates: Values, into: Values) -> Int:
    """Write the value of the best move to `into`, 0 where there is none; returns how many afterstates are missing.

    Args:
        space: The problem.
        states: Some states of a layer.
        afterstates: All afterstates of the same layer.
        of_afterstates: Their values.
        into: float64[len(states)], overwritten.
    """
    missing = 0
    for i in range(len(states)):
        best = -np.inf
        for action in range(4):
            value = move_value(space, states[i], action, afterstates, of_afterstates, 0, len(afterstates))
            missing += np.isnan(value)
            best = max(best, value)
        into[i] = 0.0 if best == -np.inf else best
    return missing
