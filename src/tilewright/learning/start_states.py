"""Start states of training games: new games, or the boards at which earlier games reached a stage (Yeh 2016)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, Word, implements, inline, kernel
from tilewright.games.policy import NO_LIMIT, Move, Policy, on_move, play
from tilewright.games.rules import LARGEST_NIBBLE, Rules, State, downgraded_cells, spawn, start
from tilewright.ntuple.stages import Stages, stage_of
from tilewright.rng import Key, Stream, seed_stream

__all__ = ["NOT_REACHED", "StartPool", "collect_starts", "concatenate_pools", "make_start_pool", "reset"]

u64 = np.uint64
NOT_REACHED = -1


class StartPool(NamedTuple):
    """The afterstates at which games first reached a stage, one entry per game."""

    cells: NDArray[np.uint64]
    extra: NDArray[np.uint64]
    scores: NDArray[np.int64]  # the score at that moment, or NOT_REACHED
    finals: NDArray[np.int64]  # the score at the end of the game


def make_start_pool(count: int) -> StartPool:
    """Return a zeroed pool of `count` entries."""
    cells, extra = np.zeros(count, np.uint64), np.zeros(count, np.uint64)
    return StartPool(cells, extra, np.zeros(count, np.int64), np.zeros(count, np.int64))


def concatenate_pools(pools: list[StartPool]) -> StartPool:
    """Return the entries of all pools in order, without the games that did not reach the stage."""
    whole = StartPool._make(np.concatenate(columns) for columns in zip(*pools, strict=True))
    reached = whole.scores != NOT_REACHED
    return StartPool._make(column[reached] for column in whole)


@inline
def reset(rules: Rules, starts: StartPool, number: Word, stream: Stream) -> tuple[State, Int]:
    """Return the first state of game `number` and its score; that of a new game if the pool is empty."""
    if not len(starts.cells):
        return start(rules, stream)
    i = number % u64(len(starts.cells))
    state, spawn_reward = spawn(rules, State(starts.cells[i], starts.extra[i]), stream)
    return state, starts.scores[i] + spawn_reward


class StageEntry(NamedTuple):
    """An observer that writes down where a game first reaches a stage."""

    stages: Stages
    stage: Int
    pool: StartPool  # entry `game` is written
    game: Int


@implements(on_move, StageEntry)
def note_stage_entry(entry: StageEntry, rules: Rules, move: Move) -> None:
    """Write the first afterstate of the stage."""
    pool, i = entry.pool, entry.game
    if pool.scores[i] != NOT_REACHED:
        return
    if stage_of(entry.stages, downgraded_cells(rules, move.after, LARGEST_NIBBLE)) >= entry.stage:
        pool.cells[i], pool.extra[i] = move.after.cells, move.after.extra
        pool.scores[i] = move.score - move.spawn_reward


@kernel
def collect_starts(
    rules: Rules,
    policy: Policy,
    starts: StartPool,
    stages: Stages,
    stage: Int,
    key: Key,
    first: Int,
    stream: Stream,
    pool: StartPool,
) -> None:
    """Play the games numbered from `first` without learning, and fill `pool` with where they reach `stage`."""
    for i in range(len(pool.cells)):
        number = u64(first + i)
        seed_stream(stream, key, number)
        state, score = reset(rules, starts, number, stream)
        pool.scores[i] = NOT_REACHED
        _, score, _, _ = play(rules, policy, state, score, stream, StageEntry(stages, stage, pool, i), NO_LIMIT)
        pool.finals[i] = score
