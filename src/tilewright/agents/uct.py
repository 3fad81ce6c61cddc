"""`uct`: Monte Carlo tree search, with chance nodes."""

import math
from dataclasses import dataclass
from typing import ClassVar

from tilewright.agents.base import default_stream, values_by_action
from tilewright.agents.rollout_agent import PlayoutAgent
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.state_kernels import typed_state
from tilewright.rng import Stream
from tilewright.search.mcts import Uct, grow, make_uct

__all__ = ["UctAgent"]

MOST_C = 1000.0


@dataclass(frozen=True)
class UctAgent(PlayoutAgent):
    """A tree of `rollouts` playouts a move, those of all moves together; a move's value is the mean of its playouts.

    `c` weighs curiosity against success: 0 only follows success, at 100 it is flat Monte Carlo.

    >>> board = make_game("2048").parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
    >>> sorted(make_agent("uct:rollouts=100").values(board))
    ['down', 'left', 'right', 'up']
    """

    rollouts: int = 1000
    c: float = 2.0

    name: ClassVar[str] = "uct"
    fewest_rollouts: ClassVar[int] = 4  # each legal move is tried once
    most_rollouts: ClassVar[int] = 1_000_000

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("c", math.isfinite(self.c) and 0 <= self.c <= MOST_C, f"must be from 0 to {MOST_C:,.0f}")

    def policy(self, game: Game) -> Uct:
        return make_uct(self.playouts(game), self.rollouts, float(self.c))

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        policy = self.policy(board.game)
        grow(policy, board.game.rules, typed_state(board.state), default_stream(stream))
        return values_by_action(policy.q_values)

    def move(self, board: Board, stream: Stream | None = None) -> str:
        return self._best_by_values(board, stream)  # the kernel that values moves is all that has to be compiled
