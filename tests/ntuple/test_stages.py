"""Stages against a naive count of tiles, and which weights they read and write."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.games.variants import random_board
from tests.ntuple import naive
from tests.ntuple.reading import read
from tilewright import SpecError, make_game
from tilewright._core.jit import Word, kernel
from tilewright.games.board import Board
from tilewright.ntuple.model import Model, load_model
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.ntuple.stages import UNWRITTEN, UNWRITTEN_16, Stages, Weights, parse_stages, written_index
from tilewright.training.config import TrainingConfig
from tilewright.training.trainer import Trainer

STAGES = {
    "2048": ("8192", "16384", "16384+8192", "16384+8192+4096"),
    "threes": ("1536", "3072", "3072+1536"),
}
TUPLES = ("012", "456")


def naive_stage(board: Board, conditions: tuple[str, ...]) -> int:
    """How many conditions hold, one after the other: the tiles are there, or larger ones to split into them."""
    for number, condition in enumerate(conditions):
        tiles = sorted(tile for row in board.tiles for tile in row)
        for needed in sorted(map(int, condition.split("+")), reverse=True):
            larger = [tile for tile in tiles if tile >= needed]
            if not larger:
                return number
            tile = larger[0]
            tiles.remove(tile)
            while tile > needed:
                tile //= 2
                tiles.append(tile)
            tiles.sort()
    return len(conditions)


@pytest.mark.parametrize("spec", STAGES)
def test_a_board_is_read_from_the_weights_of_its_stage(spec: str) -> None:
    game, rng = make_game(spec), random.Random(1)
    plain = NTupleArchitecture(TUPLES, features=("empty_cells",))
    shape = NTupleArchitecture(TUPLES, features=("empty_cells",), stages=STAGES[spec])
    weights = np.random.default_rng(1).random(shape.table_size, np.float32)
    seen = set()
    for _ in range(400):
        board = random_board(game, rng)
        if max(max(row) for row in board.tiles) > game.value(15):
            continue  # read as another, downgraded board
        stage = naive_stage(board, STAGES[spec])
        seen.add(stage)
        shift = stage * plain.table_size
        indices, value = read(shape, weights, board)
        assert indices == [index + shift for index in naive.indices(plain, board)]
        assert value == pytest.approx(naive.value(plain, weights[shift : shift + plain.table_size], board), rel=1e-5)
    assert seen == set(range(1 + len(STAGES[spec])))


@pytest.mark.parametrize(
    ("tiles", "stage"),
    [
        ("8192 4096", 0),
        ("8192 8192", 0),
        ("16384", 1),
        ("16384 4096", 1),
        ("16384 8192", 2),
        ("32768", 2),
        ("32768 4096", 2),
        ("8192 8192 8192", 0),
    ],
)
def test_a_stage_is_not_left_when_its_tiles_merge(tiles: str, stage: int) -> None:
    game, shape = make_game("2048"), NTupleArchitecture(("0",), symmetric=False, stages=("16384", "16384+8192"))
    board = game.parse(" ".join([*tiles.split(), *["2"] * (16 - len(tiles.split()))]))
    indices, _ = read(shape, np.zeros(shape.table_size, np.float32), board)
    assert indices[0] // shape.stage_size == stage


@pytest.mark.parametrize(("tiles", "stage"), [("64 64 64", 0), ("128", 0), ("128 64", 1), ("256", 1)])
def test_all_tiles_of_a_stage_are_needed_where_none_comes_before_it(tiles: str, stage: int) -> None:
    game, shape = make_game("2048"), NTupleArchitecture(("0",), symmetric=False, stages=("64+128",))
    board = game.parse(" ".join([*tiles.split(), *["2"] * (16 - len(tiles.split()))]))
    assert naive_stage(board, shape.stages) == stage
    indices, _ = read(shape, np.zeros(shape.table_size, np.float32), board)
    assert indices[0] // shape.stage_size == stage


def test_an_unwritten_weight_is_read_from_the_stage_before_until_it_is_written() -> None:
    game = make_game("2048")
    shape = NTupleArchitecture(("0", "1"), symmetric=False, stages=("64", "128"), promote=True)
    weights = np.full(shape.table_size, UNWRITTEN, np.float32)
    weights[: shape.stage_size] = np.arange(shape.stage_size)
    board = game.parse("128 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    first, second = (code + 16 * i for i, code in enumerate((7, 1)))
    size = shape.stage_size
    assert read(shape, weights, board) == ([first + 2 * size, second + 2 * size], first + second)
    weights[first + size] = 100
    assert read(shape, weights, board)[1] == 100 + second
    weights[first + 2 * size] = 1000
    assert read(shape, weights, board)[1] == 1000 + second
    weights[second + 2 * size] = 0  # written, though it is zero
    assert read(shape, weights, board)[1] == 1000
    in_16_bits = np.where(weights == UNWRITTEN, UNWRITTEN_16, weights).astype(np.int16)
    assert read(shape, in_16_bits, board)[1] == 1000


@pytest.mark.parametrize("promote", [False, True])
@pytest.mark.parametrize("step_size", ["fixed", "tc"])
def test_learning_writes_the_weights_of_the_stage_a_board_is_in(step_size: str, promote: bool) -> None:
    """A game that never reaches the second stage leaves its weights alone; one that does changes both."""
    kept, changed = (
        Trainer(
            TrainingConfig(
                game="2048:rows=3,columns=3",
                network="",
                tuples=("0124", "456"),
                stages=(stage,),
                promote=promote,
                step_size=step_size,
                alpha=0.1,
                games=50,
            )
        )
        for stage in ("1024", "32")
    )
    for trainer in (kept, changed):
        before = trainer.weights.copy()
        trainer.learn(0, 50)
        size = trainer.architecture.stage_size
        assert (trainer.weights[:size] != before[:size]).any()
        assert (trainer.weights[size:] != before[size:]).any() == (trainer is changed)


def test_promoted_weights_begin_with_what_the_stage_before_knows() -> None:
    """Where errors are tiny, the first value a promoted weight takes is the one it had in the stage before."""
    config = TrainingConfig(
        game="2048:rows=3,columns=3",
        network="",
        tuples=("0124", "456"),
        stages=("32",),
        promote=True,
        step_size="fixed",
        alpha=1e-9,
        optimistic_init=100,
        games=20,
    )
    trainer = Trainer(config)
    trainer.learn(0, 20)
    later = trainer.weights[trainer.architecture.stage_size :]
    written = later > UNWRITTEN
    assert written.any()
    assert not written.all()
    np.testing.assert_allclose(later[written], 100 / trainer.lookups, rtol=1e-4)


@pytest.mark.parametrize("compact", [False, True])
def test_a_model_with_stages_reads_back_and_plays_the_same(compact: bool, tmp_path: Path) -> None:
    game = make_game("2048")
    shape = NTupleArchitecture(TUPLES, stages=("64", "256"), promote=True)
    weights = np.random.default_rng(3).integers(-100, 100, shape.table_size).astype(np.float32)
    hidden = np.random.default_rng(4).random(shape.table_size) < 0.5
    hidden[: shape.stage_size] = False
    weights[hidden] = UNWRITTEN
    model, path = Model(game, shape, "afterstate", weights), tmp_path / "model.safetensors"
    model.save(path, compact=compact)
    found = load_model(path)
    assert found.architecture == shape
    rng = random.Random(5)
    for _ in range(50):
        board = random_board(game, rng)
        expected = read(shape, weights, board)[1]
        assert read(shape, found.weights, board, found.quantum)[1] == pytest.approx(expected, abs=1)


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        (("16384", "8192"), "each must come after the one before it"),
        (("16384", "16384"), "each must come after the one before it"),
        (("1000",), "stage '1000': '1000' is not a tile of 2048"),
        (("16384+",), "stage '16384\\+': '' is not a tile of 2048"),
        (("0",), "stage '0': '0' is not a tile of 2048"),
        (("many",), "stage 'many': 'many' is not a tile of 2048"),
        (("65536",), "the largest tile with weights is 32768"),
    ],
)
def test_impossible_stages_are_refused(stages: tuple[str, ...], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        NTupleArchitecture(TUPLES, stages=stages).check_fits(make_game("2048"))


def test_promotion_needs_stages() -> None:
    with pytest.raises(SpecError, match="promote goes with stages"):
        NTupleArchitecture(TUPLES, promote=True)


@kernel
def find_written(stages: Stages, weights: Weights, index: Word, stage_size: Word) -> Word:
    return written_index(stages, weights, index, stage_size)


@pytest.mark.parametrize(("dtype", "mark"), [(np.float32, UNWRITTEN), (np.float32, -np.inf), (np.int16, UNWRITTEN_16)])
def test_no_weight_is_read_before_the_first_stage(dtype: type, mark: float) -> None:
    """Learning that diverges can leave a mark there, in the middle of a game; what lies before is not its own."""
    memory: NDArray[Any] = np.full(9, 7, dtype)
    weights = memory[3:]  # two stages of three weights
    weights[:] = mark
    weights[1] = 5
    stages = parse_stages(("64",), make_game("2048"), promote=True)
    found = [find_written(stages, weights, np.uint64(index), np.uint64(3)) for index in range(6)]
    assert found == [0, 1, 2, 0, 1, 2]
