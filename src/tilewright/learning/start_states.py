"""Where training games begin: with the first tiles, or in turn on boards that earlier games reached (Yeh 2016, III)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright.games.rules import LARGEST_NIBBLE, Rules, State, slide, spawn, start, visible
from tilewright._core.jit import Int, Word, inline, kernel
from tilewright.ntuple.value import Method, consider
from tilewright.ntuple.downgrade import Knowledge, as_known
from tilewright.ntuple.stages import Staging, stage_of
from tilewright.games.policy import OVER
from tilewright.rng import Key, Stream, seed_stream

__all__ = ["NOT_REACHED", "Boards", "begin", "collect_boards", "joined", "make_boards"]

u64 = np.uint64
NOT_REACHED = -1


class Boards(NamedTuple):
    """The afterstates at which games reached a stage first."""

    cells: NDArray[np.uint64]
    extra: NDArray[np.uint64]
    scores: NDArray[np.int64]  # until then, or NOT_REACHED
    finals: NDArray[np.int64]  # at the end of the game


def make_boards(count: int) -> Boards:
    cells, extra = np.zeros(count, np.uint64), np.zeros(count, np.uint64)
    return Boards(cells, extra, np.zeros(count, np.int64), np.zeros(count, np.int64))


def joined(pieces: list[Boards]) -> Boards:
    """One after the other, without games that did not reach the stage."""
    whole = Boards._make(np.concatenate(columns) for columns in zip(*pieces, strict=True))
    reached = whole.scores != NOT_REACHED
    return Boards._make(column[reached] for column in whole)


@inline
def begin(rules: Rules, starts: Boards, number: Word, stream: Stream) -> tuple[State, Int]:
    """The first state of game `number`, and the score it begins with. Without any boards, that of a new game."""
    if not len(starts.cells):
        return start(rules, stream)
    i = number % u64(len(starts.cells))
    state, gain = spawn(rules, State(starts.cells[i], starts.extra[i]), stream)
    return state, starts.scores[i] + gain


@kernel
def collect_boards(
    rules: Rules,
    method: Method,
    knowledge: Knowledge,
    starts: Boards,
    stages: Staging,
    stage: Int,
    key: Key,
    first: Int,
    stream: Stream,
    boards: Boards,
) -> None:
    """Play games number `first` and on to their end without learning; fill `boards` with where they reach a stage.

    Boards with larger tiles than are known are played as smaller ones.
    """
    for i in range(len(boards.cells)):
        number = u64(first + i)
        seed_stream(stream, key, number)
        state, score = begin(rules, starts, number, stream)
        boards.scores[i] = NOT_REACHED
        while True:
            action = consider(method, rules, as_known(knowledge, rules, state)).action
            if action == OVER:
                break
            after, reward = slide(rules, state, action)
            score += reward
            if boards.scores[i] == NOT_REACHED and stage_of(stages, visible(rules, after, LARGEST_NIBBLE)) >= stage:
                boards.cells[i], boards.extra[i], boards.scores[i] = after.cells, after.extra, score
            state, gain = spawn(rules, after, stream)
            score += gain
        boards.finals[i] = score
