"""Evaluate an agent exactly, without sampling: on small boards, and for agents that draw no random numbers."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright._core.checks import check_integer
from tilewright._core.parallel import default_threads
from tilewright._core.text import excerpt
from tilewright.agents import make_agent
from tilewright.agents.base import Agent, Player
from tilewright.errors import UsageError
from tilewright.exact.kernels import Keys
from tilewright.exact.layers import for_blocks
from tilewright.exact.policy_value import PolicyValue, choose_moves, value_of_policy
from tilewright.exact.problem import Problem, as_twenty48
from tilewright.exact.table import ExactTable
from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.rules import ILLEGAL, State
from tilewright.play.evaluation import Evaluation
from tilewright.play.statistics import Estimate, rate_of
from tilewright.rng import Stream, stream_for

__all__ = ["ExactEvaluation", "evaluate_exactly", "percent_of_perfect"]

MAX_STATES = 200_000_000
MAX_CELLS = 10  # the games of any agent on larger boards reach more boards than MAX_STATES


@dataclass(frozen=True)
class ExactEvaluation:
    """The exact expectations of an agent's games; there is no estimate and no interval.

    Attributes:
        agent: The spec of the agent.
        game: The game.
        score: The expected score.
        moves: The expected number of moves.
        reach: The probability that a tile is made, by tile.
        states: The number of boards that the agent's games reach.
        seconds: How long it took.
    """

    agent: str
    game: Game
    score: float
    moves: float
    reach: dict[int, float]
    states: int
    seconds: float

    def percent_of(self, table: ExactTable) -> float:
        """Return the agent's value in per cent of perfect play.

        Raises:
            SpecError: The table is of another game.
        """
        return percent_of_perfect(self, table).value

    def to_dict(self) -> dict[str, object]:
        """Return the results as plain values, ready for JSON."""
        reach = {str(tile): probability for tile, probability in self.reach.items()}
        return {**vars(self), "game": self.game.spec, "reach": reach}


def evaluate_exactly(
    agent: Agent | str,
    game: Game | str,
    *,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> ExactEvaluation:
    """Compute the expected score of an agent, and the probability of every tile, without playing a game.

    Every board that the agent's games can reach is visited once, so the board must be small. The agent must choose the
    same move whenever it sees the same board.

    >>> found = evaluate_exactly("heuristic:depth=1", "2048:rows=2,columns=3")
    >>> round(found.score, 4), round(found.percent_of(solve("2048:rows=2,columns=3")), 2)
    (195.2462, 40.65)

    Args:
        agent: An agent, or its spec.
        game: A game, or its spec.
        threads: The number of threads; None for all processors.
        progress: Called with the number of boards of every layer.

    Raises:
        UsageError: The agent draws random numbers or thinks for a fixed time, or the board is too large.
    """
    agent, game = make_agent(agent), make_game(game)
    threads = default_threads() if threads is None else threads
    check_integer(f"threads={excerpt(threads)}", threads, 1)
    problem = Problem(as_twenty48(game))
    if problem.cells > MAX_CELLS:
        size = f"{game.rows}x{game.columns}"
        raise UsageError(f"{game.spec}: a board of {size} is too large for exact results: play games")
    if getattr(agent, "ms", None) is not None:
        raise UsageError(f"{agent.spec}: its moves depend on the time it has, so it has no exact value; play games")
    began = time.perf_counter()
    chooser = _Chooser(agent, game, threads)
    value = value_of_policy(problem.space, problem.game.start_tiles, chooser.choose, threads, MAX_STATES, progress)
    return ExactEvaluation(
        agent.spec, game, value.score, value.moves, _reach(value, game), value.states, time.perf_counter() - began
    )


def percent_of_perfect(result: Evaluation | ExactEvaluation, table: ExactTable) -> Estimate:
    """Return the value of an agent in per cent of perfect play.

    The value is what the table has of perfect play: the expected score, or the probability of the table's goal.

    Args:
        result: The results of games, or exact ones, which have no interval.
        table: The table of the same game.

    Raises:
        SpecError: The table is of another game.
    """
    table.check_plays(result.game)
    goal = table.problem.goal
    if isinstance(result, ExactEvaluation):
        found = Estimate(result.score if goal is None else result.reach.get(goal, 0.0), None, None)
    elif goal is None:
        found = result.score
    else:
        found = rate_of(int((result.codes >= result.game.code(goal)).sum()), result.games)
    return Estimate(*(None if part is None else 100 * part / table.value for part in found))  # type: ignore[arg-type]


def _reach(value: PolicyValue, game: Game) -> dict[int, float]:
    """Return the probabilities of all tiles above the first ones, as `Evaluation.reach` has them."""
    found = {game.value(code): value.reach(code) for code in range(3, 16)}
    return {tile: probability for tile, probability in found.items() if probability > 0}


class _Chooser:
    """Asks an agent for its moves, and notices when it draws a random number."""

    def __init__(self, agent: Agent, game: Game, threads: int) -> None:
        self._agent, self._game = agent, game
        self._players = threading.local()
        self._threads = threads if self._player().policy is not None else 1

    def _player(self) -> Player:
        if not hasattr(self._players, "player"):
            self._players.player = self._agent.player(self._game)
        player: Player = self._players.player
        return player

    def choose(self, states: Keys, afterstates: Keys, rewards: NDArray[np.int64]) -> None:
        """Write the afterstates and rewards of the moves that the agent chooses."""

        def work(begin: int, end: int) -> None:
            player, stream = self._player(), stream_for(0)
            before = stream.copy()
            if player.policy is None:
                self._choose_in_python(player, states[begin:end], stream, afterstates[begin:end], rewards[begin:end])
            else:
                some = states[begin:end], stream, afterstates[begin:end], rewards[begin:end]
                choose_moves(player.policy, self._game.rules, *some)
            if (stream != before).any():
                raise UsageError(f"{self._agent.spec}: draws random numbers, so it has no exact value; play games")

        for_blocks(work, len(states), self._threads)

    def _choose_in_python(
        self, player: Player, states: Keys, stream: Stream, afterstates: Keys, rewards: NDArray[np.int64]
    ) -> None:
        for i, cells in enumerate(states.tolist()):
            board = Board(self._game, State(cells, 0))
            move = player.analyse(board, stream).move
            if move is None:
                afterstates[i], rewards[i] = cells, ILLEGAL
            else:
                after, rewards[i] = self._game.slide(board, move)
                afterstates[i] = after.state.cells
