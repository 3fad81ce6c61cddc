"""Networks that distinguish fewer than 16 tiles: their indices, values, stages, files and training."""

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.ntuple import naive
from tests.ntuple.naive import Codes
from tests.ntuple.reading import read
from tilewright import make_game
from tilewright.games.board import Board
from tilewright.ntuple.compact import pack, unpack
from tilewright.ntuple.model import Model, load_model
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.training.config import TrainingConfig
from tilewright.training.trainer import Trainer

GAME = make_game("2048")
REDUCED = range(8, 15)


def board_of(codes: list[int]) -> Board:
    return GAME.parse(" ".join(str(GAME.value(code)) for code in codes))


def random_boards(count: int, largest_code: int, seed: int = 0) -> Iterator[Board]:
    rng = random.Random(seed)
    for _ in range(count):
        codes = [rng.choice((0, rng.randint(1, 4), rng.randint(1, largest_code))) for _ in range(15)]
        yield board_of([*codes, rng.randint(1, largest_code)])


@pytest.mark.parametrize("alphabet", REDUCED)
def test_all_codes_of_a_tuple_fill_its_table_without_gaps(alphabet: int) -> None:
    """Every combination has an index of its own; an odd alphabet leaves out those of the tile that is rounded up to."""
    shape = NTupleArchitecture(("25a",), symmetric=False, alphabet=alphabet)
    weights = np.zeros(shape.table_size, np.float32)
    found = set()
    for codes in itertools.product(range(alphabet), repeat=3):
        cells = [0] * 16
        for cell, code in zip((2, 5, 10), codes, strict=True):
            cells[cell] = code
        indices, _ = read(shape, weights, board_of(cells))
        found.add(indices[0])
    assert len(found) == alphabet**3
    assert max(found) < shape.table_size
    if alphabet % 2 == 0:
        assert found == set(range(alphabet**3)) == set(range(shape.table_size))


@pytest.mark.parametrize("alphabet", REDUCED)
def test_boards_share_a_weight_if_their_codes_in_the_tuple_agree(alphabet: int) -> None:
    """The weights of a plain dictionary from codes to weights, one for every tuple, on boards up to 131072."""
    tuples = ("0145", "26ae37bf", "048")  # the second table has eight cells
    shape = NTupleArchitecture(tuples, alphabet=alphabet)
    if shape.table_size > 2**26:
        shape = NTupleArchitecture(tuples := ("0145", "26ae37", "048"), alphabet=alphabet)
    weights = np.zeros(shape.table_size, np.float32)
    index_of: dict[tuple[int, tuple[int, ...]], int] = {}
    for board in random_boards(200, 17, alphabet):
        indices, _ = read(shape, weights, board)
        assert indices == naive.indices(shape, board)
        assert max(indices) < shape.table_size
        seen = naive.within(board.codes, alphabet)
        for image, symmetry in enumerate(naive.symmetric_images(seen)):
            for number, cells in enumerate(tuples):
                key = number, tuple(symmetry[int(cell, 16) // 4][int(cell, 16) % 4] for cell in cells)
                index = indices[image * len(tuples) + number]
                assert index_of.setdefault(key, index) == index
    assert len(set(index_of.values())) == len(index_of)


@pytest.mark.parametrize("alphabet", REDUCED)
def test_boards_on_which_nothing_can_be_halved_stay_in_the_table(alphabet: int) -> None:
    """2, 4, 8 … without a gap: what is too large is read as the largest tile of the alphabet."""
    shape = NTupleArchitecture(("0123", "cdef"), symmetric=False, alphabet=alphabet)
    weights = np.zeros(shape.table_size, np.float32)
    indices, _ = read(shape, weights, board_of(list(range(1, 17))))
    top = alphabet - 1
    assert indices[1] == naive.table_size("0123", alphabet) + naive.tuple_index(((top,) * 4,), "0123", alphabet)


def test_downgraded_boards_are_those_of_the_naive_rule() -> None:
    """Networks of one cell show which tile is read; boards with one nibble too large take the fast way."""
    for alphabet in range(8, 17):
        shape = NTupleArchitecture(tuple("0123456789abcdef"), symmetric=False, alphabet=alphabet)
        weights = np.zeros(shape.table_size, np.float32)
        size = naive.table_size("0", alphabet)
        for board in itertools.chain(random_boards(150, 15, alphabet), random_boards(50, 17, alphabet)):
            indices, _ = read(shape, weights, board)
            codes = [index - size * cell for cell, index in enumerate(indices)]
            expected = [code for row in naive.within(board.codes, alphabet) for code in row]
            assert codes == [min(code, 15) for code in expected]


def same_network(shape: NTupleArchitecture, weights: NDArray[np.float32], alphabet: int) -> Model:
    """Copy the weights of a network of one alphabet to one of 16 tiles, table by table."""
    wide = NTupleArchitecture(shape.tuples)
    copied = np.zeros(wide.table_size, np.float32)
    begin = wide_begin = 0
    for cells in shape.tuples:
        in_order = "".join(sorted(cells))
        for codes in itertools.product(range(alphabet), repeat=len(cells)):
            row: list[list[int]] = [[0] * 4 for _ in range(4)]
            for cell, code in zip(in_order, codes, strict=True):
                row[int(cell, 16) // 4][int(cell, 16) % 4] = code
            grid: Codes = tuple(map(tuple, row))
            copied[wide_begin + naive.tuple_index(grid, cells)] = weights[
                begin + naive.tuple_index(grid, cells, alphabet)
            ]
        begin, wide_begin = begin + naive.table_size(cells, alphabet), wide_begin + 16 ** len(cells)
    return Model(make_game("2048:rows=3,columns=3"), wide, "afterstate", copied)


@pytest.mark.parametrize("update", ["online", "backward"])
def test_learning_below_the_largest_tile_does_not_depend_on_the_alphabet(update: str) -> None:
    """Games on 3x3 boards end before 4096: the same games, scores and weights, bit for bit."""
    trained = {}
    for alphabet in (12, 14, 16):
        config = TrainingConfig(
            game="2048:rows=3,columns=3",
            tuples=("012", "0145", "456"),
            alphabet=alphabet,
            features=(),
            games=400,
            update=update,
            seed=3,
        )
        trainer = Trainer(config)
        trained[alphabet] = trainer, trainer.learn(0, 400)
    wide, games = trained[16]
    assert max(games.codes) < 12
    for alphabet in (12, 14):
        trainer, same_games = trained[alphabet]
        assert all(np.array_equal(one, other) for one, other in zip(games, same_games, strict=True))
        copied = same_network(trainer.architecture, trainer.weights, alphabet)
        assert copied.weights.tobytes() == wide.weights.tobytes()


def stage_in(shape: NTupleArchitecture, board: Board) -> int:
    indices, _ = read(shape, np.zeros(shape.table_size, np.float32), board)
    stages = {index // shape.stage_size for index in indices}
    assert len(stages) == 1
    return stages.pop()


@pytest.mark.parametrize("alphabet", [12, 15, 16])
@pytest.mark.parametrize("promote", [False, True])
@pytest.mark.parametrize(
    ("board", "stage"),
    [
        ("1024 512 4 2", 0),
        ("2048 512 4 2", 1),
        ("2048 1024 4 2", 2),
        ("4096 4 2 0", 3),
        ("4096 2048 1024 2", 3),
        ("8192 4 2 0", 4),
        ("65536 4 2 0", 5),
    ],
)
def test_stages_begin_with_the_true_tiles(alphabet: int, promote: bool, board: str, stage: int) -> None:
    conditions = ("2048", "2048+1024", "4096", "8192", "32768")
    shape = NTupleArchitecture(("0123", "012"), alphabet=alphabet, stages=conditions, promote=promote)
    board += " / 0 0 0 0" * 3
    assert stage_in(shape, GAME.parse(board)) == stage
    one_stage = NTupleArchitecture(("0123", "012"), alphabet=alphabet)
    indices, _ = read(shape, np.zeros(shape.table_size, np.float32), GAME.parse(board))
    inside, _ = read(one_stage, np.zeros(one_stage.table_size, np.float32), GAME.parse(board))
    assert [index % shape.stage_size for index in indices] == inside


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("alphabet", [9, 12])
def test_a_model_is_read_back(tmp_path: Path, alphabet: int, compact: bool) -> None:
    shape = NTupleArchitecture(("0123", "014"), alphabet=alphabet, stages=("2048", "4096"), promote=True)
    weights = np.random.default_rng(1).integers(-99, 99, shape.table_size).astype(np.float32)
    model = Model(GAME, shape, "afterstate", weights)
    model.save(tmp_path / "model.safetensors", compact=compact)
    found = load_model(tmp_path / "model.safetensors")
    assert found.architecture == shape
    assert np.allclose(found.weights * np.float32(found.quantum), weights, atol=0.01)


def test_packed_weights_need_no_multiple_of_eight() -> None:
    weights = np.random.default_rng(2).integers(-9, 9, NTupleArchitecture(("01",), alphabet=10).table_size)
    whole = weights.astype(np.int16)
    assert len(whole) % 8
    assert np.array_equal(unpack(pack(whole), len(whole)), whole)
