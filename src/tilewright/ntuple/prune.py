"""Which weights a network looks up when it plays: a model that ships can do without the others.

Learning visits many boards that good play never meets again. Games are played at one ply, and counted is how often the
weights are looked up, now and then also by a search of two plies.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, Word, inline, kernel
from tilewright._core.parallel import default_threads, parallel_for
from tilewright.errors import UsageError
from tilewright.games.policy import NO_ACTION
from tilewright.games.rules import ILLEGAL, Outcomes, Rules, State, outcomes, slide, spawn, start
from tilewright.games.state_kernels import make_outcomes
from tilewright.ntuple.downgrade import Downgrading, downgrade
from tilewright.ntuple.model import Model
from tilewright.ntuple.stages import UNWRITTEN, UNWRITTEN_16
from tilewright.ntuple.weights import Indices, WeightTables, compute_indices, lookups, sum_weights
from tilewright.rng import Stream, new_stream, seed_stream, stream_key

__all__ = ["count_lookups", "prune"]

u64 = np.uint64
EVERY = 16  # moves from one search of two plies to the next: such a search looks at fifty times as many boards
MOST_COUNTED = 2**16 - 1
Counts = NDArray[np.uint16]


@inline
def _look_at(tables: WeightTables, rules: Rules, state: State, indices: Indices, counts: Counts) -> None:
    """Count the weights of a board, and in earlier stages those that may be read instead."""
    compute_indices(tables, rules, state, indices, 0)
    for i in range(lookups(tables)):
        index = u64(indices[i])
        while True:
            if counts[index] < MOST_COUNTED:
                counts[index] += np.uint16(1)
            if index < tables.stage_size:
                break
            index -= tables.stage_size


@kernel
def count_in_games(
    rules: Rules,
    tables: WeightTables,
    key: Word,
    first: Int,
    count: Int,
    every: Int,
    downgrading: Downgrading,
    stream: Stream,
    chances: Outcomes,
    indices: Indices,
    counts: Counts,
) -> None:
    """Play some games, and count what is looked at."""
    for game in range(first, first + count):
        seed_stream(stream, key, u64(game))
        state, _ = start(rules, stream)
        moves = game  # every game has its searches at other moves
        while True:
            seen, best, chosen = downgrade(downgrading, rules, state), np.float32(0), NO_ACTION
            for action in range(4):
                after, reward = slide(rules, seen, action)
                if reward == ILLEGAL:
                    continue
                for i in range(outcomes(rules, after, chances) if moves % every == 0 else 0):
                    for reply in range(4):
                        later, gain = slide(rules, State(chances.cells[i], chances.extra[i]), reply)
                        if gain != ILLEGAL:
                            _look_at(tables, rules, later, indices, counts)
                _look_at(tables, rules, after, indices, counts)
                q_values = np.float32(reward) + sum_weights(tables, indices, 0, u64(0))
                if chosen == NO_ACTION or q_values > best:
                    best, chosen = q_values, action
            if chosen == NO_ACTION:
                break
            after, _ = slide(rules, state, chosen)
            state, _ = spawn(rules, after, stream)
            moves += 1


def count_lookups(
    model: Model,
    games: int,
    *,
    every: int = EVERY,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Counts:
    """How often each weight is looked up in so many games (up to 65,535 times)."""
    if model.value_function != "afterstate":
        raise UsageError(
            f"a network of {model.value_function} values; only those of afterstates can be cut to what play uses"
        )
    rules, tables, key = model.game.rules, model.tables, stream_key(seed)
    counts = np.zeros(len(model.weights), np.uint16)
    lookups_of_one = model.shape.lookups(model.game)

    def work(first: int, count: int) -> None:
        indices = np.empty(lookups_of_one, np.uint32)
        count_in_games(
            rules, tables, key, first, count, every, model.downgrading, new_stream(), make_outcomes(), indices, counts
        )

    parallel_for(work, games, default_threads() if threads is None else threads, progress)
    return counts


def _fewest_lookups(counts: Counts, most: int) -> int:
    """How often a weight must be looked up to be among so many weights."""
    having = np.zeros(MOST_COUNTED + 1, np.int64)
    for start_at in range(0, len(counts), 2**24):  # to count 16-bit numbers NumPy makes four times their memory
        having += np.bincount(counts[start_at : start_at + 2**24], minlength=MOST_COUNTED + 1)
    at_least = np.cumsum(having[::-1])[::-1]
    enough = np.flatnonzero(at_least[1:] <= most)
    if not len(enough):
        raise UsageError(f"{at_least[-1]:,} weights are looked up {MOST_COUNTED:,} times or more; {most:,} are too few")
    return int(enough[0]) + 1


def prune(model: Model, games: int, most: int | None = None, **options: Any) -> Model:
    """The model without the weights that so many games (and `options` of `count_lookups`) never look up.

    With `most`, at most so many weights are kept: those that are looked up most often.

    >>> from tilewright.ntuple.patterns import NTupleArchitecture
    >>> from tilewright.games import make_game
    >>> shape = NTupleArchitecture(("01", "04"))
    >>> model = Model(make_game("2048:rows=2,columns=2"), shape, "afterstate", np.ones(shape.table_size, np.float32))
    >>> [int(prune(model, 100, most, threads=1).weights.sum()) for most in (None, 20)]
    [48, 20]
    """
    counts = count_lookups(model, games, **options)
    used = counts >= (1 if most is None else _fewest_lookups(counts, most))
    blank = UNWRITTEN_16 if model.weights.dtype == np.int16 else UNWRITTEN
    kept = np.where(used, model.weights, model.weights.dtype.type(0))
    if model.shape.promoted_from is not None:
        later = slice(model.shape.promoted_from, None)
        kept[later] = np.where(used[later], model.weights[later], model.weights.dtype.type(blank))
    return replace(model, weights=kept)
