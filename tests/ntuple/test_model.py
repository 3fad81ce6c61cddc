"""Model files: all that a network is comes back, and what is none is refused with the reason."""

import json
import tracemalloc
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors

from tests.training.sessions import tiny, train
from tilewright import LineGame, evaluate, make_agent, make_game
from tilewright._core import memory
from tilewright._core.files import read_tensors, write_tensors
from tilewright.agents.ntuple import NTupleAgent
from tilewright.errors import FileError, UsageError
from tilewright.games.twenty48 import Twenty48
from tilewright.ntuple.compact import pack
from tilewright.ntuple.model import VALUE_FUNCTIONS, Model, load_model
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.ntuple.stages import UNWRITTEN, UNWRITTEN_16

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


def test_a_run_folder_names_its_model(path: Path) -> None:
    (path.parent / "model.safetensors").write_bytes(path.read_bytes())
    with pytest.raises(FileError, match=rf"a folder; its model is .*{path.parent.name}/model\.safetensors$"):
        load_model(path.parent)


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
        (
            {"value_function": "guess"},
            "its description is damaged: value_function 'guess'; allowed: afterstate, state, action",
        ),
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


PROMOTING = NTupleArchitecture(("012", "456"), stages=("64", "128"), promote=True)


def promoting() -> Model:
    """A network of three stages, the later ones unwritten."""
    weights = np.zeros(PROMOTING.table_size, np.float32)
    weights[PROMOTING.stage_size :] = UNWRITTEN
    return Model(GAME, PROMOTING, "afterstate", weights)


@pytest.mark.parametrize("bad", [UNWRITTEN, np.nan, -np.inf, np.inf, -3e38, 1e31])
@pytest.mark.parametrize("place", [0, PROMOTING.stage_size - 1, PROMOTING.stage_size])
def test_weights_that_lead_out_of_the_table_are_refused(path: Path, bad: float, place: int) -> None:
    """A mark in the first stage, or NaN, which becomes the mark in 16 bits, once made kernels read anywhere."""
    promoting().save(path)
    weights = np.array(read_tensors(path)[0]["weights"])
    weights[place] = bad
    if bad == UNWRITTEN and place >= PROMOTING.stage_size:
        assert load_model(rewritten(path, {"weights": weights})).architecture == PROMOTING
        return
    with pytest.raises(FileError, match=rf"{path.name}: weight {place:,} is .*: no sound network"):
        load_model(rewritten(path, {"weights": weights}))


@pytest.mark.parametrize("compact", [False, True])
def test_marks_of_16_bits_are_refused_in_the_first_stage(path: Path, compact: bool) -> None:
    model = promoting().in_16_bits()
    weights = np.array(model.weights)
    weights[7] = UNWRITTEN_16
    tensors = pack(weights, PROMOTING.promoted_from) if compact else {"weights": weights}
    model.save(path, compact=compact)
    with pytest.raises(FileError, match="weight 7 is marked as unwritten, which only later stages can be"):
        load_model(rewritten(path, dict(tensors)))


def test_a_model_in_memory_is_checked_too() -> None:
    model = promoting()
    with pytest.raises(UsageError, match="weight 0 is marked as unwritten"):
        replace(model, weights=np.full_like(model.weights, UNWRITTEN))
    with pytest.raises(UsageError, match="100 weights of float32, but its architecture has 24,576"):
        replace(model, weights=model.weights[:100])
    with pytest.raises(UsageError, match="promote does not work with action values"):
        replace(model, value_function="action", weights=np.zeros(4 * PROMOTING.table_size, np.float32))


@pytest.mark.parametrize("quantum", ["nan", "inf", "0", "0.0", "-1", "1e-60", "1e300"])
def test_a_quantum_that_is_no_unit_is_refused(path: Path, quantum: str) -> None:
    model_of().save(path, compact=True)
    with pytest.raises(FileError, match=rf"{path.name}: quantum .*: must be from"):
        load_model(rewritten(path, changes={"quantum": quantum}))


def test_weights_of_32_bits_have_no_quantum(path: Path) -> None:
    with pytest.raises(FileError, match=r"quantum 2.0: must be 1 for weights of 32 bits"):
        load_model(rewritten(path, changes={"quantum": "2.0"}))


def test_the_smallest_weights_can_be_packed(path: Path) -> None:
    replace(model_of(), weights=np.full(SHAPE.table_size, 1e-40, np.float32)).save(path, compact=True)
    assert load_model(path).quantum > 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tuples": "012"}, "tuples '012': must be a list of texts"),
        ({"tuples": [["0", "1", "2"], "456"]}, "must be a list of texts"),
        ({"tuples": None}, "tuples None: must be a list of texts"),
        ({"tuples": ["0"] * 1025}, "1,025 tuples are too many; the most are 1,024"),
        ({"tuples": []}, "a network needs at least one tuple"),
        ({"symmetric": "false"}, "symmetric 'false': must be true or false"),
        ({"symmetric": None}, "symmetric None: must be true or false"),
        ({"alphabet": 15.5}, "alphabet 15.5: must be a whole number from 8 to 16"),
        ({"alphabet": 7}, "alphabet 7: must be a whole number from 8 to 16"),
        ({"alphabet": 17}, "alphabet 17: must be a whole number from 8 to 16"),
        ({"alphabet": 10}, "weights of float32, but its architecture has"),
        ({"alphabet": True}, "alphabet True: must be a whole number"),
        ({"features": {"hint": 1}}, "must be a list of texts"),
        ({"by_hint": 1}, "by_hint 1: must be true or false"),
        ({"by_hint": True}, "by_hint: 2048 has no hints"),
        ({"stages": "64"}, "stages '64': must be a list of texts"),
        ({"stages": ["64"] * 64}, "65 stages are too many; the most are 64"),
        ({"stages": ["+".join(["2"] * 100_000)]}, "100,000 tiles are more than the board has cells"),
        ({"stages": ["9" * 5000]}, "is not a tile of 2048"),
        ({"stages": ["64"], "promote": []}, "promote \\[\\]: must be true or false"),
        ({"tuples": ["0123456", "123456a"] * 8}, "a network of 4,294,967,296 weights is too large"),
    ],
)
def test_an_architecture_of_wrong_types_or_sizes_is_refused(path: Path, changes: dict[str, Any], message: str) -> None:
    entries = json.loads(read_tensors(path)[1]["architecture"]) | changes
    with pytest.raises(FileError, match=f"{path.name}: .*{message}"):
        load_model(rewritten(path, changes={"architecture": json.dumps(entries)}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"tuples": ["012"], "tuples": ["345"]}', "the key 'tuples' occurs twice"),
        ("[" * 100_000, "nested too deeply"),
        ("null", "its architecture is not a JSON object"),
        ("", "Expecting value"),
    ],
)
def test_an_architecture_that_is_no_json_object_is_refused(path: Path, text: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        load_model(rewritten(path, changes={"architecture": text}))


@pytest.mark.parametrize("part", ["visited", "upper", "lower"])
def test_a_part_that_unpacks_to_more_than_it_may_is_left_before_it_takes_memory(path: Path, part: str) -> None:
    model_of().save(path, compact=True)
    tensors = {name: np.array(tensor) for name, tensor in read_tensors(path)[0].items()}
    tensors[part] = np.frombuffer(zlib.compress(bytes(200_000_000), 1), np.uint8)
    rewritten(path, tensors)
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match="they are of a network of another size"):
            load_model(path)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_network_that_does_not_fit_into_memory_is_refused_before_it_is_taken(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small file may declare gigabytes."""
    large = {"tuples": ["0124568", "124568a"], "symmetric": True, "alphabet": 16, "features": []}
    model_of().save(path, compact=True)
    monkeypatch.setattr(memory, "available_memory", lambda: 10**9)
    with pytest.raises(
        FileError, match=r"a network of 536,870,912 weights takes 1.1 GB of memory; 1.0 GB are available"
    ):
        load_model(rewritten(path, changes={"architecture": json.dumps(large)}))


def test_a_model_plays_only_its_game() -> None:
    model = model_of()
    model.check_plays(make_game("2048:rows=3,columns=3,four=0.9"))
    for other in ("2048", "2048:rows=3", "threes"):
        with pytest.raises(UsageError, match=r"was trained for 2048:rows=3,columns=3,four=0.2 and cannot play"):
            model.check_plays(make_game(other))


def test_a_game_of_the_same_name_is_not_the_same_game() -> None:
    class Sixes(LineGame):
        """Another rule under the name of 2048."""

        name = "2048"
        tile_values = (6, 12, 24, 48)

        def slide_line(self, line: list[int]) -> tuple[list[int], int]:
            return line, 0

        def spawns(self) -> dict[int, float]:
            return {6: 1.0}

    class MoreFours(Twenty48):
        """A variant by another default."""

        four = 0.5

    model = model_of()
    model.check_plays(MoreFours(rows=3, columns=3))
    with pytest.raises(UsageError, match=r"was trained for 2048:rows=3,columns=3,four=0.2 and cannot play"):
        model.check_plays(Sixes(rows=3, columns=3))


def test_a_model_imports_nothing_that_it_names(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hostile.py").write_text("raise SystemExit('the model ran this')")
    monkeypatch.syspath_prepend(tmp_path)
    tensors, metadata = read_tensors(path)
    tensors = {name: np.array(tensor) for name, tensor in tensors.items()}
    write_tensors(path, tensors, {**metadata, "game": "hostile:Game"})
    with pytest.raises(FileError, match="the module hostile is not loaded here"):
        load_model(path)
