"""Where training games begin: with the first tiles, or in turn on boards that earlier games reached (Yeh 2016, III)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, Word, inline, kernel
from tilewright.games.policy import NO_ACTION
from tilewright.games.rules import LARGEST_NIBBLE, Rules, State, downgraded_cells, slide, spawn, start
from tilewright.ntuple.downgrade import Downgrading, downgrade
from tilewright.ntuple.stages import Stages, stage_of
from tilewright.ntuple.value import ValueFunction, greedy_action
from tilewright.rng import Key, Stream, seed_stream

__all__ = ["NOT_REACHED", "StartPool", "collect_starts", "concatenate_pools", "make_start_pool", "reset"]

u64 = np.uint64
NOT_REACHED = -1


class StartPool(NamedTuple):
    """The afterstates at which games reached a stage first."""

    cells: NDArray[np.uint64]
    extra: NDArray[np.uint64]
    scores: NDArray[np.int64]  # until then, or NOT_REACHED
    finals: NDArray[np.int64]  # at the end of the game


def make_start_pool(count: int) -> StartPool:
    cells, extra = np.zeros(count, np.uint64), np.zeros(count, np.uint64)
    return StartPool(cells, extra, np.zeros(count, np.int64), np.zeros(count, np.int64))


def concatenate_pools(pieces: list[StartPool]) -> StartPool:
    """One after the other, without games that did not reach the stage."""
    whole = StartPool._make(np.concatenate(columns) for columns in zip(*pieces, strict=True))
    reached = whole.scores != NOT_REACHED
    return StartPool._make(column[reached] for column in whole)


@inline
def reset(rules: Rules, starts: StartPool, number: Word, stream: Stream) -> tuple[State, Int]:
    """The first state of game `number`, and the score it begins with. Without any boards, that of a new game."""
    if not len(starts.cells):
        return start(rules, stream)
    i = number % u64(len(starts.cells))
    state, gain = spawn(rules, State(starts.cells[i], starts.extra[i]), stream)
    return state, starts.scores[i] + gain


@kernel
def collect_starts(
    rules: Rules,
    value_function: ValueFunction,
    downgrading: Downgrading,
    starts: StartPool,
    stages: Stages,
    stage: Int,
    key: Key,
    first: Int,
    stream: Stream,
    boards: StartPool,
) -> None:
    """Play games number `first` and on to their end without learning; fill `boards` with where they reach a stage.

    Boards with larger tiles than are known are played as smaller ones.
    """
    for i in range(len(boards.cells)):
        number = u64(first + i)
        seed_stream(stream, key, number)
        state, score = reset(rules, starts, number, stream)
        boards.scores[i] = NOT_REACHED
        while True:
            action = greedy_action(value_function, rules, downgrade(downgrading, rules, state)).action
            if action == NO_ACTION:
                break
            after, reward = slide(rules, state, action)
            score += reward
            if (
                boards.scores[i] == NOT_REACHED
                and stage_of(stages, downgraded_cells(rules, after, LARGEST_NIBBLE)) >= stage
            ):
                boards.cells[i], boards.extra[i], boards.scores[i] = after.cells, after.extra, score
            state, gain = spawn(rules, after, stream)
            score += gain
        boards.finals[i] = score
