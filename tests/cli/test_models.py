"""`tilewright models`: what is under runs/, what a model is made of, and models packed for shipping."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Command
from tilewright import make_game
from tilewright.ntuple.model import Model, load_model
from tilewright.ntuple.patterns import NTupleArchitecture

MODEL = "runs/first/model.safetensors"


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shape = NTupleArchitecture(("0123", "4567"), stages=("512",))
    weights = np.random.default_rng(1).normal(0, 300, shape.table_size).astype(np.float32)
    origin = {"config": 'network = "2x4"\n', "games": "12"}
    Model(make_game("2048"), shape, "afterstate", weights, origin=origin).save(Path(MODEL))


def test_models_under_runs_are_listed(command: Command) -> None:
    assert MODEL in command("models").out
    assert json.loads(command("models", "--json").out) == [MODEL]


def test_without_any_it_says_how_to_get_one(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path / "runs")
    assert command("models").out == "there are no models under runs/ yet; tilewright train minute makes one\n"


def test_one_is_told_with_its_shape_and_origin(command: Command) -> None:
    said = command("models", MODEL)
    assert said.out.startswith(f"{MODEL}: afterstate values for 2048\n")
    assert "2 tuples, symmetric, stages at 512: 262,144 weights" in said.out
    assert said.out.endswith('network = "2x4"\n')
    about = json.loads(command("models", MODEL, "--json").out)
    assert (about["tuples"], about["games"]) == (["0123", "4567"], "12")


def test_a_packed_model_is_small_and_near_the_whole_one(command: Command) -> None:
    said = command("models", MODEL, "--pack", "small.safetensors", "--quantum", "4")
    assert said.code == 0
    assert said.out.startswith("small.safetensors: 0.")
    small, whole = load_model("small.safetensors"), load_model(MODEL)
    assert small.quantum == 4
    assert np.abs(small.weights * 4.0 - whole.weights).max() <= 2.01
    assert Path("small.safetensors").stat().st_size < Path(MODEL).stat().st_size / 2


def test_what_play_does_not_look_up_can_be_left_out(command: Command) -> None:
    command("models", MODEL, "--pack", "all.safetensors")
    assert command("models", MODEL, "--pack", "used.safetensors", "--games", "5").code == 0
    every, used = load_model("all.safetensors").weights, load_model("used.safetensors").weights
    assert 0 < np.count_nonzero(used) < np.count_nonzero(every) / 4
    assert (used[used != 0] == every[used != 0]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pack", "small.safetensors"], "--pack needs the PATH of a model"),
        ([MODEL, "--downgrade-above", "64"], "--downgrade-above goes with --pack"),
        (
            [MODEL, "--pack", "small.safetensors", "--downgrade-above", "100"],
            "downgrade_above=100: must be 0, or a tile from 8 on",
        ),
        ([MODEL, "--pack", "small.safetensors", "--quantum", "-1"], "--quantum -1: must be from 0 to 1,000,000"),
        ([MODEL, "--pack", "small.safetensors", "--quantum", "nan"], "--quantum nan: must be from 0 to 1,000,000"),
        (["none.safetensors"], "none.safetensors: cannot be read: No such file or directory"),
    ],
)
def test_what_cannot_be_is_one_line(command: Command, arguments: list[str], message: str) -> None:
    said = command("models", *arguments)
    assert (said.code, said.out, said.err) == (2, "", f"tilewright: {message}\n")
    assert not Path("small.safetensors").exists()
