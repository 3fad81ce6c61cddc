"""Flat Monte Carlo: try every move with the same number of playouts, and take the best mean (Goenawan, Tao & Wu 2020).

    move   up      right   down    left
    mean   3412.6  3100.2  –       3566.0     left is played; down is not legal

Rollout number `i` of a move has a random stream of its own, a function of that number and of two words of the game's
stream alone, and rollouts are added up in blocks of a fixed size: the means are the same to the last bit, whichever
thread plays which block.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.jit import Int, implements, inline, kernel
from tilewright.games.policy import NO_ACTION, act
from tilewright.games.rules import ILLEGAL, Rules, State, slide, spawn
from tilewright.rng import Key, Stream, new_stream, next_word, seed_stream
from tilewright.search.rollouts import Playouts, play_out

__all__ = ["MonteCarlo", "draw_key", "fold_blocks", "make_monte_carlo", "run_blocks"]

u64 = np.uint64
Means: TypeAlias = NDArray[np.float64]
BLOCK = 256  # rollouts
_SHARED = u64(1 << 63)  # streams from this number on are those of shared spawns


class MonteCarlo(NamedTuple):
    playouts: Playouts
    rollouts: int  # of each legal move
    shared: bool  # whether all rollouts of a move begin with the same new tile
    key: Key  # what the streams of the rollouts are made from
    stream: Stream  # room for one of them
    sums: Means  # float64[4 * blocks]: the values of each block of rollouts, added up
    q_values: Means  # float64[4]: the mean of each move, -inf where it is not legal


def make_monte_carlo(playouts: Playouts, rollouts: int, shared: bool) -> MonteCarlo:
    """A policy with room of its own: one for every thread."""
    sums = np.zeros(4 * -(-rollouts // BLOCK))
    return MonteCarlo(playouts, rollouts, shared, np.zeros(2, np.uint64), new_stream(), sums, np.empty(4))


@implements(act, MonteCarlo)
def choose_by_playouts(policy: MonteCarlo, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    draw_key(policy.key, stream)
    run_blocks(policy, rules, state, 0, len(policy.sums))
    action = fold_blocks(policy.sums, policy.rollouts, rules, state, policy.q_values)
    if action == NO_ACTION:
        return NO_ACTION, state, 0
    after, reward = slide(rules, state, action)
    return action, after, reward


@kernel
def draw_key(key: Key, stream: Stream) -> None:
    """Two words of the game's stream are all that a move takes of it, however many rollouts there are."""
    key[0] = next_word(stream)
    key[1] = next_word(stream)


@kernel
def run_blocks(policy: MonteCarlo, rules: Rules, state: State, first: Int, count: Int) -> None:
    """Fill some of `sums`; block number `b` of move `a` is number `a * blocks + b`."""
    blocks = len(policy.sums) // 4
    for number in range(first, first + count):
        action, block = number // blocks, number % blocks
        after, reward = slide(rules, state, action)
        if reward != ILLEGAL:
            begin, end = block * BLOCK, min((block + 1) * BLOCK, policy.rollouts)
            policy.sums[number] = _sum_of_rollouts(policy, rules, after, reward, action, begin, end)


@inline
def _sum_of_rollouts(
    policy: MonteCarlo, rules: Rules, after: State, reward: Int, action: Int, begin: Int, end: Int
) -> float:
    stream = policy.stream
    seed_stream(stream, policy.key, _SHARED + u64(action))
    tried, tile_points = spawn(rules, after, stream)
    found = 0.0
    for i in range(begin, end):
        seed_stream(stream, policy.key, u64(action * policy.rollouts + i))
        if not policy.shared:
            tried, tile_points = spawn(rules, after, stream)
        found += play_out(policy.playouts, rules, tried, reward + tile_points, stream)
    return found


@kernel
def fold_blocks(sums: Means, rollouts: Int, rules: Rules, state: State, q_values: Means) -> Int:
    """Fill `q_values`; the move of the highest mean, the first among equals, OVER where none is legal."""
    blocks = len(sums) // 4
    best, best_mean = NO_ACTION, -np.inf
    for action in range(4):
        q_values[action] = -np.inf
        if slide(rules, state, action)[1] != ILLEGAL:
            found = 0.0
            for number in range(action * blocks, (action + 1) * blocks):
                found += sums[number]
            q_values[action] = found / rollouts
            if q_values[action] > best_mean:
                best, best_mean = action, q_values[action]
    return best
