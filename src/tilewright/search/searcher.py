"""What all searchers share.

A searcher is a NamedTuple type with a field `q_values` and one verb,

    search(searcher, rules, state, stream)      fills `q_values`, -inf where a move is illegal

Every searcher is a policy: it plays the first move of the highest value.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int
from tilewright.games.policy import apply_action, best_action
from tilewright.games.rules import Rules, State
from tilewright.rng import Stream

__all__ = ["SearchStatus", "Searcher", "act_by_search", "make_search_status", "search"]

Searcher: TypeAlias = Any  # a NamedTuple type that implements `search`


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


def act_by_search(searcher: Searcher, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    """Implement `act` for a searcher."""
    search(searcher, rules, state, stream)
    return apply_action(rules, state, best_action(searcher.q_values))
