"""Games for training that end at a goal tile, with a reward for it (Szubert & Jaśkowski 2014, VI-A).

`GoalRules` are the rules of a game with two changes: making the goal tile has a reward of its own, and no move is legal
after it. The learning loops see a game that is over at the goal.
"""

from typing import NamedTuple

import numpy as np

from tilewright._core.jit import Int, Word, implements
from tilewright.games.rules import (
    ILLEGAL,
    LineOffsets,
    LineTable,
    Outcomes,
    Rules,
    State,
    downgrade_to,
    high_bits,
    hint_of,
    largest,
    outcomes,
    slide,
    spawn,
    start,
    symmetry,
    tile_sum,
)
from tilewright.rng import Stream

__all__ = ["GoalRules", "make_goal_rules"]


class GoalRules(NamedTuple):
    """The rules of a game that ends at a goal tile."""

    game: Rules
    goal: Int  # the code of the tile
    goal_reward: Int  # received for making it, besides its points
    points: Int  # what points are multiplied by: 1, or 0 if only the goal counts
    moves: LineTable
    offsets: LineOffsets
    board: Word
    rows: int
    columns: int


def make_goal_rules(rules: Rules, goal: int, goal_reward: int, *, goal_only: bool) -> GoalRules:
    """Return the rules of a game that ends when a tile of the code `goal` is made.

    Args:
        rules: The rules of the game.
        goal: The code of the tile.
        goal_reward: The reward for making it.
        goal_only: Whether this is the only reward.
    """
    points = int(not goal_only)
    tables = rules.moves, rules.offsets, rules.board, rules.rows, rules.columns
    return GoalRules(rules, goal, goal_reward, points, *tables)


@implements(start, GoalRules)
def start_to_goal(rules: GoalRules, stream: Stream) -> tuple[State, Int]:
    """Start as the game does."""
    state, reward = start(rules.game, stream)
    return state, rules.points * np.int64(reward)


@implements(slide, GoalRules)
def slide_to_goal(rules: GoalRules, state: State, action: Int) -> tuple[State, Int]:
    """Slide as the game does, until the goal is there."""
    if largest(rules.game, state) >= rules.goal:
        return state, ILLEGAL
    after, reward = slide(rules.game, state, action)
    if reward == ILLEGAL:
        return state, ILLEGAL
    total = rules.points * np.int64(reward)
    if largest(rules.game, after) >= rules.goal:
        total += rules.goal_reward
    return after, total


@implements(spawn, GoalRules)
def spawn_to_goal(rules: GoalRules, after: State, stream: Stream) -> tuple[State, Int]:
    """Spawn as the game does."""
    state, reward = spawn(rules.game, after, stream)
    return state, rules.points * np.int64(reward)


@implements(outcomes, GoalRules)
def outcomes_to_goal(rules: GoalRules, after: State, into: Outcomes) -> Int:
    """Write the outcomes of the game."""
    count = outcomes(rules.game, after, into)
    for i in range(count):
        into.reward[i] *= rules.points
    return count


@implements(symmetry, GoalRules)
def symmetry_to_goal(rules: GoalRules, state: State, which: Int) -> State:
    """Return the symmetric state of the game."""
    return symmetry(rules.game, state, which)


@implements(largest, GoalRules)
def largest_to_goal(rules: GoalRules, state: State) -> Int:
    """Return the code of the largest tile."""
    return largest(rules.game, state)


@implements(tile_sum, GoalRules)
def tile_sum_to_goal(rules: GoalRules, state: State) -> Int:
    """Return the sum of the tiles."""
    return tile_sum(rules.game, state)


@implements(downgrade_to, GoalRules)
def downgrade_to_goal(rules: GoalRules, state: State, largest_code: Int) -> State:
    """Downgrade as the game does."""
    return downgrade_to(rules.game, state, largest_code)


@implements(hint_of, GoalRules)
def hint_to_goal(rules: GoalRules, state: State) -> Int:
    """Return the hint of the game."""
    return hint_of(rules.game, state)


@implements(high_bits, GoalRules)
def high_bits_to_goal(rules: GoalRules, state: State) -> Word:
    """Return the cells whose code has a fifth bit."""
    return high_bits(rules.game, state)
