"""`montecarlo`: the move whose playouts end best in the mean."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

from tilewright.agents.base import default_stream, values_by_action
from tilewright.agents.rollout_agent import PlayoutAgent
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.state_kernels import typed_state
from tilewright.rng import Stream
from tilewright.search.montecarlo import MonteCarlo, draw_key, fold_blocks, make_monte_carlo, run_blocks

__all__ = ["MonteCarloAgent"]

MOST_THREADS = 256
PIECES = 8  # of work for each thread: blocks take different times


@dataclass(frozen=True)
class MonteCarloAgent(PlayoutAgent):
    """Equally many playouts of every legal move; their mean is its value.

    `spawn` says whether every playout begins with a new tile of its own (`fresh`), or all playouts of a move with the
    same one (`shared`), as in the program of Goenawan, Tao & Wu. `threads` are for a single call; `evaluate` plays
    whole games in parallel.

    >>> board = make_game("2048").parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
    >>> sorted(make_agent("montecarlo:rollouts=100,value=sum").values(board))
    ['down', 'left', 'right', 'up']
    """

    spawn: str = "fresh"
    threads: int = 1

    name: ClassVar[str] = "montecarlo"
    most_rollouts: ClassVar[int] = 10_000_000

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_name("spawn", ("fresh", "shared"))
        self._check("threads", 1 <= self.threads <= MOST_THREADS, f"must be from 1 to {MOST_THREADS}")

    def policy(self, game: Game) -> MonteCarlo:
        return make_monte_carlo(self.playouts(game), self.rollouts, self.spawn == "shared")

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        game, state = board.game, typed_state(board.state)
        policy = self.policy(game)
        draw_key(policy.key, default_stream(stream))
        if self.threads == 1:
            run_blocks(policy, game.rules, state, 0, len(policy.sums))
        else:
            self._run_on_threads(policy, board)
        fold_blocks(policy.sums, self.rollouts, game.rules, state, policy.q_values)
        return values_by_action(policy.q_values)

    def _run_on_threads(self, policy: MonteCarlo, board: Board) -> None:
        rules, state = board.game.rules, typed_state(board.state)
        pieces = min(len(policy.sums), self.threads * PIECES)
        ends = [len(policy.sums) * i // pieces for i in range(pieces + 1)]

        def run(first: int, end: int) -> None:
            own = self.policy(board.game)._replace(key=policy.key, sums=policy.sums)
            run_blocks(own, rules, state, first, end - first)

        run_blocks(policy, rules, state, 0, 0)  # compiles once, not in every thread
        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(run, ends, ends[1:]))

    def move(self, board: Board, stream: Stream | None = None) -> str:
        return self._best_by_values(board, stream)
