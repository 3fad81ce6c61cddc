"""Make a distilled table: play games, and keep the boards of a table that they meet most."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tilewright._core.checks import check_integer
from tilewright._core.parallel import check_threads, default_threads, parallel_for
from tilewright._core.text import excerpt
from tilewright.agents import make_agent
from tilewright.agents.base import Agent
from tilewright.errors import UsageError
from tilewright.exact.distil import Counts, check_distillable, count_options, keep_most_visited, make_counts
from tilewright.exact.kernels import Keys
from tilewright.exact.table import ExactTable
from tilewright.games.policy import Policy, make_move_log, play_moves
from tilewright.games.rules import typed_state
from tilewright.rng import stream_for

__all__ = ["Distilled", "distil", "measure_coverage"]

_MOVES_PER_CALL = 4_096
_CHECK_PART = 10  # one more game for every ten, to see how many boards of other games are covered
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Distilled:
    """A distilled table, and what it was made from.

    Attributes:
        table: The table; `save` writes it.
        visited: How often games met a board of the whole table.
        afterstates: The number of different afterstates of the moves on those boards.
        coverage: The part of such boards, in other games, of which the distilled table has all moves.
    """

    table: ExactTable
    visited: int
    afterstates: int
    coverage: float


def distil(
    table: ExactTable,
    agent: Agent | str = "ntuple",
    *,
    boards: int = 500_000,
    games: int = 1_000,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Distilled:
    """Play games with an agent, and keep the afterstates of an endgame table that it chooses from most often.

    Args:
        table: The table of an endgame.
        agent: The agent that plays.
        boards: The largest number of afterstates to keep.
        games: The number of games; a tenth as many are played afterwards to measure the coverage.
        seed: The same seed gives the same table.
        threads: The number of threads; None for all processors.
        progress: Called with the number of games finished since the last call.

    Raises:
        UsageError: The table is of a whole game or distilled already, the agent cannot play in kernels, or no game met
            a board of the table.
    """
    check_distillable(table, boards)
    check_integer(f"games={excerpt(games)}", games, 1)
    counts = make_counts(table)
    visited, _ = _count(table, counts, agent, 0, games, seed, threads, progress)
    small = keep_most_visited(table, counts, boards)
    coverage = measure_coverage(small, agent, first=games, games=-(-games // _CHECK_PART), seed=seed, threads=threads)
    return Distilled(small, visited, int((counts > 0).sum()), coverage)


def measure_coverage(
    table: ExactTable,
    agent: Agent | str = "ntuple",
    *,
    first: int = 0,
    games: int = 100,
    seed: int = 0,
    threads: int | None = None,
) -> float:
    """Return the part of the boards that match the walls of a table of which it has all moves that keep them.

    Args:
        table: The table of an endgame, distilled or not.
        agent: The agent that plays.
        first: The number of the first game.
        games: The number of games.
        seed: The seed of the games.
        threads: The number of threads; None for all processors.

    Returns:
        From 0 to 1; NaN if no board of the games matches.
    """
    matching, complete = _count(table, make_counts(table), agent, first, games, seed, threads, None)
    return complete / matching if matching else float("nan")


def _count(
    table: ExactTable,
    counts: Counts,
    agent: Agent | str,
    first: int,
    games: int,
    seed: int,
    threads: int | None,
    progress: Progress | None,
) -> tuple[int, int]:
    """Count what the boards of some games look up; returns how many of them match, and how many are complete."""
    agent, game = make_agent(agent), table.game
    threads = default_threads() if threads is None else threads
    check_threads(threads)
    lock, found = threading.Lock(), [0, 0]
    exact = table.policy()

    def work(begin: int, count: int) -> None:
        policy = agent.player(game).policy
        if policy is None:
            raise UsageError(f"{agent.spec}: plays in Python; an agent that plays in kernels is needed")
        for number in range(first + begin, first + begin + count):
            for cells, extra in _boards_of(table, policy, seed, number):
                with lock:
                    matching, complete = count_options(exact, cells, extra, counts)
                    found[0] += matching
                    found[1] += complete

    parallel_for(work, games, threads, progress)
    return found[0], found[1]


def _boards_of(table: ExactTable, policy: Policy, seed: int, number: int) -> Iterator[tuple[Keys, Keys]]:
    """Play the game that `evaluate` plays with this seed and number; yields its boards in pieces."""
    game, stream = table.game, stream_for(seed, number)
    board, score = game.start_from(stream)
    state = board.state
    while True:
        log = make_move_log(_MOVES_PER_CALL)
        made = play_moves(game.rules, policy, typed_state(state), score, stream, log, _MOVES_PER_CALL)
        yield log.cells[:made], log.extra[:made]
        if made < _MOVES_PER_CALL:
            return
        state = type(state)(int(log.cells[-1]), int(log.extra[-1]))
        score = int(log.scores[-1])
