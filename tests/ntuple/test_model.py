"""Model files: all that a network is comes back, and what is none is refused with the reason."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors

from tests.training.sessions import tiny, train
from tilewright import evaluate, make_agent, make_game
from tilewright._core.files import read_tensors, write_tensors
from tilewright.agents.ntuple import NTupleAgent
from tilewright.errors import FileError, UsageError
from tilewright.ntuple.model import VALUE_FUNCTIONS, Model, load_model
from tilewright.ntuple.patterns import NTupleArchitecture

GAME = make_game("2048:rows=3,columns=3,four=0.2")
SHAPE = NTupleArchitecture(("012", "456"))


def model_of(value_function: str = "afterstate", shape: NTupleArchitecture = SHAPE, seed: int = 1) -> Model:
    """Random weights, most of them never visited."""
    random = np.random.default_rng(seed)
    size = VALUE_FUNCTIONS[value_function] * shape.table_size
    weights = (random.normal(0, 50, size) * (random.random(size) < 0.2)).astype(np.float32)
    return Model(GAME, shape, value_function, weights, origin={"seed": "3", "note": "ä = \u2261"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    model_of().save(path)
    return path


@pytest.mark.parametrize("value_function", VALUE_FUNCTIONS)
def test_a_model_comes_back_as_it_was(path: Path, value_function: str) -> None:
    shape = NTupleArchitecture(("0124", "59a"), symmetric=False, alphabet=15, features=("large_tiles", "empty_cells"))
    model = replace(model_of(value_function, shape), downgrade_above=1024)
    model.save(path)
    found = load_model(path)
    assert (found.game, found.architecture, found.value_function, found.quantum, found.downgrade_above) == (
        GAME,
        shape,
        value_function,
        1.0,
        1024,
    )
    assert found.origin == model.origin
    assert found.weights.tobytes() == model.weights.tobytes()
    assert found.weights.dtype == np.float32


def test_weights_are_mapped_from_the_file_not_read(path: Path) -> None:
    weights = load_model(path).weights
    assert isinstance(weights, np.memmap)
    assert not weights.flags.writeable


@pytest.mark.parametrize("value_function", VALUE_FUNCTIONS)
def test_a_compact_model_is_the_same_within_half_a_unit(path: Path, value_function: str) -> None:
    model = model_of(value_function)
    model.save(path, compact=True)
    found = load_model(path)
    assert (found.game, found.architecture, found.value_function, found.origin) == (
        GAME,
        SHAPE,
        value_function,
        model.origin,
    )
    assert found.weights.dtype == np.int16
    assert found.quantum == pytest.approx(float(np.abs(model.weights).max()) / 32_767)
    error = np.abs(found.weights * found.quantum - model.weights)
    assert error.max() <= 0.501 * found.quantum
    assert np.array_equal(found.weights == 0, np.abs(model.weights) <= found.quantum / 2)


def test_a_compact_model_is_small(path: Path, tmp_path: Path) -> None:
    small = tmp_path / "small.safetensors"
    model_of().save(small, compact=True)
    assert small.stat().st_size < path.stat().st_size / 5


def test_a_compact_model_compacted_again_is_the_same(path: Path) -> None:
    model_of().save(path, compact=True)
    once, before = load_model(path), path.read_bytes()
    once.save(path, compact=True)
    assert path.read_bytes() == before


def test_a_coarser_unit_makes_a_smaller_file_that_is_as_near_as_it_says(path: Path) -> None:
    model = model_of()
    model.save(path, compact=True)
    before, finest = path.stat().st_size, load_model(path).quantum
    model.save(path, compact=True, quantum=100 * finest)
    found = load_model(path)
    assert found.quantum == pytest.approx(100 * finest)
    assert path.stat().st_size < 0.8 * before
    assert np.abs(found.weights * found.quantum - model.weights).max() <= 0.501 * found.quantum
    with pytest.raises(UsageError, match=r"weights are multiples of .* already; pack the model they came from"):
        found.save(path, compact=True, quantum=200 * finest)


def test_a_model_of_16_bits_comes_back_without_compression_too(path: Path) -> None:
    model = model_of().in_16_bits()
    model.save(path)
    found = load_model(path)
    assert (found.quantum, found.weights.dtype) == (model.quantum, np.dtype(np.int16))
    assert found.weights.tobytes() == model.weights.tobytes()


def test_a_network_that_learned_nothing_is_compact_too(path: Path) -> None:
    Model(GAME, SHAPE, "state", np.zeros(SHAPE.table_size, np.float32)).save(path, compact=True)
    found = load_model(path)
    assert not found.weights.any()
    assert found.quantum > 0


def test_every_form_plays_the_same_values(path: Path) -> None:
    model = model_of()
    model.save(path, compact=True)
    board = GAME.parse("2 4 0 / 2 8 16 / 4 0 2")
    exact = NTupleAgent(model).values(board)
    found = NTupleAgent(load_model(path)).values(board)
    reach = load_model(path).quantum * SHAPE.lookups(GAME)
    assert exact.keys() == found.keys() == set(GAME.legal(board))
    for move, value in exact.items():
        assert found[move] == pytest.approx(value, abs=reach)
    assert len({round(value) for value in exact.values()}) > 1


def test_the_agent_of_a_path_plays_a_new_model_written_over_the_old(path: Path) -> None:
    agent = make_agent("ntuple", model=str(path))
    board = GAME.parse("2 4 0 / 2 8 16 / 4 0 2")
    before = agent.values(board)
    model_of(seed=2).save(path)
    assert agent.values(board) != before


def test_a_trained_model_says_where_it_comes_from(tmp_path: Path) -> None:
    session = train(tiny(games=40), tmp_path)
    with safetensors.safe_open(session.folder.model_file, "np") as file:
        metadata = file.metadata()
    assert metadata["game"] == "2048:rows=3,columns=3,win_tile=64"
    assert json.loads(metadata["architecture"])["tuples"] == ["012", "456"]
    assert metadata["config"] == session.config.to_toml()
    assert (metadata["seed"], metadata["games"], metadata["threads"]) == ("5", "40", "1")
    assert metadata["revision"]
    found = load_model(session.folder.model_file)
    assert found.weights.tobytes() == session.trainer.weights.tobytes()
    game = session.trainer.game
    ours, theirs = (evaluate(NTupleAgent(model), game, games=20) for model in (session.trainer.model({}), found))
    assert np.array_equal(ours.scores, theirs.scores)


def rewritten(
    path: Path, tensors: dict[str, Any] | None = None, changes: Mapping[str, str | None] | None = None
) -> Path:
    """The file with other arrays, or some metadata changed or (None) left out; its sum is right."""
    before, metadata = read_tensors(path)
    kept = {
        key: value for key, value in {**metadata, **(changes or {})}.items() if value is not None and key != "sha256"
    }
    write_tensors(path, before if tensors is None else tensors, kept)
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"format": "tilewright-ntuple-4"},
            "not a model of this version: tilewright-ntuple-4, not tilewright-ntuple-3",
        ),
        ({"format": "tilewright-checkpoint-1"}, "not a model of this version: tilewright-checkpoint-1"),
        ({"format": None}, "not a model of this version: no format at all"),
        ({"game": None}, "its description is damaged"),
        ({"game": "chess"}, "there is no game 'chess'"),
        ({"game": "2048:rows=3,columns=2"}, "is not on a 3x2 board"),
        ({"architecture": None}, "its description is damaged"),
        ({"architecture": "012"}, "its description is damaged"),
        ({"architecture": "[]"}, "its description is damaged"),
        (
            {"architecture": '{"tuples": [12], "symmetric": true, "alphabet": 16, "features": []}'},
            "its description is damaged",
        ),
        ({"architecture": '{"tuples": ["0"], "symmetric": true, "alphabet": Infinity, "features": []}'}, "damaged"),
        ({"architecture": '{"tuples": ["0x"], "symmetric": true, "alphabet": 16, "features": []}'}, "tuple '0x'"),
        (
            {"architecture": '{"tuples": ["012"], "symmetric": true, "alphabet": 16, "features": []}'},
            "its architecture has 4,096",
        ),
        ({"value_function": None}, "its description is damaged"),
        ({"value_function": "guess"}, "its description is damaged: 'guess'"),
        ({"value_function": "action"}, "8,192 weights of float32, but its architecture has 32,768"),
        ({"quantum": "wide"}, "its description is damaged"),
        ({"compact": "true"}, "the packed weights do not unpack"),
        ({"compact": None}, "its description is damaged"),
        ({"downgrade_above": "much"}, "its description is damaged"),
        ({"downgrade_above": "100"}, "downgrade_above=100: must be 0, or a tile from 8 on"),
    ],
)
def test_a_damaged_description_is_refused(path: Path, changes: dict[str, str | None], message: str) -> None:
    with pytest.raises(FileError, match=path.name) as error:
        load_model(rewritten(path, changes=changes))
    assert message in str(error.value)


@pytest.mark.parametrize(
    "tensors",
    [
        {},
        {"weights": np.zeros(8191, np.float32)},
        {"weights": np.zeros((2, 4096), np.float32)},
        {"weights": np.zeros(8192, np.float64)},
        {"other": np.zeros(8192, np.float32)},
    ],
    ids=["none", "too few", "another shape", "another type", "another name"],
)
def test_weights_that_do_not_fit_are_refused(path: Path, tensors: dict[str, Any]) -> None:
    with pytest.raises(FileError, match=path.name):
        load_model(rewritten(path, tensors))


@pytest.mark.parametrize("part", ["visited", "upper", "lower"])
@pytest.mark.parametrize("damage", ["missing", "empty_cells", "noise", "of another model"])
def test_packed_weights_that_do_not_fit_are_refused(path: Path, part: str, damage: str) -> None:
    model_of(seed=2).save(path, compact=True)
    others = {name: np.array(tensor) for name, tensor in read_tensors(path)[0].items()}
    model_of().save(path, compact=True)
    tensors = {name: np.array(tensor) for name, tensor in read_tensors(path)[0].items()}
    if damage == "missing":
        del tensors[part]
    else:
        wrong = {"empty_cells": np.zeros(0, np.uint8), "noise": np.arange(50, dtype=np.uint8)}
        tensors[part] = wrong.get(damage, others[part])
    with pytest.raises(FileError, match="the packed weights do not unpack"):
        load_model(rewritten(path, tensors))


def test_a_model_plays_only_its_game() -> None:
    model = model_of()
    model.check_plays(make_game("2048:rows=3,columns=3,four=0.9"))
    for other in ("2048", "2048:rows=3", "threes"):
        with pytest.raises(UsageError, match=r"was trained for 2048:rows=3,columns=3,four=0.2 and cannot play"):
            model.check_plays(make_game(other))
