"""Tiny games solved exactly, by dynamic programming over the naive rules.

Every move adds a tile and merging keeps the sum of 2048 and of Threes, so the states of a game are in order by their
sum: backwards for values, forwards for how often a position is met.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

from tests.games.naive import (
    DIRECTIONS,
    FULL_BAG,
    Bag,
    Grid,
    Naive2048,
    NaiveGame,
    NaiveThrees,
    State,
    empty_cells,
    score,
    with_tile,
    without,
)

Policy = dict[State, str]
K = TypeVar("K")


class Chance(NamedTuple):
    probability: float
    state: State
    gain: int  # what the new tile is worth


class Move(NamedTuple):
    after: State
    reward: int
    chances: list[Chance]


@dataclass(frozen=True)
class Solved:
    """A game whose states all fit in memory, with the probabilities of its first ones."""

    game: NaiveGame
    starts: dict[State, float]

    @cached_property
    def moves(self) -> dict[State, dict[str, Move]]:
        """The legal moves of every state that can be reached, the smallest sum first."""
        found: dict[State, dict[str, Move]] = {}
        waiting = list(self.starts)
        while waiting:
            state = waiting.pop()
            if state not in found:
                found[state] = self._moves_of(state)
                waiting += [chance.state for move in found[state].values() for chance in move.chances]
        return dict(sorted(found.items(), key=lambda item: _sum(item[0].board)))

    def _moves_of(self, state: State) -> dict[str, Move]:
        moves = {}
        for direction in DIRECTIONS:
            slid = self.game.slide(state, direction)
            if slid:
                chances = [
                    Chance(probability, following, self._gain(slid.after, following))
                    for following, probability in self.game.outcomes(slid.after).items()
                ]
                moves[direction] = Move(slid.after, slid.reward, chances)
        return moves

    def _gain(self, after: State, following: State) -> int:
        return score(following.board) - score(after.board) if isinstance(self.game, NaiveThrees) else 0

    def q_values(self, move: Move, values: dict[State, float]) -> float:
        """The reward of a move and what is expected behind it."""
        return move.reward + sum(chance.probability * (chance.gain + values[chance.state]) for chance in move.chances)

    @cached_property
    def best(self) -> dict[State, float]:
        """The value of every state under best play: the points still to come."""
        values: dict[State, float] = {}
        for state, moves in reversed(self.moves.items()):
            values[state] = max((self.q_values(move, values) for move in moves.values()), default=0.0)
        return values

    def values_under(self, policy: Policy) -> dict[State, float]:
        """The value of every state when moves are made by `policy`."""
        values: dict[State, float] = {}
        for state, moves in reversed(self.moves.items()):
            values[state] = self.q_values(moves[policy[state]], values) if moves else 0.0
        return values

    def mean(self, values: dict[State, float]) -> float:
        """The expected points of a game, without those of the first tiles."""
        return sum(probability * values[state] for state, probability in self.starts.items())

    def visits(self, policy: Policy) -> dict[State, float]:
        """How often a game meets each state when moves are made by `policy`."""
        met: dict[State, float] = defaultdict(float, self.starts)
        for state, moves in self.moves.items():
            if moves and met[state]:
                for chance in moves[policy[state]].chances:
                    met[chance.state] += met[state] * chance.probability
        return met

    def policy(self, q_values: Callable[[State, str, Move], float]) -> Policy:
        """The move of the highest worth in every state, the first among equals."""
        return {
            state: max(moves, key=lambda direction: q_values(state, direction, moves[direction]))
            for state, moves in self.moves.items()
            if moves
        }


def _sum(board: Grid) -> int:
    return sum(map(sum, board))


def solve_2048(rows: int, columns: int) -> Solved:
    game = Naive2048()
    starts: dict[State, float] = {State(((0,) * columns,) * rows): 1.0}
    for _ in range(2):
        starts = _together(
            (following, probability * chance)
            for state, probability in starts.items()
            for following, chance in game.outcomes(state).items()
        )
    return Solved(game, starts)


def solve_threes(rows: int, columns: int, start_tiles: int) -> Solved:
    game = NaiveThrees()
    laid: dict[tuple[Grid, Bag], float] = {(((0,) * columns,) * rows, FULL_BAG): 1.0}
    for _ in range(start_tiles):
        laid = _together(
            ((with_tile(board, cell, tile), without(bag, tile)), probability * count / sum(bag) / len(cells))
            for (board, bag), probability in laid.items()
            for cells in [empty_cells(board)]
            for tile, count in enumerate(bag, 1)
            if count
            for cell in cells
        )
    starts = _together(
        (State(board, hint, left), probability * chance)
        for (board, bag), probability in laid.items()
        for (hint, left), chance in game.decisions(board, bag).items()
    )
    return Solved(game, starts)


def _together(pairs: Iterable[tuple[K, float]]) -> dict[K, float]:
    found: dict[K, float] = defaultdict(float)
    for key, probability in pairs:
        found[key] += probability
    return dict(found)
