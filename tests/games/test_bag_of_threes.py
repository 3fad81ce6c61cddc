"""The bag of Threes: four each of 1, 2 and 3 in random order, the start tiles included."""

import random
from collections import Counter
from itertools import product
from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.games.sampling import Words, assert_follows, counted, spawned_in_turn, started
from tilewright.games import make_game
from tilewright.games.episode import Episode

SAMPLES = 300_000
BAGS = 240_000
GAME = make_game("threes")
ONE_BAG = [1] * 4 + [2] * 4 + [3] * 4


def hints(largest: int, samples: int) -> NDArray[np.int64]:
    """The tiles announced one after another, beginning with a full bag."""
    after = GAME.parse(f"0 0 0 0 / 0 0 0 0 / 0 0 0 0 / {largest} 0 0 0 hint=1 bag=444 entry=f")
    _, extra = spawned_in_turn(GAME, after, samples)
    return (extra & 15).astype(np.int64)


def nibbles(cells: Words) -> NDArray[np.int64]:
    """int64[samples, 16]: the tile codes, row by row."""
    return (cells[:, None] >> np.arange(60, -1, -4).astype(np.uint64) & 15).astype(np.int64)


def test_every_twelve_tiles_are_one_bag() -> None:
    bags = np.sort(hints(24, 12 * 10_000).reshape(-1, 12), axis=1)
    assert (bags == ONE_BAG).all()


def test_bonus_tiles_leave_the_bag_alone() -> None:
    announced = hints(384, SAMPLES)
    ordinary = announced[announced <= 3]
    assert len(ordinary) < SAMPLES
    whole = len(ordinary) // 12 * 12
    assert (np.sort(ordinary[:whole].reshape(-1, 12), axis=1) == ONE_BAG).all()


def test_each_of_the_34650_orders_of_a_bag_is_as_likely() -> None:
    bags = hints(24, 12 * BAGS).reshape(-1, 12)
    orders, counts = np.unique(bags @ 4 ** np.arange(12), return_counts=True)
    number_of_orders = comb(12, 4) * comb(8, 4)
    assert len(orders) <= number_of_orders
    observed = dict(zip(orders.tolist(), counts.tolist(), strict=True))
    never_seen = {-1 - i: 0 for i in range(number_of_orders - len(orders))}
    assert_follows(observed | never_seen, dict.fromkeys(observed | never_seen, 1 / number_of_orders))


@pytest.mark.parametrize("number", range(30))
def test_the_start_tiles_and_all_that_follow_are_whole_bags(number: int) -> None:
    rng = random.Random(number)
    episode = Episode(GAME, seed=5, number=number)
    tiles = [tile for row in episode.board.tiles for tile in row if tile]
    while not episode.is_over:
        tiles.append(int(episode.board.notes["hint"].replace("+", "9")[0]))
        episode.move(rng.choice(episode.legal))
    ordinary = [tile for tile in tiles if tile <= 3]
    for first in range(0, len(ordinary) - 11, 12):
        assert sorted(ordinary[first : first + 12]) == ONE_BAG


def test_start_tiles_and_the_first_hint_are_drawn_from_one_bag() -> None:
    cells, extra = started(GAME, SAMPLES)
    codes = nibbles(cells)
    drawn = np.stack([(codes == tile).sum(axis=1) for tile in (1, 2, 3)] + [(extra & 15).astype(np.int64)], axis=1)
    observed = Counter(map(tuple, drawn.tolist()))
    expected = {
        (*counts, hint): comb(4, counts[0]) * comb(4, counts[1]) * comb(4, counts[2]) / comb(12, 9) * left / 3
        for counts in product(range(5), repeat=3)
        if sum(counts) == 9
        for hint, left in enumerate((4 - count for count in counts), 1)
        if left
    }
    assert_follows(observed, expected)


def test_nine_start_tiles_lie_on_any_nine_cells() -> None:
    cells, _ = started(GAME, SAMPLES)
    occupied = (nibbles(cells) > 0) @ (1 << np.arange(16))
    patterns, counts = np.unique(occupied, return_counts=True)
    assert {int(pattern).bit_count() for pattern in patterns} == {9}
    assert len(patterns) == comb(16, 9)
    observed = dict(zip(patterns.tolist(), counts.tolist(), strict=True))
    assert_follows(observed, dict.fromkeys(observed, 1 / comb(16, 9)))


def test_which_tile_lies_where_is_independent() -> None:
    game = make_game("threes", start_tiles=1)
    observed = Counter(
        {(board.tiles, board.notes["hint"]): count for board, count in counted(game, *started(game, SAMPLES)).items()}
    )
    expected = {}
    for cell, tile, hint in product(range(16), (1, 2, 3), (1, 2, 3)):
        flat = [tile if i == cell else 0 for i in range(16)]
        board = tuple(tuple(flat[4 * r : 4 * r + 4]) for r in range(4))
        expected[board, str(hint)] = 1 / 16 / 3 * (3 if hint == tile else 4) / 11
    assert_follows(observed, expected)


def test_a_bag_that_ran_empty_is_full_at_once() -> None:
    game = make_game("threes", start_tiles=12)
    for board in counted(game, *started(game, 1000)):
        assert sorted(tile for row in board.tiles for tile in row if tile) == ONE_BAG
        assert board.notes["bag"] == {"1": "344", "2": "434", "3": "443"}[board.notes["hint"]]
