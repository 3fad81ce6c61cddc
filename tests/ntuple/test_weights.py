"""A board's places and value against the naive reading of the same network."""

import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.games.variants import random_board
from tests.ntuple import naive
from tests.ntuple.reading import read
from tilewright import make_game
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.ntuple.patterns import NETWORKS, NTupleArchitecture

# Game and network. On boards that are not square the tuples lie in one direction only; "520" is not in board order.
SMALL = {
    "3-tuples": ("2048", NTupleArchitecture(("012", "159", "05a"))),
    "4-tuples": ("threes", NTupleArchitecture(("0123", "0145", "569a"))),
    "no symmetry": ("2048", NTupleArchitecture(("0145", "3", "7bf"), symmetric=False)),
    "not in order": ("2048", NTupleArchitecture(("520", "c840"))),
    "2x2": ("2048:rows=2,columns=2", NTupleArchitecture(("0145",))),
    "3x3": ("2048:rows=3,columns=3", NTupleArchitecture(("0125", "16a"))),
    "2x3": ("2048:rows=2,columns=3", NTupleArchitecture(("015", "26"))),
    "3x4": ("threes:rows=3,columns=4", NTupleArchitecture(("3", "0126", "89ab"))),
    "4x2": ("threes:rows=4,columns=2,start_tiles=5", NTupleArchitecture(("0145", "9d"))),
    "6-tuple": ("2048", NTupleArchitecture(("012456",))),
    "by hint": ("threes", NTupleArchitecture(("012", "0145"), by_hint=True)),
    "by hint, with features": (
        "threes",
        NTupleArchitecture(("012", "569a"), features=("large_tiles", "hint"), by_hint=True),
    ),
}


def boards(game: Game, count: int, seed: int = 0) -> list[Board]:
    rng = random.Random(seed)
    return [random_board(game, rng) for _ in range(count)]


def random_weights(shape: NTupleArchitecture, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).random(shape.table_size, np.float32)


def assert_reads_as_naive(shape: NTupleArchitecture, weights: NDArray[Any], board: Board) -> None:
    indices, value = read(shape, weights, board)
    assert indices == naive.indices(shape, board)
    assert value == pytest.approx(naive.value(shape, weights, board), rel=1e-6)


@pytest.mark.parametrize("name", SMALL)
def test_places_and_value_are_those_of_the_naive_network(name: str) -> None:
    spec, shape = SMALL[name]
    weights = random_weights(shape)
    for board in boards(make_game(spec), 60):
        assert_reads_as_naive(shape, weights, board)


@pytest.mark.parametrize("name", NETWORKS)
def test_named_networks_are_read_as_the_naive_ones(name: str) -> None:
    """Memory that is never written is never there: only the pages of the places looked up are."""
    shape, game = NETWORKS[name], make_game("threes" if "threes" in name or "hint" in name else "2048")
    weights = np.zeros(shape.table_size, np.float32)
    rng = np.random.default_rng(1)
    for board in boards(game, 15):
        there = naive.indices(shape, board)
        weights[there] = rng.random(len(there), np.float32)
        assert_reads_as_naive(shape, weights, board)


@pytest.mark.parametrize("name", [name for name, (_, shape) in SMALL.items() if shape.symmetric])
def test_all_symmetric_images_have_one_value(name: str) -> None:
    spec, shape = SMALL[name]
    weights = random_weights(shape)
    for board in boards(make_game(spec), 10):
        values = [read(shape, weights, symmetry)[1] for symmetry in board.game.symmetries(board)]
        assert values == pytest.approx([values[0]] * len(values), rel=1e-6)


def test_without_symmetry_images_differ() -> None:
    spec, shape = SMALL["no symmetry"]
    board = make_game(spec).parse("2 4 8 16 / 32 64 128 256 / 512 1024 2048 4096 / 8192 16384 0 0")
    values = {read(shape, random_weights(shape), symmetry)[1] for symmetry in board.game.symmetries(board)}
    assert len(values) == 8


@pytest.mark.parametrize("tiles", range(8, 17))
def test_tiles_without_weights_are_read_as_a_downgraded_board(tiles: int) -> None:
    features = ("large_tiles", "distinct_tiles")
    shape, game = NTupleArchitecture(("0123", "159d"), alphabet=tiles, features=features), make_game("2048")
    weights = random_weights(shape)
    rng = random.Random(2)
    for _ in range(150):
        low = rng.randint(9, 16)
        codes = [rng.choice((0, 1, 2, *range(low, 18))) for _ in range(15)] + [rng.randint(15, 17)]
        rng.shuffle(codes)
        board = game.parse(" ".join(str(game.value(code)) for code in codes))
        assert_reads_as_naive(shape, weights, board)


@pytest.mark.parametrize(
    ("tiles", "board", "same_as"),
    [
        (16, "65536 16384 8192 2", "32768 16384 8192 2"),
        (16, "65536 32768 8192 2", "32768 16384 8192 2"),
        (16, "131072 2 0 0", "32768 2 0 0"),
        (16, "131072 65536 32768 16384", "32768 16384 8192 4096"),
        (16, "131072 65536 16384 2", "32768 16384 8192 2"),
        (15, "32768 8192 4 0", "16384 8192 4 0"),
        (15, "32768 16384 8192 2", "16384 8192 4096 2"),
        (15, "65536 32768 16384 0", "16384 8192 4096 0"),
        (16, "32768 16384 8192 2", "32768 16384 8192 2"),
    ],
)
def test_every_tile_above_the_largest_missing_one_is_halved(tiles: int, board: str, same_as: str) -> None:
    shape, game = NTupleArchitecture(("0123",), symmetric=False, alphabet=tiles), make_game("2048")
    weights = random_weights(shape)
    rest = " / 0 0 0 0" * 3
    assert read(shape, weights, game.parse(board + rest)) == read(shape, weights, game.parse(same_as + rest))


def test_sixteen_different_tiles_leave_no_gap_but_are_read_all_the_same() -> None:
    """2 … 65536 on one board: nothing can be halved, and 65536 is seen as 32768."""
    shape, game = NTupleArchitecture(("0123", "cdef"), symmetric=False), make_game("2048")
    board = game.parse(" ".join(str(2**code) for code in range(1, 17)))
    indices, _ = read(shape, random_weights(shape), board)
    assert indices == [0b0000_0001_0110_1010, 16**4 + 0b1111_1111_0111_1011]  # 1 2 3 4, 13 14 15 15


def test_weights_of_16_bits_are_added_up_without_overflow() -> None:
    shape, game = NTupleArchitecture(("0123", "0145")), make_game("2048")
    weights = np.full(shape.table_size, 32_767, np.int16)
    board = game.parse("2 4 8 0 / 0 0 0 0 / 0 0 2 0 / 0 0 0 0")
    assert read(shape, weights, board, quantum=0.5)[1] == 16 * 32_767 * 0.5
    assert read(shape, -weights, board, quantum=2.0)[1] == -16 * 32_767 * 2.0
