"""Many random draws of the package's own kernels, and the test whether they follow a distribution.

All draws are seeded, so a run always gives the same verdict. The threshold is chosen for the day the stream changes:
right rules then fail one check in a million.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from tilewright._core.jit import kernel
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.rules import Rules, State, spawn, start, typed_state
from tilewright.rng import Stream, stream_for

Words = NDArray[np.uint64]
K = TypeVar("K")

FALSE_ALARM_RATE = 1e-6
FEWEST_EXPECTED = 5  # chi-square is trusted from here on; rarer outcomes are counted together


def assert_follows(observed: Mapping[K, int], probabilities: Mapping[K, float]) -> None:
    """Chi-square; what has no probability must not occur at all."""
    assert set(observed) <= set(probabilities)
    total = sum(observed.values())
    common = [key for key, chance in probabilities.items() if chance * total >= FEWEST_EXPECTED]
    counts = [observed.get(key, 0) for key in common]
    expected = [probabilities[key] * total for key in common]
    if len(common) < len(probabilities):
        counts.append(total - sum(counts))
        expected.append(total - sum(expected))
    assert len(counts) > 1, "one outcome alone tells nothing"
    p_value = stats.chisquare(counts, expected).pvalue
    assert p_value > FALSE_ALARM_RATE, dict(zip(common, zip(counts, expected, strict=False), strict=False))


def counted(game: Game, cells: Words, extra: Words) -> Counter[Board]:
    """How often each board is among the states."""
    pairs: NDArray[Any] = np.rec.fromarrays([cells, extra])
    found, counts = np.unique(pairs, return_counts=True)
    return Counter(
        {Board(game, State(int(c), int(e))): int(count) for (c, e), count in zip(found, counts, strict=True)}
    )


def spawned(game: Game, after: Board, samples: int, seed: int = 0) -> Counter[Board]:
    """How often each board came out of `spawn`."""
    cells, extra = np.empty(samples, np.uint64), np.empty(samples, np.uint64)
    _spawn_many(game.rules, typed_state(after.state), stream_for(seed), cells, extra)
    return counted(game, cells, extra)


def started(game: Game, samples: int, seed: int = 0) -> tuple[Words, Words]:
    """The states that came out of `start`: nibbles, and `extra`."""
    cells, extra = np.empty(samples, np.uint64), np.empty(samples, np.uint64)
    _start_many(game.rules, stream_for(seed), cells, extra)
    return cells, extra


def spawned_in_turn(game: Game, after: Board, samples: int, seed: int = 0) -> tuple[Words, Words]:
    """One spawn after another: hint and bag go on, the tiles on the board are those of `after` each time.

    Returns what each spawn added to the nibbles, and the `extra` after it.
    """
    added, extra = np.empty(samples, np.uint64), np.empty(samples, np.uint64)
    _spawn_in_turn(game.rules, typed_state(after.state), stream_for(seed), added, extra)
    return added, extra


@kernel
def _spawn_many(rules: Rules, after: State, stream: Stream, cells: Words, extra: Words) -> None:
    for i in range(len(cells)):
        state, _ = spawn(rules, after, stream)
        cells[i] = state.cells
        extra[i] = state.extra


@kernel
def _start_many(rules: Rules, stream: Stream, cells: Words, extra: Words) -> None:
    for i in range(len(cells)):
        state, _ = start(rules, stream)
        cells[i] = state.cells
        extra[i] = state.extra


@kernel
def _spawn_in_turn(rules: Rules, after: State, stream: Stream, added: Words, extra: Words) -> None:
    entry = after.extra >> np.uint64(16) << np.uint64(16)
    turn = after
    for i in range(len(added)):
        state, _ = spawn(rules, turn, stream)
        added[i] = state.cells ^ after.cells
        extra[i] = state.extra
        turn = State(after.cells, state.extra | entry)
