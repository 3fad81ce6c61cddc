"""Pruning: a model that ships can do without the weights that good play never looks up.

Learning visits many boards that good play never meets again. The weights that some games look up are counted: those of
every move at one ply, and now and then those of a two-ply search.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, implements, inline, kernel
from tilewright._core.parallel import default_threads, parallel_for
from tilewright.errors import UsageError
from tilewright.games.policy import NO_LIMIT, Move, on_move, play
from tilewright.games.rules import ILLEGAL, Outcomes, Rules, State, make_outcomes, outcomes, slide, start
from tilewright.ntuple.downgrade import Downgraded, downgrade
from tilewright.ntuple.model import Model
from tilewright.ntuple.stages import UNWRITTEN, UNWRITTEN_16
from tilewright.ntuple.value import make_value_function
from tilewright.ntuple.weights import Indices, WeightTables, compute_indices, lookups
from tilewright.rng import Key, Stream, new_stream, seed_stream, stream_key

__all__ = ["count_lookups", "prune"]

u64 = np.uint64
SEARCH_INTERVAL = 16  # moves from one two-ply search to the next: such a search reads fifty times as many boards
MAX_COUNT = 2**16 - 1
Counts = NDArray[np.uint16]


class LookupCounter(NamedTuple):
    """An observer that counts the weights that a policy looks up."""

    policy: Downgraded
    search_interval: Int
    phase: Int  # when the searches take place: every game has another one
    outcomes: Outcomes
    indices: Indices  # uint32[lookups]
    counts: Counts  # uint16[weights], incremented in place up to MAX_COUNT


@inline
def _count(counter: LookupCounter, tables: WeightTables, rules: Rules, state: State) -> None:
    """Count the weights of a board, and those of earlier stages that may be read instead."""
    compute_indices(tables, rules, state, counter.indices, 0)
    for i in range(lookups(tables)):
        index = u64(counter.indices[i])
        while True:
            if counter.counts[index] < MAX_COUNT:
                counter.counts[index] += np.uint16(1)
            if index < tables.stage_size:
                break
            index -= tables.stage_size


@implements(on_move, LookupCounter)
def count_lookups_of_move(counter: LookupCounter, rules: Rules, move: Move) -> None:
    """Count what choosing the move looked up."""
    tables = counter.policy.policy.tables
    seen = downgrade(counter.policy.downgrading, rules, move.state)
    searches = (counter.phase + move.number) % counter.search_interval == 0
    for action in range(4):
        after, reward = slide(rules, seen, action)
        if reward == ILLEGAL:
            continue
        for i in range(outcomes(rules, after, counter.outcomes) if searches else 0):
            following = State(counter.outcomes.cells[i], counter.outcomes.extra[i])
            for reply in range(4):
                later, later_reward = slide(rules, following, reply)
                if later_reward != ILLEGAL:
                    _count(counter, tables, rules, later)
        _count(counter, tables, rules, after)


@kernel
def count_in_games(rules: Rules, counter: LookupCounter, key: Key, first: Int, count: Int, stream: Stream) -> None:
    """Play the games numbered from `first` and count what they look up."""
    for game in range(first, first + count):
        seed_stream(stream, key, u64(game))
        state, score = start(rules, stream)
        observer = LookupCounter(
            counter.policy, counter.search_interval, game, counter.outcomes, counter.indices, counter.counts
        )
        play(rules, counter.policy, state, score, stream, observer, NO_LIMIT)


def count_lookups(
    model: Model,
    games: int,
    *,
    search_interval: int = SEARCH_INTERVAL,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Counts:
    """Count how often each weight is looked up in a number of games, up to 65,535 times.

    Args:
        model: A model of afterstate values.
        games: The number of games to play.
        search_interval: The number of moves from one two-ply search to the next.
        seed: The same seed gives the same games.
        threads: The number of threads; None for all processors.
        progress: Called with the number of games finished since the last call.

    Returns:
        uint16[weights].
    """
    if model.value_function != "afterstate":
        raise UsageError(
            f"a network of {model.value_function} values; only those of afterstates can be cut to what play uses"
        )
    rules, key = model.game.rules, stream_key(seed)
    counts = np.zeros(len(model.weights), np.uint16)
    n = model.architecture.lookups(model.game)

    def work(first: int, count: int) -> None:
        policy = Downgraded(make_value_function("afterstate", model.tables, n), model.downgrading)
        counter = LookupCounter(policy, search_interval, 0, make_outcomes(), np.empty(n, np.uint32), counts)
        count_in_games(rules, counter, key, first, count, new_stream())

    parallel_for(work, games, default_threads() if threads is None else threads, progress)
    return counts


def _least_count(counts: Counts, max_weights: int) -> int:
    """Return the number of look-ups from which on at most `max_weights` weights are kept."""
    having = np.zeros(MAX_COUNT + 1, np.int64)
    for begin in range(0, len(counts), 2**24):  # to count 16-bit numbers NumPy takes four times their memory
        having += np.bincount(counts[begin : begin + 2**24], minlength=MAX_COUNT + 1)
    at_least = np.cumsum(having[::-1])[::-1]
    enough = np.flatnonzero(at_least[1:] <= max_weights)
    if not len(enough):
        raise UsageError(
            f"{at_least[-1]:,} weights are looked up {MAX_COUNT:,} times or more; {max_weights:,} are too few"
        )
    return int(enough[0]) + 1


def prune(
    model: Model,
    games: int,
    max_weights: int | None = None,
    *,
    search_interval: int = SEARCH_INTERVAL,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Model:
    """Return the model without the weights that `games` games never look up.

    Args:
        max_weights: Keep at most this number of weights, those that are looked up most often; None for no limit.
        model, games, search_interval, seed, threads, progress: See `count_lookups`.

    >>> from tilewright.ntuple.patterns import NTupleArchitecture
    >>> architecture = NTupleArchitecture(("01", "04"))
    >>> weights = np.ones(architecture.table_size, np.float32)
    >>> model = Model(make_game("2048:rows=2,columns=2"), architecture, "afterstate", weights)
    >>> [int(prune(model, 100, most, threads=1).weights.sum()) for most in (None, 20)]
    [48, 20]
    """
    counts = count_lookups(model, games, search_interval=search_interval, seed=seed, threads=threads, progress=progress)
    used = counts >= (1 if max_weights is None else _least_count(counts, max_weights))
    blank = UNWRITTEN_16 if model.weights.dtype == np.int16 else UNWRITTEN
    kept = np.where(used, model.weights, model.weights.dtype.type(0))
    if model.architecture.promoted_from is not None:
        later = slice(model.architecture.promoted_from, None)
        kept[later] = np.where(used[later], model.weights[later], model.weights.dtype.type(blank))
    return replace(model, weights=kept)
