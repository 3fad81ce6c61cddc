"""Who plays rollouts with a preference for some moves (the future work of Goenawan, Tao & Wu 2020, section 6).

merges      the move of the highest reward (`GreedyPolicy`)
largest     a move that makes a new largest tile, if there is one
corner      a move after which a largest tile is in a corner, if there is one
combined    the move with most of the three: it merges, it makes a new largest tile, a largest tile is in a corner
"""

from typing import NamedTuple

import numpy as np

from tilewright._core.jit import Int, Word, implements, inline
from tilewright.games.bitboard import largest_nibble
from tilewright.games.policy import NO_ACTION, act
from tilewright.games.rules import ILLEGAL, LARGEST_NIBBLE, Rules, State, downgraded_cells, largest, slide
from tilewright.rng import Stream, below, next_word

__all__ = ["PREFERENCES", "PreferencePolicy"]

u64 = np.uint64


class PreferencePolicy(NamedTuple):
    """A move with the most of what is preferred; any of them, with the same probability."""

    merges: Int  # what a move is preferred by for a reward,
    new_largest: Int  # for a new largest tile,
    corner: Int  # and for a largest tile in a corner


PREFERENCES = {
    "largest": PreferencePolicy(0, 1, 0),
    "corner": PreferencePolicy(0, 0, 1),
    "combined": PreferencePolicy(1, 1, 1),
}


@implements(act, PreferencePolicy)
def act_by_preference(policy: PreferencePolicy, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    """Keep the best move so far; the n-th of equal ones replaces it with probability 1/n."""
    before = largest(rules, state)
    best_action, best_after, best_reward, most, ties = NO_ACTION, state, 0, -1, u64(0)
    for action in range(4):
        after, reward = slide(rules, state, action)
        if reward == ILLEGAL:
            continue
        preference = policy.merges * (reward > 0) + policy.new_largest * (largest(rules, after) > before)
        if policy.corner:
            preference += policy.corner * _in_corner(rules, downgraded_cells(rules, after, LARGEST_NIBBLE))
        if preference > most:
            ties = u64(1)
        elif preference == most:
            ties += u64(1)
            if below(next_word(stream), ties) != u64(0):
                continue
        else:
            continue
        best_action, best_after, best_reward, most = action, after, reward, preference
    return best_action, best_after, best_reward


@inline
def _in_corner(rules: Rules, cells: Word) -> Int:
    """Return 1 if a tile of the largest code is in a corner, else 0."""
    code = u64(largest_nibble(cells))
    right, bottom = u64(4 * (rules.columns - 1)), u64(16 * (rules.rows - 1))
    found = False
    for shift in (u64(60), u64(60) - right, u64(60) - bottom, u64(60) - right - bottom):
        found |= ((cells >> shift) & u64(15)) == code
    return np.int64(found)
