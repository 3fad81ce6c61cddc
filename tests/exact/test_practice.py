"""Practice positions are what they are asked to be."""

from dataclasses import replace

import numpy as np
import pytest

import tilewright as tw
from tilewright.exact import practice
from tilewright.exact.practice import practice_positions


@pytest.mark.parametrize(
    ("spec", "goal", "loss"), [("2048:rows=2,columns=3", None, (5.0, 50.0)), ("endgame:07ff-64", None, (0.001, 0.1))]
)
def test_the_second_best_move_loses_what_was_asked_for(spec: str, goal: int | None, loss: tuple[float, float]) -> None:
    table = tw.solve(spec, goal=goal, threads=1)
    boards = practice_positions(table, 4, loss=loss, seed=1)
    assert len({table.game.text(board) for board in boards}) == 4
    for board in boards:
        best, second = sorted(table.values(board).values(), reverse=True)[:2]
        assert loss[0] <= best - second <= loss[1]
    assert boards == practice_positions(table, 4, loss=loss, seed=1)
    assert boards != practice_positions(table, 4, loss=loss, seed=2)


def test_what_is_not_there_is_not_found() -> None:
    table = tw.solve("2048:rows=2,columns=2", goal=16, threads=1)
    assert practice_positions(table, 1, loss=(2.0, 3.0)) == []
    with pytest.raises(tw.UsageError, match="the first number must not be above"):
        practice_positions(table, 1, loss=(1.0, 0.0))
    with pytest.raises(tw.UsageError, match="count=0"):
        practice_positions(table, 0, loss=(0.0, 1.0))
    with pytest.raises(tw.UsageError, match="from 1 to 100,000"):
        practice_positions(table, 100_001, loss=(0.0, 1.0))


def test_the_search_ends_when_no_new_boards_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(practice, "_TRIES", 50)
    table = tw.solve("2048:rows=2,columns=2", goal=16, threads=1)
    drawn = []

    def draw(table: tw.ExactTable, random: np.random.Generator) -> tw.Board:
        drawn.append(random)
        return random_board(table, random)

    random_board = practice._random_board
    monkeypatch.setattr(practice, "_random_board", draw)
    found = practice_positions(table, 100_000, loss=(0.0, 1.0))
    assert 0 < len(found) < 200
    assert len(drawn) <= 500 * (len(found) + 1)


def test_boards_of_a_table_that_are_no_afterstates_are_left_out() -> None:
    table = tw.solve("2048:rows=2,columns=2", goal=16, threads=1)
    table = replace(table, keys=np.full(len(table.keys), 0x3333_3333_3333_3333, np.uint64))
    assert practice_positions(table, 1, loss=(0.0, 1.0)) == []
