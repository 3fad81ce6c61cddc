"""The extra features, against counting tile by tile."""

import random

import numpy as np
import pytest

from tests.games.variants import random_board
from tests.ntuple import naive
from tests.ntuple.reading import read
from tilewright import make_game
from tilewright.errors import SpecError
from tilewright.ntuple.features import FEATURES
from tilewright.ntuple.patterns import NTupleArchitecture, find_network

ALL = tuple(FEATURES)
GAMES = ["2048", "threes", "2048:rows=3,columns=3", "threes:rows=2,columns=4,start_tiles=5"]
SIX_THOUSAND = "threes:max_tile=6144"


def feature_indices(game: str, text: str, features: tuple[str, ...] = ALL) -> dict[str, int]:
    """The index of a board in the table of each feature, as the package lists it."""
    shape = NTupleArchitecture(("0",), symmetric=False, features=features)
    weights = np.zeros(shape.table_size, np.float32)
    indices, _ = read(shape, weights, make_game(game).parse(text))
    offsets = np.cumsum([16, *(FEATURES[name] for name in features)])
    return {name: index - int(begin) for name, index, begin in zip(features, indices[1:], offsets, strict=False)}


def test_tables_are_as_long_as_the_naive_ones() -> None:
    assert FEATURES == naive.TABLE_SIZES


@pytest.mark.parametrize("game", GAMES)
def test_every_feature_is_what_counting_gives(game: str) -> None:
    rng = random.Random(3)
    for _ in range(200):
        board = random_board(make_game(game), rng)
        codes = naive.downgraded(board.codes, 15) if board.game.name == "2048" else board.codes
        hint = int(board.state.extra) & 15 if board.game.name == "threes" else 0
        expected = {name: naive.feature_index(board.game, name, codes, hint) for name in ALL}
        assert feature_indices(game, board.game.text(board)) == expected
        assert all(0 <= index < FEATURES[name] for name, index in expected.items())


@pytest.mark.parametrize(
    ("game", "text", "expected"),
    [
        (
            "2048",
            "2 2 4 0 / 8 2048 4 0 / 0 2048 0 0 / 32768 0 0 0",
            {
                "large_tiles": 2 + 8**4,
                "empty_cells": 8,
                "distinct_tiles": 5,
                "mergeable_pairs": 3,
                "neighbouring_pairs": 1,
                "hint": 0,
                "middle_tiles": 32,
                "merge_counts": 5076,
            },
        ),
        (
            "2048",
            "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2",
            {
                "large_tiles": 0,
                "empty_cells": 0,
                "distinct_tiles": 2,
                "mergeable_pairs": 0,
                "neighbouring_pairs": 24,
                "hint": 0,
                "middle_tiles": 0,
                "merge_counts": 24,
            },
        ),
        (
            "2048",
            "2048 2048 2048 2048 / 2048 2048 2048 2048 / 2048 2048 2048 2048 / 2048 2048 2048 2048",
            {
                "large_tiles": 7,
                "empty_cells": 0,
                "distinct_tiles": 1,
                "mergeable_pairs": 24,
                "neighbouring_pairs": 0,
                "hint": 0,
                "middle_tiles": 48,
                "merge_counts": 600,
            },
        ),
        (
            "threes",
            "1 2 3 6 / 0 0 0 6 / 0 0 0 0 / 768 0 0 1536 hint=2",
            {
                "large_tiles": 1 + 8,
                "empty_cells": 9,
                "distinct_tiles": 6,
                "mergeable_pairs": 2,
                "neighbouring_pairs": 1,
                "hint": 2,
                "middle_tiles": 80,
                "merge_counts": 5676,
            },
        ),
        (
            "threes",
            "0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 384 hint=+",
            {
                "large_tiles": 0,
                "empty_cells": 15,
                "distinct_tiles": 1,
                "mergeable_pairs": 0,
                "neighbouring_pairs": 0,
                "hint": 4,
                "middle_tiles": 4,
                "merge_counts": 9375,
            },
        ),
    ],
)
def test_features_of_a_board_counted_by_hand(game: str, text: str, expected: dict[str, int]) -> None:
    assert feature_indices(game, text) == expected


@pytest.mark.parametrize(
    ("text", "merging", "doubling"),
    [
        ("1 2 0 0", 1, 0),
        ("1 1 0 0", 0, 0),
        ("2 2 0 0", 0, 0),
        ("2 3 0 0", 0, 0),
        ("3 3 0 0", 1, 0),
        ("3 6 0 0", 0, 1),
        ("6 12 12 0", 1, 1),
        ("6144 6144 0 0", 0, 0),
        ("3072 6144 0 0", 0, 1),
    ],
)
def test_pairs_of_threes_go_by_its_rule_of_merging(text: str, merging: int, doubling: int) -> None:
    found = feature_indices(SIX_THOUSAND, f"{text} / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    assert (found["mergeable_pairs"], found["neighbouring_pairs"]) == (merging, doubling)


def test_hint_tuples_are_read_from_all_symmetries_together_with_the_hint() -> None:
    shape = find_network("yeh-threes-program")
    game = make_game("threes")
    assert shape.lookups(game) == 42
    shape = NTupleArchitecture(("01",), features=shape.features, hint_tuples=("0145", "123"))
    weights = np.random.default_rng(6).random(shape.table_size, np.float32)
    rng = random.Random(6)
    for _ in range(50):
        board = random_board(game, rng)
        indices, value = read(shape, weights, board)
        assert indices == naive.indices(shape, board)
        assert value == pytest.approx(naive.value(shape, weights, board), rel=1e-6)
        assert max(indices) < shape.table_size


def test_hint_tuples_need_hints_and_a_feature() -> None:
    with pytest.raises(SpecError, match="2048 has no hints"):
        NTupleArchitecture(("01",), features=("hint",), hint_tuples=("0",)).check_fits(make_game("2048"))
    with pytest.raises(SpecError, match="at least one other feature"):
        NTupleArchitecture(("01",), hint_tuples=("0",))


@pytest.mark.parametrize("text", ["hint=1", "hint=3", "hint=+6", "hint=+96", ""])
def test_every_bonus_is_one_hint_and_not_knowing_is_another(text: str) -> None:
    board = "1 2 3 6 / 0 0 0 6 / 0 0 0 0 / 768 0 0 1536"
    expected = {"hint=1": 1, "hint=3": 3, "hint=+6": 4, "hint=+96": 4, "": 0}[text]
    assert feature_indices("threes", f"{board} {text}")["hint"] == expected


@pytest.mark.parametrize("game", GAMES)
def test_features_are_part_of_the_value_beside_the_tuples(game: str) -> None:
    shape = NTupleArchitecture(
        ("01", "145"), features=("neighbouring_pairs", "hint", "large_tiles")
    )  # in an order of one's own
    weights = np.random.default_rng(4).random(shape.table_size, np.float32)
    rng = random.Random(4)
    for _ in range(50):
        board = random_board(make_game(game), rng)
        indices, value = read(shape, weights, board)
        assert indices == naive.indices(shape, board)
        assert value == pytest.approx(naive.value(shape, weights, board), rel=1e-6)
