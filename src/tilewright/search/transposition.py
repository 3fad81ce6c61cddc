"""A transposition table: values of states that were searched before.

In an exact search, the value of a state at a given depth follows from the state and the depth alone, so an entry stays
valid across moves and games. An entry holds everything that its value depends on, and `probe` compares all of it: a hit
is never wrong. Each thread has its own table; a new entry replaces the old one of its slot.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Float, Word, inline
from tilewright.games.rules import State

__all__ = ["TranspositionTable", "make_transposition_table", "probe", "slot_of", "store"]

u64 = np.uint64
MULTIPLY_CELLS, MULTIPLY_EXTRA = u64(0x9E3779B97F4A7C15), u64(0xC2B2AE3D27D4EB4F)
BYTES_PER_ENTRY = 28


class TranspositionTable(NamedTuple):
    """Keys and values by slot; a key of zeros is an empty slot."""

    keys: NDArray[np.uint64]  # uint64[3 * entries]: cells, extra, and how the state was searched (never 0)
    values: NDArray[np.float32]
    shift: Word  # 64 - log2(entries)


def make_transposition_table(megabytes: float) -> TranspositionTable:
    """Return an empty table of at most that size, and at least two entries."""
    bits = max(1, int(np.log2(max(2.0, megabytes * 1e6 / BYTES_PER_ENTRY))))
    return TranspositionTable(np.zeros(3 << bits, np.uint64), np.zeros(1 << bits, np.float32), np.uint64(64 - bits))


@inline
def slot_of(table: TranspositionTable, state: State, how: Word) -> Word:
    """Return the slot of a state that is searched in the way `how`."""
    mixed = (state.cells ^ (state.extra + how) * MULTIPLY_EXTRA) * MULTIPLY_CELLS
    return ((mixed ^ (mixed >> u64(29))) * MULTIPLY_CELLS) >> table.shift


@inline
def probe(table: TranspositionTable, slot: Word, state: State, how: Word) -> bool:
    """Tell whether the slot holds exactly this state, searched in exactly this way."""
    k = u64(3) * slot
    return table.keys[k] == state.cells and table.keys[k + u64(1)] == state.extra and table.keys[k + u64(2)] == how


@inline
def store(table: TranspositionTable, slot: Word, state: State, how: Word, value: Float) -> None:
    """Write the value of a state to its slot."""
    k = u64(3) * slot
    table.keys[k], table.keys[k + u64(1)], table.keys[k + u64(2)] = state.cells, state.extra, how
    table.values[slot] = value
