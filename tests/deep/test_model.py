"""Model files: read back as they were written, and refused with the reason."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.deep.small import make_small_network
from tilewright import make_game
from tilewright._core.files import read_tensors, write_tensors
from tilewright.deep.agent import DqnAgent
from tilewright.deep.model import FORMAT, DeepModel, load_deep_model
from tilewright.errors import DivergedError, FileError


@pytest.mark.parametrize("options", [{}, {"dueling": False}, {"algorithm": "afterstate"}, {"encoding": "grid"}])
def test_a_model_is_read_back_as_it_was_written(options: dict[str, str], tmp_path: Path) -> None:
    model = DeepModel(make_small_network(game="threes:columns=3", **options), 100.0, {"seed": "7", "games": "12"})
    model.save(str(tmp_path / "model.safetensors"))
    found = load_deep_model(str(tmp_path / "model.safetensors"))
    assert (found.config, found.reward_scale, found.origin) == (model.config, 100.0, {"seed": "7", "games": "12"})
    grids = np.random.default_rng(0).integers(4, size=(6, 5, 3), dtype=np.uint8)
    assert np.array_equal(found.network.predict(grids), model.network.predict(grids))
    assert found.policy.reward_scale == 100.0
    with pytest.raises(FileError, match=r"a folder; its model is .*model\.safetensors$"):
        load_deep_model(tmp_path)


def test_a_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    DeepModel(make_small_network()).save(path)
    assert load_deep_model(path) is load_deep_model(path)
    first = load_deep_model(path)
    DeepModel(make_small_network("lines")).save(path)
    changed = path.stat()
    os.utime(path, ns=(changed.st_atime_ns, changed.st_mtime_ns + 1))  # clocks of file systems can be coarse
    assert load_deep_model(path) is not first
    assert load_deep_model(path).config.architecture == "lines"


def test_the_metadata_uses_the_words_of_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    DeepModel(make_small_network(), 10.0).save(path)
    metadata = read_tensors(path)[1]
    del metadata["sha256"]
    assert metadata == {
        "format": FORMAT,
        "game": "2048",
        "algorithm": "dqn",
        "architecture": "small",
        "encoding": "onehot",
        "dueling": "true",
        "reward_scale": "10.0",
        "lookahead": "0",
    }


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"architecture": "lines"}, "the weights do not fit lines"),
        ({"architecture": "cnn_99"}, "its metadata is damaged: architecture 'cnn_99'"),
        ({"algorithm": "tables"}, "its metadata is damaged: algorithm 'tables'; allowed: dqn, afterstate"),
        ({"encoding": "planes"}, "its metadata is damaged: encoding 'planes'"),
        ({"game": "chess"}, "its metadata is damaged: there is no game 'chess'"),
        ({"reward_scale": "much"}, "its metadata is damaged: could not convert"),
        ({"lookahead": "9"}, "its metadata is damaged: lookahead '9'; allowed: 0, 1, 2"),
        ({"lookahead": "1"}, "the weights do not fit small"),
        ({"reward_scale": "nan"}, "its metadata is damaged: reward_scale nan: must be from 1e-06 to"),
        ({"reward_scale": "0"}, "its metadata is damaged: reward_scale 0.0: must be from 1e-06 to"),
        ({"game": "2048:rows=2", "architecture": "lines"}, "its metadata is damaged: a board of 2x4 cells"),
        ({"format": "tilewright-deep-1"}, "not a deep model of this version: its format is tilewright-deep-1, not"),
    ],
)
def test_a_damaged_file_is_refused(changes: dict[str, str], complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    DeepModel(make_small_network()).save(path)
    tensors, metadata = read_tensors(path)
    del metadata["sha256"]
    wrong = tmp_path / "wrong.safetensors"
    write_tensors(wrong, tensors, metadata | changes)
    with pytest.raises(FileError, match=complaint):
        load_deep_model(wrong)
    del metadata["encoding"]
    write_tensors(wrong, tensors, metadata)
    with pytest.raises(FileError, match="its metadata is damaged: 'encoding' is missing"):
        load_deep_model(wrong)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_that_are_no_finite_numbers_are_refused(bad: float, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    DeepModel(make_small_network()).save(path)
    tensors, metadata = read_tensors(path)
    changed = {name: np.array(tensor) for name, tensor in tensors.items()}
    changed["state_head.0.bias"][3] = bad
    write_tensors(path, changed, {key: text for key, text in metadata.items() if key != "sha256"})
    with pytest.raises(FileError, match=r"model.safetensors: the weights state_head.0.bias are not finite numbers"):
        load_deep_model(path)


def test_values_that_overflow_are_told(tmp_path: Path) -> None:
    """They once looked like illegal moves, and the game seemed to be over."""
    network = make_small_network()
    with torch.no_grad():
        for weight in network.parameters():
            weight.fill_(1e30)
    agent = DqnAgent(DeepModel(network))
    with pytest.raises(DivergedError, match="the values of the network are not finite numbers"):
        agent.values(make_game("2048").start())
