"""Flat Monte Carlo: the same number of rollouts for every move; the best mean wins (Goenawan, Tao & Wu 2020).

    move   up      right   down    left
    mean   3412.6  3100.2  –       3566.0     left is played; down is illegal

Rollout number i of a move has its own random stream, a function of that number and of two words of the game's stream
alone, and rollouts are summed in blocks of a fixed size: the means are the same to the last bit, whichever thread plays
which block.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, implements, inline, kernel
from tilewright.games.policy import act
from tilewright.games.rules import ILLEGAL, Rules, State, slide, spawn
from tilewright.rng import Key, Stream, new_stream, next_word, seed_stream
from tilewright.search.rollouts import Rollouts, roll_out
from tilewright.search.searcher import SearchControl, act_by_search, is_stopped, make_search_control, search

__all__ = ["MonteCarlo", "draw_key", "make_monte_carlo", "mean_blocks", "run_blocks"]

u64 = np.uint64
Sums: TypeAlias = NDArray[np.float64]
BLOCK = 256  # rollouts
_SHARED = u64(1 << 63)  # the streams of shared spawns are numbered from here


class MonteCarlo(NamedTuple):
    """Flat Monte Carlo with the workspace of one thread."""

    rollouts: Rollouts
    rollouts_per_move: int  # the number of rollouts of each legal move
    shared_spawn: bool  # whether all rollouts of a move begin with the same new tile
    key: Key  # what the streams of the rollouts are made from
    stream: Stream
    sums: Sums  # float64[4 * blocks]: the sum of the values of each block of rollouts
    q_values: Sums  # float64[4]: the mean of each move, -inf where it is illegal
    control: SearchControl


def make_monte_carlo(rollouts: Rollouts, count: int, shared_spawn: bool) -> MonteCarlo:
    """Return a search with a workspace for one thread."""
    sums = np.zeros(4 * -(-count // BLOCK))
    key, control = np.zeros(2, np.uint64), make_search_control()
    return MonteCarlo(rollouts, count, shared_spawn, key, new_stream(), sums, np.empty(4), control)


@implements(search, MonteCarlo)
def search_by_rollouts(monte_carlo: MonteCarlo, rules: Rules, state: State, stream: Stream) -> None:
    """Run all blocks on this thread."""
    draw_key(monte_carlo.key, stream)
    run_blocks(monte_carlo, rules, state, 0, len(monte_carlo.sums))
    mean_blocks(monte_carlo, rules, state)


implements(act, MonteCarlo)(act_by_search)


@kernel
def draw_key(key: Key, stream: Stream) -> None:
    """Draw two words of the game's stream: all that a move takes of it, whatever the number of rollouts."""
    key[0] = next_word(stream)
    key[1] = next_word(stream)


@kernel
def run_blocks(monte_carlo: MonteCarlo, rules: Rules, state: State, first: Int, count: Int) -> None:
    """Fill `sums[first:first + count]`; block b of action a is number a * blocks + b."""
    blocks = len(monte_carlo.sums) // 4
    for number in range(first, first + count):
        action, block = number // blocks, number % blocks
        after, reward = slide(rules, state, action)
        if reward != ILLEGAL:
            begin, end = block * BLOCK, min((block + 1) * BLOCK, monte_carlo.rollouts_per_move)
            monte_carlo.sums[number] = _sum_of_rollouts(monte_carlo, rules, after, reward, action, begin, end)


@inline
def _sum_of_rollouts(
    monte_carlo: MonteCarlo, rules: Rules, after: State, reward: Int, action: Int, begin: Int, end: Int
) -> float:
    stream = monte_carlo.stream
    seed_stream(stream, monte_carlo.key, _SHARED + u64(action))
    state, spawn_reward = spawn(rules, after, stream)
    total = 0.0
    for i in range(begin, end):
        if is_stopped(monte_carlo):
            break
        seed_stream(stream, monte_carlo.key, u64(action * monte_carlo.rollouts_per_move + i))
        if not monte_carlo.shared_spawn:
            state, spawn_reward = spawn(rules, after, stream)
        total += roll_out(monte_carlo.rollouts, rules, state, reward + spawn_reward, stream)
    return total


@kernel
def mean_blocks(monte_carlo: MonteCarlo, rules: Rules, state: State) -> None:
    """Fill `q_values` with the mean of the blocks of every legal move."""
    sums = monte_carlo.sums
    blocks = len(sums) // 4
    for action in range(4):
        monte_carlo.q_values[action] = -np.inf
        if slide(rules, state, action)[1] != ILLEGAL:
            total = 0.0
            for number in range(action * blocks, (action + 1) * blocks):
                total += sums[number]
            monte_carlo.q_values[action] = total / monte_carlo.rollouts_per_move
