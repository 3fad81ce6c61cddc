"""`montecarlo`: the move whose rollouts end best on average."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated, ClassVar

from tilewright._core.options import Range
from tilewright.agents.base import Player, values_by_action
from tilewright.agents.rollout_agent import RolloutAgent
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.rules import typed_state
from tilewright.rng import Stream
from tilewright.search.montecarlo import MonteCarlo, draw_key, make_monte_carlo, mean_blocks, run_blocks

__all__ = ["MonteCarloAgent"]

TASKS_PER_THREAD = 8  # blocks take different times


@dataclass(frozen=True)
class MonteCarloAgent(RolloutAgent):
    """Plays the same number of rollouts for every legal move; their mean is its value.

    Attributes:
        spawn: Whether every rollout begins with its own new tile (`fresh`), or all rollouts of a move with the
            same one (`shared`), as in the program of Goenawan, Tao & Wu.
        threads: The number of threads of a single move; `evaluate` plays whole games in parallel.

    >>> board = make_game("2048").parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
    >>> sorted(make_agent("montecarlo:rollouts=100,value=sum").values(board))
    ['down', 'left', 'right', 'up']
    """

    spawn: str = "fresh"
    threads: Annotated[int, Range(1, 256)] = 1

    name: ClassVar[str] = "montecarlo"

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        self._check_name("spawn", ("fresh", "shared"))

    def policy(self, game: Game) -> MonteCarlo:
        """Return the search of one thread."""
        return make_monte_carlo(self._make_rollouts(game), self.rollouts, self.spawn == "shared")

    def player(self, game: Game) -> Player:
        """Return the agent at work on `game`, on as many threads as it has."""
        return super().player(game) if self.threads == 1 else _ParallelPlayer(self, game, self.policy(game))


class _ParallelPlayer(Player):
    """Runs the blocks of one move on several threads: the same values to the last bit."""

    agent: MonteCarloAgent
    policy: MonteCarlo

    def _analyse_in_kernel(self, board: Board, stream: Stream) -> tuple[dict[str, float], str | None]:
        rules, state = self.game.rules, typed_state(board.state)
        whole = self.policy
        draw_key(whole.key, stream)
        tasks = min(len(whole.sums), self.agent.threads * TASKS_PER_THREAD)
        bounds = [len(whole.sums) * i // tasks for i in range(tasks + 1)]

        def run(first: int, end: int) -> None:
            own = self.agent.policy(self.game)._replace(key=whole.key, sums=whole.sums, control=whole.control)
            run_blocks(own, rules, state, first, end - first)

        run_blocks(whole, rules, state, 0, 0)  # compiles once, not in every thread
        whole.control.began[0] = 1
        with ThreadPoolExecutor(self.agent.threads) as pool:
            list(pool.map(run, bounds, bounds[1:]))
        mean_blocks(whole, rules, state)
        values = values_by_action(whole.q_values)
        return values, max(values, key=lambda action: values[action], default=None)
