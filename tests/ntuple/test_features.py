"""The extra features, against counting tile by tile."""

import random

import numpy as np
import pytest

from tests.games.variants import random_board
from tests.ntuple import naive
from tests.ntuple.reading import read
from tilewright import make_game
from tilewright.ntuple.features import FEATURES
from tilewright.ntuple.patterns import NTupleArchitecture

ALL = tuple(FEATURES)
GAMES = ["2048", "threes", "2048:rows=3,columns=3", "threes:rows=2,columns=4,start_tiles=5"]


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
        expected = {name: naive.feature_index(name, codes, hint) for name in ALL}
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
            },
        ),
        (
            "threes",
            "1 2 3 6 / 0 0 0 6 / 0 0 0 0 / 768 0 0 1536 hint=2",
            {
                "large_tiles": 1 + 8,
                "empty_cells": 9,
                "distinct_tiles": 6,
                "mergeable_pairs": 1,
                "neighbouring_pairs": 3,
                "hint": 2,
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
            },
        ),
    ],
)
def test_features_of_a_board_counted_by_hand(game: str, text: str, expected: dict[str, int]) -> None:
    assert feature_indices(game, text) == expected


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
