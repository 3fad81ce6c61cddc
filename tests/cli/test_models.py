"""`tilewright models`: the models of the package and of runs/, what they are made of, and packing."""

import dataclasses
import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Command
from tilewright import make_game
from tilewright.models import packaged_models
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


def test_models_of_the_package_and_of_runs_are_listed(command: Command) -> None:
    rows = [line.split() for line in command("models").out.splitlines()[1:]]
    sizes = {name: f"{file.stat().st_size / 1e6:,.1f}" for name, file in packaged_models().items()}
    assert rows[:2] == [
        ["package:2048", sizes["package:2048"], "2048", "193,215"],
        ["package:threes", sizes["package:threes"], "threes", "1,067,084"],
    ]
    assert (rows[2][0], rows[2][2:]) == (MODEL, ["2048", "12"])
    found = json.loads(command("models", "--json").out)
    assert [entry["model"] for entry in found] == ["package:2048", "package:threes", MODEL]
    assert [entry["game"] for entry in found] == ["2048", "threes", "2048"]


def test_a_mean_score_in_the_metadata_is_listed(command: Command) -> None:
    model = load_model(MODEL)
    dataclasses.replace(model, origin=model.origin | {"mean_score": "12345.6"}).save(Path(MODEL))
    lines = command("models").out.splitlines()
    assert lines[0].endswith("mean score")
    assert lines[3].split()[-1] == "12,346"


def test_a_damaged_file_does_not_hide_the_other_models(command: Command) -> None:
    Path("runs/second").mkdir()
    Path("runs/second/model.safetensors").write_bytes(b"nothing")
    said = command("models")
    assert said.code == 0
    assert MODEL in said.out
    assert "runs/second/model.safetensors" in said.out


def test_a_folder_or_a_fifo_in_the_place_of_a_model_does_not_hide_the_others(command: Command) -> None:
    Path("runs/second/model.safetensors").mkdir(parents=True)
    if os.name != "nt":
        Path("runs/third").mkdir()
        os.mkfifo("runs/third/model.safetensors")
    said = command("models")
    assert said.code == 0
    assert MODEL in said.out


def test_what_a_terminal_would_obey_is_not_printed(command: Command) -> None:
    origin = {"note\x1b[2J": "red \x1b[31m", "config": "a = 1\n\x1b]0;title\x07", "games": "nan"}
    dataclasses.replace(load_model(MODEL), origin=origin).save(MODEL)
    said = command("models", MODEL)
    assert said.code == 0
    assert "\x1b" not in said.out
    assert "a = 1\n" in said.out
    assert json.loads(command("models", "--json").out)[-1]["games"] is None


def test_without_a_run_it_says_how_to_train_one(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no models under runs/" not in command("models").out
    monkeypatch.chdir(tmp_path / "runs")
    said = command("models").out
    assert said.endswith("there are no models under runs/ yet; `tilewright train minute` trains one\n")
    assert "package:2048" in said


def test_a_model_of_the_package_is_described_by_its_name(command: Command) -> None:
    said = command("models", "package:threes")
    assert said.out.startswith("package:threes: n-tuple network of afterstate values for threes\n")
    about = json.loads(command("models", "package:2048", "--json").out)
    assert (about["game"], about["downgrade_above"], about["games"]) == ("2048", 8192, "193215")


def test_a_model_is_described_with_its_architecture_and_origin(command: Command) -> None:
    said = command("models", MODEL)
    assert said.out.startswith(f"{MODEL}: n-tuple network of afterstate values for 2048\n")
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


def test_the_number_of_weights_can_be_limited(command: Command) -> None:
    options = ("--pack", "few.safetensors", "--games", "5", "--max-weights", "20")
    assert command("models", MODEL, *options).code == 0
    assert 0 < np.count_nonzero(load_model("few.safetensors").weights) <= 20


def test_what_play_does_not_look_up_can_be_left_out(command: Command) -> None:
    command("models", MODEL, "--pack", "all.safetensors")
    assert command("models", MODEL, "--pack", "used.safetensors", "--games", "5").code == 0
    every, used = load_model("all.safetensors").weights, load_model("used.safetensors").weights
    assert 0 < np.count_nonzero(used) < np.count_nonzero(every) / 4
    assert (used[used != 0] == every[used != 0]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pack", "small.safetensors"], "--pack needs a MODEL"),
        ([MODEL, "--downgrade-above", "64"], "--downgrade-above goes with --pack"),
        (
            [MODEL, "--pack", "small.safetensors", "--downgrade-above", "100"],
            "downgrade_above=100: must be 0, or a tile from 8 on",
        ),
        ([MODEL, "--pack", "small.safetensors", "--quantum", "-1"], "--quantum -1: must be from 0 to 1,000,000"),
        ([MODEL, "--pack", "small.safetensors", "--quantum", "nan"], "--quantum nan: must be from 0 to 1,000,000"),
        (
            [MODEL, "--pack", "small.safetensors", "--max-weights", "10"],
            "--max-weights needs --games, the number of games in which look-ups are counted",
        ),
        (
            ["package:thres"],
            "there is no model 'package:thres' in the package (did you mean 'package:threes'?); "
            "there are: package:2048, package:threes",
        ),
        (["none.safetensors"], "none.safetensors: cannot be read: No such file or directory"),
    ],
)
def test_what_cannot_be_is_one_line(command: Command, arguments: list[str], message: str) -> None:
    said = command("models", *arguments)
    assert (said.code, said.out, said.err) == (2, "", f"tilewright: {message}\n")
    assert not Path("small.safetensors").exists()


def test_a_model_is_fetched_and_listed(command: Command) -> None:
    Path("release").mkdir()
    content = Path(MODEL).read_bytes()
    Path("release/large.safetensors").write_bytes(content)
    assert command("models", "--fetch", "release").code == 2  # there is no checksum
    Path("release/SHA256SUMS").write_text(f"{hashlib.sha256(content).hexdigest()}  large.safetensors\n")
    said = command("models", "--fetch", "release/large.safetensors")
    assert (said.code, said.out) == (0, "models/large.safetensors: 1.0 MB, its checksum is right\n")
    assert Path("models/large.safetensors").read_bytes() == content
    assert "models/large.safetensors" in command("models").out
    for arguments in ([MODEL, "--fetch", "release"], ["--sha256", "0" * 64], ["--out", "here"]):
        assert command("models", *arguments).code == 2
