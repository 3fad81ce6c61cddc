"""`greedy`: the move that earns most at once; among equal ones any, with the same probability."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tilewright._core.jit import Int, implements
from tilewright.agents.base import Agent, Unit, as_board
from tilewright.games.base import Game
from tilewright.games.board import BoardLike
from tilewright.games.policy import NO_ACTION, act
from tilewright.games.rules import ILLEGAL, Rules, State, slide
from tilewright.rng import Stream, below, next_word

__all__ = ["GreedyAgent", "GreedyPolicy"]

u64 = np.uint64


class GreedyPolicy(NamedTuple):
    """The move of the highest reward; ties are broken at random."""


@implements(act, GreedyPolicy)
def act_by_reward(policy: GreedyPolicy, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    """Keep the best move so far; the n-th of equal ones replaces it with probability 1/n."""
    best_action, best_after, best_reward, ties = NO_ACTION, state, ILLEGAL, u64(0)
    for action in range(4):
        after, reward = slide(rules, state, action)
        if reward > best_reward:
            best_action, best_after, best_reward, ties = action, after, reward, u64(1)
        elif reward == best_reward and reward != ILLEGAL:
            ties += u64(1)
            if below(next_word(stream), ties) == u64(0):
                best_action, best_after = action, after
    return best_action, best_after, best_reward


@dataclass(frozen=True)
class GreedyAgent(Agent):
    """Plays the move of the highest reward; ties are broken at random."""

    name: ClassVar[str] = "greedy"
    unit: ClassVar[Unit] = "reward"

    def values(self, board: BoardLike, stream: Stream | None = None) -> dict[str, float]:
        """Return the reward of every legal move."""
        board = as_board(board)
        game = board.game
        return {action: float(game.slide(board, action)[1]) for action in game.legal(board)}

    def policy(self, game: Game) -> GreedyPolicy:
        """Return the policy."""
        return GreedyPolicy()
