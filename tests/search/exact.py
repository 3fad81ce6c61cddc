"""What playouts and best play are worth on tiny boards, by dynamic programming over the naive rules."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from tests.games.naive import Grid, State, largest
from tests.learning.exact import Move, Solved, solve_2048, solve_threes
from tilewright import Board, make_game

Moments = tuple[float, float]  # mean and mean square

GAMES: dict[str, Callable[[], Solved]] = {
    "2048:rows=2,columns=2": lambda: solve_2048(2, 2),
    "threes:rows=2,columns=2,start_tiles=2": lambda: solve_threes(2, 2, 2),
}
FINALS: dict[str, Callable[[Grid], float]] = {
    "score": lambda board: 0.0,
    "sum": lambda board: sum(map(sum, board)),
    "largest": lambda board: largest(board) + sum(map(sum, board)) / 2**32,
}


@cache
def solved(game: str) -> Solved:
    return GAMES[game]()


@dataclass(frozen=True)
class Expected:
    mean: float
    deviation: float


def playout_values(game: str, value: str, playout: str) -> dict[State, dict[str, Expected]]:
    """For every state and move: mean and deviation of the playouts that begin with it."""
    tree, final = solved(game), FINALS[value]
    states: dict[State, Moments] = {}
    found: dict[State, dict[str, Expected]] = {}
    for state, moves in reversed(tree.moves.items()):
        tried = {action: _moments(move, states, value == "score") for action, move in moves.items()}
        found[state] = {action: Expected(m, math.sqrt(max(0.0, s - m * m))) for action, (m, s) in tried.items()}
        played = list(tried)
        if playout == "merges" and moves:
            most = max(move.reward for move in moves.values())
            played = [action for action, move in moves.items() if move.reward == most]
        if moves:
            first, second = (sum(tried[action][i] for action in played) / len(played) for i in (0, 1))
        else:
            first, second = final(state.board), final(state.board) ** 2
        states[state] = first, second
    return found


def _moments(move: Move, states: dict[State, Moments], adds: bool) -> Moments:
    """Mean and mean square of what follows a move; rewards are added where the value is the score."""
    first = second = 0.0
    for chance in move.chances:
        gain = move.reward + chance.gain if adds else 0
        mean, square = states[chance.state]
        first += chance.probability * (gain + mean)
        second += chance.probability * (gain * gain + 2 * gain * mean + square)
    return first, second


def best_values(game: str) -> dict[State, dict[str, float]]:
    """For every state and move: the points to come when all later moves are the best."""
    tree = solved(game)
    return {
        state: {action: tree.q_values(move, tree.best) for action, move in moves.items()}
        for state, moves in tree.moves.items()
    }


def board_of(game: str, state: State) -> Board:
    """The package's board of a naive state."""
    notes = {"hint": str(state.hint)} if state.hint else {}
    if state.bag:
        notes["bag"] = "".join(map(str, state.bag))
    return make_game(game).parse({"board": [list(row) for row in state.board], **notes})


def some_states(game: str, count: int, *, legal: int = 2) -> list[State]:
    """States with at least that many legal moves and an ordinary hint, spread over the game."""
    found = [state for state, moves in solved(game).moves.items() if len(moves) >= legal and state.hint <= 3]
    return random.Random(1).sample(found, count)
