"""What all searchers share.

A searcher is a NamedTuple type with the fields `q_values` and `control`, and one verb,

    search(searcher, rules, state, stream)      fills `q_values`, -inf where a move is illegal

Every searcher is a policy: it plays the first move of the highest value. A search that was asked to stop ends within
some evaluations or one rollout; what it leaves in `q_values` means nothing, and no move is played.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tilewright._core.bits import read_shared
from tilewright._core.jit import Int, inline
from tilewright.games.policy import NO_ACTION, QValues, apply_action, best_action
from tilewright.games.rules import Rules, State
from tilewright.rng import Stream

__all__ = [
    "SearchControl",
    "SearchStatus",
    "Searcher",
    "act_by_search",
    "is_stopped",
    "make_search_control",
    "make_search_status",
    "search",
]


class SearchControl(NamedTuple):
    """What another thread may see of a search, and ask of it; int64[1] each."""

    began: NDArray[np.int64]  # 1 from the start of a search on: the time before that is spent on compiling
    stop: NDArray[np.int64]  # 1 asks the search to end, and every later one


class Searcher(Protocol):
    """A NamedTuple type that implements `search`."""

    @property
    def q_values(self) -> QValues:
        """Where `search` leaves the values of the moves."""

    @property
    def control(self) -> SearchControl:
        """How another thread stops the search."""


def make_search_control() -> SearchControl:
    """Return the control of a search that has not begun."""
    return SearchControl(np.zeros(1, np.int64), np.zeros(1, np.int64))


class SearchStatus(NamedTuple):
    """What a search counts and leaves behind; int64[1] each."""

    deadline: NDArray[np.int64]  # nanoseconds of the monotonic clock
    timed_out: NDArray[np.int64]  # 1 after the deadline
    depth: NDArray[np.int64]  # the last depth that was completed
    nodes: NDArray[np.int64]  # the number of states whose moves were searched


def make_search_status() -> SearchStatus:
    """Return a zeroed status."""
    return SearchStatus(*(np.zeros(1, np.int64) for _ in range(4)))


def search(searcher: Searcher, rules: Rules, state: State, stream: Stream) -> None:
    """Fill `searcher.q_values`; `stream` is advanced where the search draws chance."""
    raise TypeError("search is a verb for kernels; from Python use Player.analyse")


@inline
def is_stopped(searcher: Searcher) -> bool:
    """Tell whether another thread has asked the search to end."""
    return read_shared(searcher.control.stop, 0) != 0


def act_by_search(searcher: Searcher, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    """Implement `act` for a searcher; a search that was stopped plays no move."""
    searcher.control.began[0] = 1
    search(searcher, rules, state, stream)
    if is_stopped(searcher):
        return NO_ACTION, state, 0
    return apply_action(rules, state, best_action(searcher.q_values))
