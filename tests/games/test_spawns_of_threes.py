"""Where a new tile of Threes enters, and what it is."""

from collections import Counter
from itertools import product

import pytest

from tests.games.naive import NaiveThrees
from tests.games.sampling import assert_follows, spawned, spawned_in_turn
from tests.games.variants import naive_state
from tilewright.games import make_game

SAMPLES = 300_000
GAME = make_game("threes")
AFTERSTATES = [
    "0 0 0 0 / 1 0 0 0 / 0 0 0 0 / 0 0 0 0 hint=2 bag=444 entry=7",
    "1 1 0 0 / 2 3 1 0 / 0 0 0 0 / 3 0 0 0 hint=1 bag=123 entry=37f",
    "3 6 0 0 / 0 0 0 0 / 2 2 0 0 / 1 0 0 3 bag=041 entry=3b",
    "48 1 0 0 / 2 3 1 0 / 0 0 0 0 / 3 0 0 0 hint=3 bag=001 entry=37f",
    "384 1 0 0 / 2 3 1 0 / 0 0 0 0 / 3 0 0 0 hint=+ bag=301 entry=3f",
    "384 1 0 0 / 2 3 1 0 / 0 0 0 0 / 3 0 0 0 hint=+12 entry=7",
    "6144 1 0 0 / 2 3 1 0 / 0 0 0 0 / 3 0 0 0 entry=37",
    "3 1 0 0 / 2 3 1 0 / 0 0 0 0 / 3 0 0 0 hint=+96 bag=444 entry=3f",  # a bonus tile may be the first 48
    "12288 1 0 0 / 2 3 1 0 / 0 0 0 0 / 0 0 0 0 hint=+ bag=222 entry=cde",
]


@pytest.mark.parametrize("text", AFTERSTATES)
def test_spawns_follow_the_naive_outcomes_and_the_listed_ones(text: str) -> None:
    after = GAME.parse(text)
    observed = spawned(GAME, after, SAMPLES)
    assert_follows(observed, dict(GAME.outcomes(after)))
    naive = Counter({naive_state(board): count for board, count in observed.items()})
    assert_follows(naive, NaiveThrees().outcomes(naive_state(after)))


@pytest.mark.parametrize(
    ("action", "cells"),
    [
        ("left", [(0, 3), (1, 3)]),
        ("right", [(0, 0), (1, 0), (3, 0)]),
        ("up", [(3, 0), (3, 1), (3, 3)]),
        ("down", [(0, 1), (0, 3)]),
    ],
)
def test_a_tile_enters_any_line_that_moved_and_no_other(action: str, cells: list[tuple[int, int]]) -> None:
    board = GAME.parse("0 1 3 0 / 1 2 6 0 / 1 1 1 1 / 3 6 1 0 hint=3 bag=432")
    after, _ = GAME.slide(board, action)
    observed: Counter[tuple[int, int]] = Counter()
    for outcome, count in spawned(GAME, after, SAMPLES).items():
        changed = [(r, c) for r, c in product(range(4), repeat=2) if outcome.tiles[r][c] != after.tiles[r][c]]
        observed[changed[0]] += count
    assert_follows(observed, {cell: 1 / len(cells) for cell in cells})


@pytest.mark.parametrize(
    ("largest", "bonus_tiles"),
    [(48, [6]), (96, [6, 12]), (384, [6, 12, 24, 48]), (12288, [6 * 2**i for i in range(9)])],
)
def test_one_tile_in_21_is_a_bonus_tile_and_each_of_them_as_likely(largest: int, bonus_tiles: list[int]) -> None:
    after = GAME.parse(f"0 0 0 0 / 0 0 0 0 / 0 0 0 0 / {largest} 0 0 0 hint=1 bag=444 entry=f")
    added, _ = spawned_in_turn(GAME, after, SAMPLES)
    tiles = Counter(GAME.value(int(code)) for code in added[1:])
    ordinary = dict.fromkeys((1, 2, 3), 20 / 21 / 3)
    assert_follows(tiles, ordinary | dict.fromkeys(bonus_tiles, 1 / 21 / len(bonus_tiles)))


def test_no_bonus_tile_comes_before_a_48() -> None:
    after = GAME.parse("0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 24 24 0 0 hint=1 bag=444 entry=f")
    added, _ = spawned_in_turn(GAME, after, SAMPLES)
    assert set(added.tolist()) == {1, 2, 3}


def test_a_bonus_is_judged_by_the_board_on_which_the_hint_was_shown() -> None:
    # The merge makes the first 48 after the hint: the tile to come was already decided to be an ordinary one.
    board = GAME.parse("24 24 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0 hint=2 bag=434")
    after, _ = GAME.slide(board, "left")
    for outcome in spawned(GAME, after, SAMPLES):
        assert outcome.tiles[0] == (48, 0, 0, 2)
        assert outcome.notes["hint"] in ("1", "2", "3", "+")


def test_the_tile_that_comes_is_the_one_the_hint_announced() -> None:
    after = GAME.parse("0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 384 0 0 0 hint=1 bag=444 entry=f")
    added, extra = spawned_in_turn(GAME, after, SAMPLES)
    announced, came = extra[:-1] & 15, added[1:]
    ordinary = announced <= 3
    assert (came[ordinary] == announced[ordinary]).all()
    assert (came[~ordinary] >= 4).all()
    assert (came[~ordinary] <= GAME.code(48)).all()
