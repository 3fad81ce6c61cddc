"""Many boards at once: one kernel call makes a move on each of them.

This is what both kinds of environment are made of. It knows nothing of Gymnasium.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, inline, kernel, specialise
from tilewright.envs.observations import View, make_view, show, show_grids, view_shape
from tilewright.envs.options import CustomReward, EnvOptions, KernelOptions
from tilewright.errors import UsageError
from tilewright.games.rules import ILLEGAL, Rules, State, largest, slide, spawn, start
from tilewright.rng import low_half, next_word, stream_for

__all__ = ["Boards", "Moved", "Status", "make_status"]

u64 = np.uint64
Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]


class Status(NamedTuple):
    """All that is known of n games under way, changed in place."""

    cells: NDArray[np.uint64]
    extra: NDArray[np.uint64]
    streams: NDArray[np.uint64]  # uint64[n, 2]
    scores: Ints
    moves: Ints
    misses: Ints  # how many of the moves were invalid
    over: Truths  # the episode has ended; the next one begins in the next step


class Moved(NamedTuple):
    """What came of one move on each board; with `again`, finished games begin anew at once, and `final…` is filled."""

    seen: Bytes  # uint8[n, size], the observations
    masks: NDArray[np.int8]  # int8[n, 4], 1 where a move is legal
    rewards: Floats
    ended: Truths
    scores: Ints
    codes: Ints  # the largest tile of episodes that have ended, as its code
    after: NDArray[np.uint64]  # uint64[2, n], the states the moves led to
    final_seen: Bytes
    final_masks: NDArray[np.int8]
    final_scores: Ints


def make_status(count: int) -> Status:
    cells, extra, streams = np.zeros(count, np.uint64), np.zeros(count, np.uint64), np.zeros((count, 2), np.uint64)
    scores, moves, misses = np.zeros((3, count), np.int64)
    return Status(cells, extra, streams, scores, moves, misses, np.ones(count, np.bool_))


@inline
def _begin(rules: Rules, status: Status, i: Int) -> None:
    state, points = start(rules, status.streams[i])
    status.cells[i], status.extra[i] = state.cells, state.extra
    status.scores[i], status.moves[i], status.misses[i], status.over[i] = points, 0, 0, False


@inline
def _legal(rules: Rules, state: State, mask: NDArray[np.int8]) -> Int:
    """Fill the mask of a state; how many moves are legal."""
    count = 0
    for action in range(4):
        legal = slide(rules, state, action)[1] != ILLEGAL
        mask[action] = legal
        count += legal
    return count


@inline
def _ends_by_misses(options: KernelOptions, status: Status, i: Int) -> bool:
    """Whether the invalid move just made ends the episode."""
    if options.end_probability and low_half(next_word(status.streams[i])) < options.end_probability:
        return True
    share = options.end_fraction * status.moves[i]
    return bool(options.end_fraction > 0 and share >= 1 and status.misses[i] > share)


@inline
def _move(rules: Rules, options: KernelOptions, status: Status, i: Int, action: Int, moved: Moved) -> bool:
    """Make a move; whether it ends the episode by being invalid."""
    after, earned = slide(rules, State(status.cells[i], status.extra[i]), action)
    status.moves[i] += 1
    if earned == ILLEGAL:
        status.misses[i] += 1
        moved.rewards[i] = -options.penalty
        return _ends_by_misses(options, status, i)
    state, gain = spawn(rules, after, status.streams[i])
    points = earned + gain
    status.cells[i], status.extra[i] = state.cells, state.extra
    status.scores[i] += points
    moved.rewards[i] = np.log2(points) if options.log2 and points > 0 else points
    return False


@inline
def _copy(source: NDArray[Any], target: NDArray[Any]) -> None:
    for k in range(len(source)):
        target[k] = source[k]


@kernel
def step_all(
    rules: Rules, options: KernelOptions, view: View, status: Status, actions: Ints, again: bool, moved: Moved
) -> bool:
    """A move on every board; whether an episode has ended. On a board whose episode is over the next one begins."""
    any_ended = False
    for i in range(len(actions)):
        begins, missed = status.over[i], False
        moved.rewards[i], moved.ended[i] = 0.0, False
        if not begins:
            missed = _move(rules, options, status, i, actions[i], moved)
            moved.after[0, i], moved.after[1, i] = status.cells[i], status.extra[i]
        while True:  # once, or twice where an episode ends and the next one begins at once
            if begins:
                _begin(rules, status, i)
            state = State(status.cells[i], status.extra[i])
            count = _legal(rules, state, moved.masks[i])
            show(view, rules, state, moved.seen[i])
            moved.scores[i] = status.scores[i]
            if begins or not (missed or count == 0):
                break
            any_ended = moved.ended[i] = status.over[i] = True
            moved.codes[i] = largest(rules, state)
            if not again:
                break
            _copy(moved.seen[i], moved.final_seen[i])
            _copy(moved.masks[i], moved.final_masks[i])
            moved.final_scores[i] = status.scores[i]
            begins = True
    return any_ended


class Boards:
    """`count` games on some terms. Every call gives new arrays: nothing that was handed out changes later."""

    def __init__(self, options: EnvOptions, count: int, *, again: bool = False) -> None:
        if count < 1:
            raise UsageError(f"{count} environments: at least one is needed")
        self.options, self.count, self.again = options, count, again
        self.game = options.make_game()
        self._rules = self.game.rules
        self.view = make_view(self.game, options.observation)
        self.shape = view_shape(self.view)
        self.status = make_status(count)
        self._grid = make_view(self.game, "grid")
        self._kernel_terms = options.kernel_options()
        self._size = int(np.prod(self.shape))
        self._no_actions = np.zeros(count, np.int64)
        self._step = specialise(step_all, *self._arguments(self._no_actions, self.room()))

    def _arguments(self, actions: Ints, moved: Moved) -> tuple[Any, ...]:
        return self._rules, self._kernel_terms, self.view, self.status, actions, self.again, moved

    def seed(self, i: int, seed: int) -> None:
        """Board `i` goes on with the stream of this seed."""
        self.status.streams[i] = stream_for(seed)

    def begin(self, moved: Moved | None = None) -> Moved:
        """Start a game on every board; `moved` is room to use again."""
        moved = self.room() if moved is None else moved
        self.status.over[:] = True
        self._step(*self._arguments(self._no_actions, moved))
        return moved

    def step(self, actions: Ints, moved: Moved | None = None) -> tuple[Moved, bool]:
        """Move on every board: what came of it, and whether an episode has ended; `moved` is room to use again."""
        moved = self.room() if moved is None else moved
        custom = self.options.custom
        before = None if custom is None else (self.states(), self.status.over.copy())
        ended = self._step(*self._arguments(actions, moved))
        if custom is not None and before is not None:
            self._pay(custom, *before, moved)
        return moved, ended

    def _pay(self, custom: CustomReward, before: NDArray[np.uint64], began: Truths, moved: Moved) -> None:
        """Ask the custom reward about all valid moves; one always changes the board."""
        valid = (before != moved.after).any(axis=0) & ~began
        if not valid.any():
            return
        grids = (self.grids(*np.ascontiguousarray(states[:, valid])) for states in (before, moved.after))
        moved.rewards[valid] = custom(moved.rewards[valid], *grids)

    def grids(self, cells: NDArray[np.uint64], extra: NDArray[np.uint64]) -> Bytes:
        """The grids of some states: uint8[n, rows, columns], with one more row where there are hints."""
        into = np.empty((len(cells), *view_shape(self._grid)), np.uint8)
        show_grids(self._grid, self._rules, cells, extra, into.reshape(len(cells), -1))
        return into

    def states(self) -> NDArray[np.uint64]:
        """A copy of all states: uint64[2, n]."""
        return np.stack((self.status.cells, self.status.extra))

    def room(self) -> Moved:
        n = self.count
        return Moved(
            np.empty((n, self._size), np.uint8),
            np.empty((n, 4), np.int8),
            np.empty(n, np.float64),
            np.empty(n, np.bool_),
            np.empty(n, np.int64),
            np.zeros(n, np.int64),
            np.empty((2, n), np.uint64),
            np.zeros((n if self.again else 0, self._size), np.uint8),
            np.zeros((n if self.again else 0, 4), np.int8),
            np.zeros(n if self.again else 0, np.int64),
        )
