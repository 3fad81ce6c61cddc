"""`random`: every legal move with the same probability."""

from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar, NamedTuple

import numpy as np

from tilewright._core.jit import Int, implements
from tilewright.agents.base import Agent, as_board
from tilewright.games.base import Game
from tilewright.games.board import BoardLike
from tilewright.games.policy import NO_ACTION, act
from tilewright.games.rules import ILLEGAL, Rules, State, slide
from tilewright.rng import Stream, below, next_word

__all__ = ["RandomAgent", "RandomPolicy"]

u64 = np.uint64

# The 24 orders of the four actions, two bits an action.
_ORDERS = np.array([a | b << 2 | c << 4 | d << 6 for a, b, c, d in permutations(range(4))], np.uint8)


class RandomPolicy(NamedTuple):
    """Every legal move with the same probability."""


@implements(act, RandomPolicy)
def act_randomly(policy: RandomPolicy, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    """Take the first legal move in a random order of all four: uniform over the legal ones."""
    order = _ORDERS[below(next_word(stream), u64(24))]
    for _ in range(4):
        action = np.int64(order & 3)
        after, reward = slide(rules, state, action)
        if reward != ILLEGAL:
            return action, after, reward
        order >>= 2
    return NO_ACTION, state, 0


@dataclass(frozen=True)
class RandomAgent(Agent):
    """Plays every legal move with the same probability; all have the value 0."""

    name: ClassVar[str] = "random"

    def values(self, board: BoardLike, stream: Stream | None = None) -> dict[str, float]:
        """Return 0 for every legal move."""
        board = as_board(board)
        return dict.fromkeys(board.game.legal(board), 0.0)

    def policy(self, game: Game) -> RandomPolicy:
        """Return the policy."""
        return RandomPolicy()
