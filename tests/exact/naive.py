"""Exact values written a second time: recursion over the naive rules, board by board, without symmetry or layers."""

from functools import cache

from tests.games.naive import DIRECTIONS, Naive2048, State
from tests.games.naive import largest as largest_tile


def outcomes(rules: Naive2048, after: State) -> dict[State, float]:
    return {state: probability for state, probability in rules.outcomes(after).items() if probability}


def first_boards(rules: Naive2048, rows: int, columns: int, tiles: int = 2) -> dict[State, float]:
    found: dict[State, float] = {State(((0,) * columns,) * rows): 1.0}
    for _ in range(tiles):
        following: dict[State, float] = {}
        for state, probability in found.items():
            for after, chance in outcomes(rules, state).items():
                following[after] = following.get(after, 0.0) + probability * chance
        found = following
    return found


class Naive:
    """The values of a board with or without a goal, and which boards were met."""

    def __init__(self, goal: int | None = None, rules: Naive2048 = Naive2048()) -> None:  # noqa: B008  (frozen)
        self.goal, self.rules = goal, rules
        self.value = cache(self._value)
        self.met: set[State] = set()

    def _value(self, state: State) -> float:
        self.met.add(state)
        return max(self.values(state).values(), default=0.0)

    def values(self, state: State) -> dict[str, float]:
        found = {}
        for direction in DIRECTIONS:
            slid = self.rules.slide(state, direction)
            if slid is None:
                continue
            if self.goal is not None and largest_tile(slid.after.board) >= self.goal:
                found[direction] = 1.0
                continue
            chances = outcomes(self.rules, slid.after).items()
            expected = sum(probability * self.value(following) for following, probability in chances)
            found[direction] = expected if self.goal is not None else slid.reward + expected
        return found

    def mean(self, rows: int, columns: int, tiles: int = 2) -> float:
        return sum(
            chance * self.value(state) for state, chance in first_boards(self.rules, rows, columns, tiles).items()
        )
