"""`tilewright demo`: trains a player, compares it with the baselines, and writes a report."""

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.training.sessions import learned, tiny, train
from tilewright import evaluate, make_agent
from tilewright.cli.output import with_margin
from tilewright.training.run_folder import RunFolder


@pytest.fixture(autouse=True)
def _recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tiny(games=2000).save(Path("tiny.toml"))


def test_it_trains_a_player_and_compares_it_with_the_baselines(command: Command) -> None:
    said = command("demo", "--preset", "tiny.toml", "--games", "20", "--seed", "2", "--threads", "1")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("training by the recipe 'tiny.toml': 2,000 games\n")
    train(tiny(games=2000, seed=2), Path("straight"))
    assert learned(Path("runs/demo")) == learned(Path("straight"))
    table = said.out.partition(f"20 games of {tiny().game} each\n")[2].splitlines()
    assert [row.split()[0] for row in table[1:4]] == ["ntuple", "greedy", "random"]
    for row, agent in zip(
        table[1:],
        (make_agent("ntuple", model="runs/demo/model.safetensors"), make_agent("greedy"), make_agent("random")),
        strict=False,
    ):
        result = evaluate(agent, tiny().make_game(), games=20, seed=2)
        assert with_margin(result.score) in row
        assert f" {result.scores.max():,} " in row
        assert row.endswith(f" {max(result.reach):,}")


def test_its_report_has_the_curve_the_players_and_the_tiles(command: Command) -> None:
    command("demo", "--preset", "tiny.toml", "--games", "20")
    page = RunFolder(Path("runs/demo")).report_file.read_text()
    assert page.count("data:image/png;base64,") == 2
    assert re.findall(r"<tr><td>(\w+)", page) == ["ntuple", "greedy", "random"]
    assert not re.search(r"https?:|<script|<link|@import|url\(", page)


def test_a_folder_may_have_any_name(command: Command) -> None:
    said = command("demo", "--preset", "tiny.toml", "--games", "2", "--out", "a,b=c")
    assert (said.code, said.err) == (0, "")
    assert RunFolder(Path("a,b=c")).report_file.exists()


def test_a_second_demo_has_a_folder_of_its_own(command: Command) -> None:
    for _ in range(2):
        assert command("demo", "--preset", "tiny.toml", "--games", "1").code == 0
    assert sorted(folder.name for folder in Path("runs").iterdir()) == ["demo", "demo-2"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--games", "0"], "games=0: at least one game must be played"),
        (["--preset", "minuet"], "there is no preset or file 'minuet' (did you mean 'minute'?)"),
        (["--seed", "-1"], "seed = -1: must be from 0"),
    ],
)
def test_what_cannot_be_is_said_before_training(command: Command, arguments: list[str], message: str) -> None:
    said = command("demo", *arguments)
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert not Path("runs").exists()
