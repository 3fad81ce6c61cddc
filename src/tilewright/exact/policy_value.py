"""The exact value of a policy: how probable every board of its games is, layer by layer.

A policy that draws no random numbers turns a game into a Markov chain. Its boards are enumerated like those of the
solver, but only those that the policy reaches, each with its probability. Symmetric boards are different boards here,
because a policy need not treat them alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, kernel
from tilewright.errors import UsageError
from tilewright.exact.kernels import Keys, Space, Values, add_up, drop_duplicates, spread_weights
from tilewright.exact.layers import NO_KEYS, first_boards, next_states
from tilewright.games.bitboard import largest_nibble
from tilewright.games.policy import NO_ACTION, Policy, act
from tilewright.games.rules import ILLEGAL, Rules, State
from tilewright.rng import Stream

__all__ = ["Choice", "PolicyValue", "choose_moves", "value_of_policy"]

NO_VALUES = np.empty(0)
u64 = np.uint64
# Writes the afterstate and the reward of the chosen move of every state; ILLEGAL where no move is legal.
Choice: TypeAlias = Callable[[Keys, Keys, NDArray[np.int64]], None]


@dataclass(frozen=True)
class PolicyValue:
    """What is expected of a game.

    Attributes:
        score: The expected score.
        moves: The expected number of moves.
        largest: The probability that a code is that of the largest tile at the end, by code.
        states: The number of boards that games reach.
    """

    score: float
    moves: float
    largest: NDArray[np.float64]
    states: int

    def reach(self, code: int) -> float:
        """The probability that a tile of at least this code is made."""
        return float(self.largest[code:].sum())


@kernel
def choose_moves(
    policy: Policy, rules: Rules, states: Keys, stream: Stream, afterstates: Keys, rewards: NDArray[np.int64]
) -> None:
    """Write the afterstate and the reward of the move that a policy chooses in every state; see `Choice`."""
    for i in range(len(states)):
        action, after, reward = act(policy, rules, State(states[i], u64(0)), stream)
        afterstates[i], rewards[i] = after.cells, ILLEGAL if action == NO_ACTION else reward


@kernel
def _count_ends(states: Keys, weights: Values, rewards: NDArray[np.int64], largest: Values) -> Int:
    """Add the weights of the states without a move to the entries of their largest tiles in `largest`."""
    for i in range(len(states)):
        if rewards[i] == ILLEGAL:
            largest[largest_nibble(states[i])] += weights[i]
    return 0


def value_of_policy(
    space: Space,
    start_tiles: int,
    choose: Choice,
    threads: int,
    max_states: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> PolicyValue:
    """Compute the exact value of a policy.

    Args:
        space: The game; its goal is ignored.
        start_tiles: The number of tiles on the first board.
        choose: The policy.
        threads: The number of threads that enumerate boards.
        max_states: The largest number of boards; None for no limit.
        progress: Called with the number of boards of every layer.

    Raises:
        UsageError: There are more boards.
    """
    space = space._replace(symmetries=1, goal=0)
    first = first_boards(space, start_tiles)
    total, last_first = int(first.sums.min()), int(first.sums.max())
    below: list[tuple[Keys, Values]] = [(NO_KEYS, NO_VALUES)] * 2  # afterstates whose sums are smaller by 2 and by 4
    score = moves = 0.0
    count, largest = 0, np.zeros(16)
    while total <= last_first or any(len(keys) for keys, _ in below):
        states = next_states(space, below[0][0], below[1][0], first.with_sum(total), threads)
        weights = np.zeros(len(states))
        add_up(first.with_sum(total), first.chances[first.sums == total], states, weights)
        for code, (keys, of_keys) in enumerate(below, 1):
            spread_weights(space, keys, of_keys, code, states, weights) if len(keys) else None
        count += len(states)
        if max_states is not None and count > max_states:
            raise UsageError(f"the agent's games reach more than {max_states:,} boards: too many for an exact value")
        afterstates, rewards = np.empty(len(states), np.uint64), np.empty(len(states), np.int64)
        choose(states, afterstates, rewards)
        _count_ends(states, weights, rewards, largest)
        goes_on = rewards != ILLEGAL
        score += float(weights[goes_on] @ rewards[goes_on])
        moves += float(weights[goes_on].sum())
        below = [_together(afterstates[goes_on], weights[goes_on]), below[0]]
        if progress is not None:
            progress(len(states))
        total += 2
    return PolicyValue(score, moves, largest, count)


def _together(boards: Keys, weights: Values) -> tuple[Keys, Values]:
    """Sort boards, each once, and add their weights up."""
    keys = np.sort(boards)
    keys = keys[: drop_duplicates(keys)]
    into = np.zeros(len(keys))
    add_up(boards, weights, keys, into)
    return keys, into
