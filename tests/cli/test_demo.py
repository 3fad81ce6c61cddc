"""`tilewright demo`: trains a player, compares it with the baselines, and writes a report."""

import re
import signal
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.process import start_tilewright
from tests.training.sessions import learned, tiny, train
from tilewright import evaluate, make_agent
from tilewright.cli.output import with_margin
from tilewright.ntuple.model import load_model
from tilewright.training.run_folder import RunFolder


@pytest.fixture(autouse=True)
def _config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tiny(games=2010).save(Path("tiny.toml"))


def test_it_trains_a_player_and_compares_it_with_the_baselines(command: Command) -> None:
    said = command("demo", "--preset", "tiny.toml", "--games", "20", "--seed", "2", "--threads", "1")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("training tiny.toml: 2,010 games\n")
    train(tiny(games=2010, seed=2), Path("straight"))
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


def test_report_model_and_curve_state_the_same_totals(command: Command) -> None:
    said = command("demo", "--preset", "tiny.toml", "--games", "20")
    folder = RunFolder(Path("runs/demo"))
    origin, last = load_model(folder.model_file).origin, folder.curve_points()[-1]
    totals = [(last.games, last.moves), (int(origin["games"]), int(origin["moves"]))]
    for text in (folder.report_file.read_text(), said.out):
        found = re.search(r"([\d,]+) games(?:,| and) ([\d,]+) moves", text)
        assert found is not None
        totals.append((int(found[1].replace(",", "")), int(found[2].replace(",", ""))))
    assert totals == [totals[0]] * 4
    assert last.games == 2010


def test_its_report_has_the_curve_the_players_and_the_tiles(command: Command) -> None:
    said = command("demo", "--preset", "tiny.toml", "--games", "20")
    page = RunFolder(Path("runs/demo")).report_file.read_text()
    assert re.findall(r"<h2>(.*?)</h2>", page) == [
        "Learning curve",
        "Players",
        "Largest tiles of ntuple:model=runs/demo/model.safetensors",
        "Configuration",
    ]
    for name in ("ntuple", "greedy", "random"):
        [row] = [line.split() for line in said.out.splitlines() if line.startswith(name)]
        assert re.search(
            rf"<tr><td>{name}[^<]*</td><td>20</td><td>{row[1]}</td><td>{row[3]}</td><td>{row[4]} %</td>", page
        )
    assert page.count("data:image/png;base64,") == 2
    assert re.findall(r"<tr><td>(\w+)", page) == ["ntuple", "greedy", "random"]
    assert not re.search(r"https?:|<script|<link|@import|url\(", page)


def test_ctrl_c_saves_and_says_how_to_go_on(command: Command) -> None:
    tiny(games=10**9).save(Path("endless.toml"))
    process = start_tilewright("demo", "--preset", "endless.toml", "--threads", "1")
    folder = RunFolder(Path("runs/demo"))
    while not folder.curve_points():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 0, err
    last = folder.curve_points()[-1]
    assert load_model(folder.model_file).origin["games"] == str(last.games)
    assert f"\n{last.games:,} games, {last.moves:,} moves in " in out
    assert out.endswith("report runs/demo/report.html\ncontinue: tilewright train --resume runs/demo\n")
    assert f"<p>{last.games:,} games and {last.moves:,} moves of training" in folder.report_file.read_text()
    assert command("train", "--resume", "runs/demo", "--games", str(last.games)).code == 0


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
        (["--games", "0"], "--games 0: at least one game must be played"),
        (["--preset", "minuet"], "there is no preset or file 'minuet' (did you mean 'minute'?)"),
        (["--seed", "-1"], "seed = -1: must be from 0"),
    ],
)
def test_what_is_wrong_is_said_before_training(command: Command, arguments: list[str], message: str) -> None:
    said = command("demo", *arguments)
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert not Path("runs").exists()
