"""The runs folder: names, models, curves that are thinned out, and runs that somebody has damaged on purpose."""

import itertools
import os
import shutil
import sys
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests.web.conftest import API
from tests.web.hostile import CONFIG, HEADER, ROW, make_hostile_runs
from tests.web.live import PATIENT, blocked_files, wait_until
from tilewright import make_game
from tilewright.errors import MissingExtraError, UsageError
from tilewright.web import runs as runs_module
from tilewright.web.app import make_app
from tilewright.web.limits import Limits
from tilewright.web.runs import RunLibrary, UnknownRunError, thin_out


def test_runs_play_the_games_that_they_were_trained_for(runs: Path) -> None:
    library = RunLibrary(runs)
    assert {"large", "small"} <= set(library.folders())
    assert "large" in library.agents_for(make_game("2048"))
    assert "large" not in library.agents_for(make_game("2048:rows=3,columns=3"))
    assert library.agents_for(make_game("2048:rows=3,columns=3"))["small"] == "ntuple"
    assert library.agents_for(make_game("threes")) == {}


def test_a_model_is_found_by_the_name_of_its_run(runs: Path) -> None:
    library = RunLibrary(runs)
    assert library.model_file("large") == runs / "large" / "model.safetensors"
    with pytest.raises(UnknownRunError, match="there is no run 'lrage'"):
        library.model_file("lrage")
    with pytest.raises(UsageError, match="paths are refused"):
        library.model_file("../large")


def test_a_run_without_a_model_is_listed_but_does_not_play(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "young").mkdir()
    (tmp_path / "young" / "config.toml").write_text((runs / "large" / "config.toml").read_text())
    library = RunLibrary(tmp_path)
    assert list(library.folders()) == ["young"]
    assert library.agents_for(make_game("2048")) == {}
    with pytest.raises(UsageError, match="the run young has no model yet"):
        library.model_file("young")


def test_a_folder_that_does_not_exist_has_no_runs(tmp_path: Path) -> None:
    assert RunLibrary(tmp_path / "nowhere").folders() == {}


def test_messages_do_not_show_where_the_folder_is(tmp_path: Path) -> None:
    library = RunLibrary(tmp_path)
    assert library.hide_paths(f"{tmp_path.resolve()}/large/model: damaged") == "large/model: damaged"


def test_a_long_curve_is_thinned_out_from_its_first_point_to_its_last() -> None:
    assert thin_out(range(5), 5) == [0, 1, 2, 3, 4]
    chosen = thin_out(range(10_000), 600)
    assert (len(chosen), chosen[0], chosen[-1]) == (600, 0, 9_999)


needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="links, pipes, and names that are no text")


@pytest.fixture(scope="module")
def hostile(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A folder with two honest runs among hostile ones, and the names of all runs."""
    folder = tmp_path_factory.mktemp("hostile") / "runs"
    names = make_hostile_runs(folder)
    for name in ("large", "small"):
        shutil.copytree(runs / name, folder / name)
    return folder, [*names, "large", "small"]


@needs_posix
def test_a_damaged_run_does_not_break_the_lists_of_the_others(
    runs: Path, hostile: tuple[Path, list[str]], client: TestClient
) -> None:
    folder, names = hostile
    with TestClient(make_app(folder, limits=PATIENT)) as damaged:
        listed = {run["name"]: run for run in damaged.get(f"{API}/runs").json()}
        assert sorted(listed) == sorted(names)
        for name in ("large", "small"):
            assert listed[name] == RunLibrary(runs).summary(name) | {"running": listed[name]["running"]}
            found = damaged.get(f"{API}/runs/{name}").json()
            assert found["curve"] == client.get(f"{API}/runs/{name}").json()["curve"]
        agents = [agent["spec"] for agent in damaged.get(f"{API}/agents").json()]
        assert {"ntuple:model=large", "greedy", "ntuple:model=name with spaces"} <= set(agents)
        assert not any("a,b" in agent or "x" * 200 in agent for agent in agents)  # which no spec can name
        for name in listed:
            assert damaged.get(f"{API}/runs/{name}").status_code in (200, 404)


@needs_posix
def test_a_module_that_a_configuration_names_is_not_imported(hostile: tuple[Path, list[str]]) -> None:
    library = RunLibrary(hostile[0])
    assert library.summary("config-module")["game"] == ""
    assert "config-module" not in library.agents_for(make_game("2048"))
    assert "antigravity" not in sys.modules


def test_a_run_whose_extra_is_missing_does_not_break_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(text: str) -> None:
        raise MissingExtraError("torch is not installed")

    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.toml").write_text(CONFIG)
    monkeypatch.setattr(runs_module, "parse_config", missing)
    assert [run["name"] for run in RunLibrary(tmp_path).summaries()] == ["one", "two"]
    assert RunLibrary(tmp_path).agents_for(make_game("2048")) == {}


SECRET_ROWS = {
    "metrics.csv": HEADER + ROW,
    "evaluations.csv": "games,seconds,evaluate_games,score_mean,score_low,score_high,win_rate\n1,1.0,1,1.0,1,1,0\n",
    "stages.csv": "stage,games,seconds,start_boards,collect_games,baseline_score\n2,1,1.0,1,1,1.0\n",
}


def test_the_rows_that_links_hide_are_rows(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "large", tmp_path / "open")
    for file, rows in SECRET_ROWS.items():
        (tmp_path / "open" / file).write_text(rows)
    found = RunLibrary(tmp_path).details("open")
    assert [len(found[key]) for key in ("curve", "evaluations", "stages")] == [1, 1, 1]  # type: ignore[arg-type]


@needs_posix
@pytest.mark.parametrize("file", ["config.toml", "metrics.csv", "evaluations.csv", "stages.csv", "model.safetensors"])
def test_no_file_is_read_through_a_link(runs: Path, tmp_path: Path, file: str) -> None:
    folder, secret = tmp_path / "runs", tmp_path / "secret"
    shutil.copytree(runs / "large", folder / "linked")
    target = folder / "linked" / file
    if file in SECRET_ROWS:
        target.write_text(SECRET_ROWS[file])
    target.rename(secret)
    target.symlink_to(secret)
    library = RunLibrary(folder)
    if file == "config.toml":
        assert library.folders() == {}
        with pytest.raises(UnknownRunError):
            library.details("linked")
        return
    found = library.details("linked")
    key = {"metrics.csv": "curve", "evaluations.csv": "evaluations", "stages.csv": "stages"}.get(file)
    if key:
        assert found[key] == []
    else:
        assert found["has_model"] is False
        assert library.agents_for(make_game("2048")) == {}
        with pytest.raises(UsageError, match="has no model yet"):
            library.model_file("linked")


def test_of_a_curve_of_any_length_some_lines_are_read(tmp_path: Path) -> None:
    """A file with a hole of a terabyte cannot be read as a whole."""
    (tmp_path / "long").mkdir()
    (tmp_path / "long" / "config.toml").write_text(CONFIG)
    with (tmp_path / "long" / "metrics.csv").open("w") as file:
        file.write(HEADER + ROW)
        try:
            file.truncate(10**12)
        except OSError:
            pytest.skip("the file system has no files of this size")
        file.seek(0, os.SEEK_END)
        file.write("\n" + ROW.replace("100,", "900,", 1))
    library = RunLibrary(tmp_path)
    assert library.summary("long")["games"] == 900
    curve = library.details("long")["curve"]
    assert isinstance(curve, list)
    assert [point["games"] for point in curve] == [100, 900]


@needs_posix
def test_a_long_curve_has_its_first_and_its_last_point_and_others_between(hostile: tuple[Path, list[str]]) -> None:
    curve = RunLibrary(hostile[0]).details("curve-long")["curve"]
    assert isinstance(curve, list)
    games = [point["games"] for point in curve]
    lines = (hostile[0] / "curve-long" / "metrics.csv").read_text().splitlines()
    assert len(games) == Limits().curve_points
    assert (games[0], games[-1]) == (100, 100 * (len(lines) - 1))
    steps = [after - before for before, after in itertools.pairwise(games)]
    assert 0 < min(steps) <= max(steps) < 3 * games[-1] / len(games)


def test_a_file_is_read_again_only_when_it_has_changed(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(runs / "large", tmp_path / "mine")
    library, parsed = RunLibrary(tmp_path), list[str]()

    def parse_rows(lines: list[str], kind: type) -> list[object]:
        parsed.append(kind.__name__)
        return []

    monkeypatch.setattr(runs_module, "parse_rows", parse_rows)
    monkeypatch.setattr(runs_module, "parse_config", lambda text: parsed.append("config"))
    for _ in range(3):
        library.summaries()
        library.agents_for(make_game("2048"))
        library.details("mine")
    assert len(parsed) == 5  # the configuration, the last point, three curves
    with (tmp_path / "mine" / "metrics.csv").open("a") as file:
        file.write(ROW)
    library.details("mine")
    assert len(parsed) == 9
    (tmp_path / "mine" / "config.toml").write_text(CONFIG)
    library.summaries()
    assert parsed[9:] == ["config"]


def test_only_so_many_runs_are_listed(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"run-{number:02}").mkdir()
        (tmp_path / f"run-{number:02}" / "config.toml").write_text(CONFIG)
    assert list(RunLibrary(tmp_path, Limits(runs=10)).folders()) == [f"run-{number:02}" for number in range(10)]


def test_quick_answers_do_not_wait_for_the_disk(runs: Path) -> None:
    app = make_app(runs, limits=PATIENT)
    with TestClient(app) as client, blocked_files(app.state.server):
        for path in ("/games", "/start", "/jobs", "/board?board=1120000000000001"):
            assert client.get(API + path).status_code == 200
    wait_until(lambda: app.state.server.executors.files.pending == 0)


def test_a_model_that_makes_its_agent_fail_is_no_failure_of_the_server(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise KeyError("format")

    shutil.copytree(runs / "large", tmp_path / "bad")
    monkeypatch.setattr("tilewright.agents.network_agent.find_model", fail)
    with TestClient(make_app(tmp_path, limits=PATIENT)) as client:
        asked = {"board": "1120000000000001", "agent": "ntuple:model=bad"}
        answer = client.get(f"{API}/move", params=asked)
    assert answer.status_code == 400
    assert "the model of the run cannot be played: KeyError" in answer.json()["reason"]
