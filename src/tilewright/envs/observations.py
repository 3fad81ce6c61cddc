"""Observations: a NamedTuple type for every encoding of a state, and the verb `encode`.

    grid         uint8[rows, columns]        the tile codes (exponents in 2048)
    onehot       uint8[16, rows, columns]    plane c is 1 where the code is c; tiles above 32768 are downgraded first
    lookahead1   uint8[5, rows, columns]     the grid, and the afterstates of up, right, down, left
    lookahead2   uint8[21, rows, columns]    the same, and the four moves from each of these afterstates

The afterstate of an illegal move is all zero. In Threes, every grid has one more row that holds the hint of the next
tile in each of its cells: 1, 2, 3, or 4 for any bonus tile.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.checks import check_choice
from tilewright._core.jit import Int, Word, implements, inline, kernel
from tilewright.envs.options import OBSERVATIONS
from tilewright.games.base import Game
from tilewright.games.rules import ILLEGAL, Rules, State, downgraded_cells, high_bits, hint_of, slide

__all__ = [
    "BONUS_HINT",
    "ONE_HOT_PLANES",
    "Encoder",
    "GridEncoder",
    "LookaheadEncoder",
    "OneHotEncoder",
    "encode",
    "encode_batch",
    "legal_masks",
    "lookahead_boards",
    "make_encoder",
    "make_grid_encoder",
    "observation_shape",
]

u64 = np.uint64
FlatObservation: TypeAlias = NDArray[np.uint8]  # one observation as a row of bytes

ONE_HOT_PLANES = 16  # codes 0 to 15
BONUS_HINT = 4  # the hint of any bonus tile


class GridEncoder(NamedTuple):
    """Encode a state as its tile codes."""

    rows: int
    columns: int
    hint_rows: int  # 1 in games with hints, 0 in others


class OneHotEncoder(NamedTuple):
    """Encode a state as one plane for each tile code."""

    grid: GridEncoder


class LookaheadEncoder(NamedTuple):
    """Encode a state as its grid and the grids of its afterstates, one or two moves deep."""

    grid: GridEncoder
    depth: int


Encoder: TypeAlias = GridEncoder | OneHotEncoder | LookaheadEncoder


def make_encoder(game: Game, observation: str) -> Encoder:
    """Return the encoder of an observation.

    Args:
        game: The game whose states are encoded.
        observation: grid, onehot, lookahead1 or lookahead2.

    Raises:
        UsageError: There is no such observation.

    >>> observation_shape(make_encoder(make_game("2048"), "onehot"))
    (16, 4, 4)
    """
    check_choice(f"observation={observation!r}", observation, OBSERVATIONS)
    grid = make_grid_encoder(game)
    if observation == "grid":
        return grid
    if observation == "onehot":
        return OneHotEncoder(grid)
    return LookaheadEncoder(grid, int(observation[-1]))


def make_grid_encoder(game: Game) -> GridEncoder:
    """Return the encoder of the observation `grid`."""
    return GridEncoder(game.rows, game.columns, int(game.has_hints))


def observation_shape(encoder: Encoder) -> tuple[int, ...]:
    """Return the shape of one observation."""
    if isinstance(encoder, GridEncoder):
        return (encoder.rows + encoder.hint_rows, encoder.columns)
    boards = ONE_HOT_PLANES if isinstance(encoder, OneHotEncoder) else 5 if encoder.depth == 1 else 21
    return (boards, *observation_shape(encoder.grid))


def encode(encoder: Encoder, rules: Rules, state: State, out: FlatObservation) -> None:
    """Write the observation of a state to `out` (verb).

    Args:
        encoder: The encoder; its type selects the implementation.
        rules: The rules of the game.
        state: The state or afterstate.
        out: uint8[size], overwritten.
    """
    raise TypeError("encode is a verb for kernels; from Python use encode_batch")


@inline
def _hint(rules: Rules, state: State) -> Int:
    return min(hint_of(rules, state), BONUS_HINT)


@inline
def _nibble(cells: Word, row: Int, column: Int) -> Word:
    return (cells >> u64(60 - 16 * row - 4 * column)) & u64(15)


@inline
def _encode_grid(grid: GridEncoder, rules: Rules, state: State, out: FlatObservation, start: Int) -> Int:
    """Write the grid of a state to `out` from index `start` on; return the index after it."""
    high = high_bits(rules, state)
    i = start
    for r in range(grid.rows):
        for c in range(grid.columns):
            out[i] = _nibble(state.cells, r, c)
            if high:
                out[i] |= ((high >> u64(15 - 4 * r - c)) & u64(1)) << u64(4)
            i += 1
    for _ in range(grid.hint_rows * grid.columns):
        out[i] = _hint(rules, state)
        i += 1
    return i


@implements(encode, GridEncoder)
def encode_grid(encoder: GridEncoder, rules: Rules, state: State, out: FlatObservation) -> None:
    """Implement `encode` for grids."""
    _encode_grid(encoder, rules, state, out, 0)


@implements(encode, OneHotEncoder)
def encode_one_hot(encoder: OneHotEncoder, rules: Rules, state: State, out: FlatObservation) -> None:
    """Implement `encode` for one-hot planes."""
    grid = encoder.grid
    out[:] = 0
    cells = downgraded_cells(rules, state, ONE_HOT_PLANES - 1)
    plane = (grid.rows + grid.hint_rows) * grid.columns
    cell = 0
    for r in range(grid.rows):
        row = cells >> u64(48 - 16 * r)
        for c in range(grid.columns):
            out[np.int64((row >> u64(12 - 4 * c)) & u64(15)) * plane + cell] = 1
            cell += 1
    for c in range(grid.hint_rows * grid.columns):
        out[_hint(rules, state) * plane + grid.rows * grid.columns + c] = 1


@implements(encode, LookaheadEncoder, forceinline=False)
def encode_lookahead(encoder: LookaheadEncoder, rules: Rules, state: State, out: FlatObservation) -> None:
    """Implement `encode` for grids of afterstates."""
    out[:] = 0
    grid = encoder.grid
    size = _encode_grid(grid, rules, state, out, 0)
    second = 5 * size  # where the grids of two moves begin
    for action in range(4):
        after, reward = slide(rules, state, action)
        if reward != ILLEGAL:
            _encode_grid(grid, rules, after, out, (1 + action) * size)
            if encoder.depth == 2:
                for next_action in range(4):
                    later, next_reward = slide(rules, after, next_action)
                    if next_reward != ILLEGAL:
                        _encode_grid(grid, rules, later, out, second + (4 * action + next_action) * size)


@kernel
def encode_batch(
    encoder: Encoder, rules: Rules, cells: NDArray[np.uint64], extra: NDArray[np.uint64], out: NDArray[np.uint8]
) -> None:
    """Write the observations of n states to `out`.

    Args:
        encoder: The encoder.
        rules: The rules of the game.
        cells: uint64[n], the first words of the states.
        extra: uint64[n], their second words.
        out: uint8[n, size], overwritten.
    """
    for i in range(len(cells)):
        encode(encoder, rules, State(cells[i], extra[i]), out[i])


@inline
def _state_of_grid(grid: GridEncoder, codes: FlatObservation) -> State:
    """Return the state whose grid this is, without its hint."""
    cells, high = u64(0), u64(0)
    for r in range(grid.rows):
        for c in range(grid.columns):
            code = u64(codes[r * grid.columns + c])
            cells |= (code & u64(15)) << u64(60 - 16 * r - 4 * c)
            high |= (code >> u64(4)) << u64(15 - 4 * r - c)
    return State(cells, high)


@kernel
def lookahead_boards(
    encoder: LookaheadEncoder, rules: Rules, grids: NDArray[np.uint8], boards: NDArray[np.uint8]
) -> None:
    """Write the observations `lookahead1` or `lookahead2` of boards that are given as grids.

    Args:
        encoder: The encoder of the observations.
        rules: The rules of the game.
        grids: uint8[n, size].
        boards: uint8[n, 5 * size] or uint8[n, 21 * size], overwritten.
    """
    for i in range(len(grids)):
        encode(encoder, rules, _state_of_grid(encoder.grid, grids[i]), boards[i])


@kernel
def legal_masks(grid: GridEncoder, rules: Rules, grids: NDArray[np.uint8], masks: NDArray[np.bool_]) -> None:
    """Find the legal moves on boards that are given as grids.

    Args:
        grid: The encoder that made the grids.
        rules: The rules of the game.
        grids: uint8[n, size].
        masks: bool[n, 4], overwritten: True where a move is legal.
    """
    for i in range(len(grids)):
        state = _state_of_grid(grid, grids[i])
        for action in range(4):
            masks[i, action] = slide(rules, state, action)[1] != ILLEGAL
