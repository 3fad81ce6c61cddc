"""Where games begin: with the first tiles, or on boards that were collected before."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright.games.rules import Rules, State, largest, slide, spawn, start, visible
from tilewright.jit import Int, Word, implements, kernel
from tilewright.learning.methods import Method, consider
from tilewright.networks.stages import Staging, stage_of
from tilewright.playing import OVER, Results
from tilewright.rng import Key, Stream, seed_stream

__all__ = ["Boards", "FirstTiles", "Starts", "begin", "collect_boards", "make_boards"]

u64 = np.uint64
NOT_REACHED = -1
Starts: TypeAlias = Any  # FirstTiles or Boards


class FirstTiles(NamedTuple):
    pass


class Boards(NamedTuple):
    """Afterstates and the scores they were reached with; games begin on them in turn, each with a new tile."""

    cells: NDArray[np.uint64]
    extra: NDArray[np.uint64]
    scores: NDArray[np.int64]


def make_boards(count: int) -> Boards:
    return Boards(np.zeros(count, np.uint64), np.zeros(count, np.uint64), np.full(count, NOT_REACHED, np.int64))


def begin(starts: Starts, rules: Rules, number: Word, stream: Stream) -> tuple[State, Int]:
    """The first state of game number `number`, and the score it begins with."""
    raise TypeError("begin is a verb for kernels")


@implements(begin, FirstTiles)
def begin_with_first_tiles(starts: FirstTiles, rules: Rules, number: Word, stream: Stream) -> tuple[State, Int]:
    return start(rules, stream)


@implements(begin, Boards)
def begin_on_boards(starts: Boards, rules: Rules, number: Word, stream: Stream) -> tuple[State, Int]:
    i = number % u64(len(starts.cells))
    state, gain = spawn(rules, State(starts.cells[i], starts.extra[i]), stream)
    return state, starts.scores[i] + gain


@kernel
def collect_boards(
    rules: Rules,
    method: Method,
    starts: Starts,
    stages: Staging,
    stage: Int,
    key: Key,
    first: Int,
    stream: Stream,
    results: Results,
    boards: Boards,
) -> None:
    """Play games number `first` and on to their end; write down for each the first afterstate of the given stage."""
    for i in range(len(results.scores)):
        number = u64(first + i)
        seed_stream(stream, key, number)
        state, score = begin(starts, rules, number, stream)
        boards.scores[i] = NOT_REACHED
        moves = 0
        while True:
            best = consider(method, rules, state)
            if best.action == OVER:
                break
            after, reward = slide(rules, state, best.action)
            score += reward
            if boards.scores[i] == NOT_REACHED and stage_of(stages, visible(rules, after, 15)) >= stage:
                boards.cells[i], boards.extra[i], boards.scores[i] = after.cells, after.extra, score
            state, gain = spawn(rules, after, stream)
            score += gain
            moves += 1
        results.scores[i], results.moves[i], results.codes[i] = score, moves, largest(rules, state)
