"""The package counts as many short games as the naive implementation did."""

import json
from typing import Any

import pytest

from tests.games.perft import CASES, FILE, Steps, naive_counts, perft
from tilewright.games import make_game
from tilewright.games.board import Board

CHECKED_IN: list[dict[str, Any]] = json.loads(FILE.read_text())


def name(case: dict[str, Any]) -> str:
    return f"{case['game']} {case['board']}"


@pytest.mark.parametrize("case", CHECKED_IN, ids=name)
def test_the_package_counts_as_many_games_as_are_checked_in(case: dict[str, Any]) -> None:
    game = make_game(case["game"], **case["options"])

    def following(board: Board) -> Steps[Board]:
        for action in game.legal(board):
            after, reward = game.slide(board, action)
            for outcome, _ in game.outcomes(after):
                yield outcome, reward

    notes = {note: case[note] for note in ("hint", "bag") if note in case}
    board = game.parse({"board": case["board"]} | notes)
    assert perft(board, following, case["depth"]) == case["counts"]


def test_the_counts_checked_in_are_of_the_cases_in_the_source() -> None:
    assert [{key: case[key] for key in case if key != "counts"} for case in CHECKED_IN] == CASES


def test_the_naive_game_still_gives_the_smallest_count() -> None:
    case = min(CHECKED_IN, key=lambda case: case["counts"][-1]["leaves"])
    assert naive_counts(case) == case["counts"]
