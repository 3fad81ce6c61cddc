"""Counts of all games of a few moves from fixed boards, as chess programs check their move generators with.

`perft.json` holds the counts of the naive games; `python -m tests.games.perft` writes it anew. For every depth:

    leaves   sequences of (move, outcome)
    states   different states that they lead to: boards with hint and bag
    points   rewards of the slides, added up over all leaves
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from tests.games import naive

S = TypeVar("S")
Counts = list[dict[str, int]]
Steps = Iterable[tuple[S, int]]  # the states after one move and one outcome, with the reward of the slide

FILE = Path(__file__).with_name("perft.json")
CASES: list[dict[str, Any]] = [
    {"game": "2048", "options": {}, "depth": 2, "board": [[2, 0, 0, 0], [0, 0, 0, 0], [0, 0, 4, 0], [0, 0, 0, 0]]},
    {"game": "2048", "options": {}, "depth": 4, "board": [[2, 4, 8, 2], [16, 2, 4, 8], [2, 4, 2, 2], [8, 2, 16, 4]]},
    {
        "game": "2048",
        "options": {},
        "depth": 3,
        "board": [[32768, 32768, 4, 2], [65536, 4, 4, 8], [2, 8, 2, 16], [4, 0, 16, 2]],
    },
    {
        "game": "2048",
        "options": {"rows": 3, "columns": 3, "cascade": True, "four": 0.5},
        "depth": 3,
        "board": [[2, 2, 4], [4, 0, 8], [0, 2, 2]],
    },
    {"game": "2048", "options": {"rows": 2, "columns": 2}, "depth": 5, "board": [[2, 0], [0, 2]]},
    {
        "game": "2048",
        "options": {"rows": 2, "columns": 4, "four": 1.0},
        "depth": 4,
        "board": [[0, 4, 0, 2], [2, 2, 0, 0]],
    },
    {
        "game": "threes",
        "options": {},
        "depth": 3,
        "board": [[3, 1, 0, 0], [2, 0, 3, 1], [0, 0, 2, 1], [0, 3, 0, 0]],
        "hint": "2",
        "bag": "122",
    },
    {
        "game": "threes",
        "options": {},
        "depth": 3,
        "board": [[384, 96, 3, 1], [2, 24, 3, 1], [6, 24, 2, 1], [12, 3, 1, 3]],
        "hint": "+",
        "bag": "001",
    },
    {
        "game": "threes",
        "options": {"max_tile": 6144},
        "depth": 2,
        "board": [[6144, 6144, 3, 2], [3072, 3072, 1, 3], [1, 2, 1, 6], [1, 1, 2, 1]],
        "hint": "+24",
    },
    {
        "game": "threes",
        "options": {"rows": 3, "columns": 2, "start_tiles": 4},
        "depth": 4,
        "board": [[24, 24], [2, 1], [0, 3]],
        "hint": "3",
        "bag": "100",
    },
]


def perft(state: S, following: Callable[[S], Steps[S]], depth: int) -> Counts:
    """The counts of every depth up to that one. States reached in several ways are visited once and weighted."""
    counts = []
    ways = {state: 1}
    earned = {state: 0}  # points of all ways that lead to a state
    for _ in range(depth):
        next_ways: defaultdict[S, int] = defaultdict(int)
        next_earned: defaultdict[S, int] = defaultdict(int)
        for reached, number in ways.items():
            for after, reward in following(reached):
                next_ways[after] += number
                next_earned[after] += earned[reached] + number * reward
        ways, earned = next_ways, next_earned
        counts.append({"leaves": sum(ways.values()), "states": len(ways), "points": sum(earned.values())})
    return counts


def naive_game(case: dict[str, Any]) -> naive.NaiveGame:
    options = case["options"]
    if case["game"] == "threes":
        return naive.NaiveThrees(options.get("max_tile", 12288))
    return naive.Naive2048(options.get("four", 0.1), options.get("cascade", False))


def naive_counts(case: dict[str, Any]) -> Counts:
    game = naive_game(case)

    def following(state: naive.State) -> Steps[naive.State]:
        for direction in naive.DIRECTIONS:
            if slide := game.slide(state, direction):
                for outcome in game.outcomes(slide.after):
                    yield outcome, slide.reward

    return perft(naive.read(case), following, case["depth"])


def write() -> None:
    """Write the counts of the naive games, a case a line."""
    lines = [json.dumps(case | {"counts": naive_counts(case)}) for case in CASES]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    write()
