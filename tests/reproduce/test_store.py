"""The store: results, trials and the names of run folders."""

import dataclasses
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.full_disk import free_disk, full_disk
from tilewright._core.outputs import is_full
from tilewright._core.tables import Scalar
from tilewright.errors import FileError
from tilewright.reproduce import store as stores
from tilewright.reproduce.jobs import EvaluationResult, TrainingResult, read_result, remove_checkpoint
from tilewright.reproduce.store import Store, TrialRecord, safe_name
from tilewright.training.run_folder import CurvePoint


def test_the_first_result_of_a_job_stays(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for scores in ([1], [2]):
        store.add("k", "evaluation", "1 game of random", {"scores": scores})
    found = Store(tmp_path).find("k")
    assert found is not None
    assert (found.kind, found.description, found.result) == ("evaluation", "1 game of random", {"scores": [1]})
    assert store.find("other") is None


def test_a_damaged_result_is_one_line(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add("k", "evaluation", "10 games of random", {"scores": [1]})
    with sqlite3.connect(store.file) as connection:
        connection.execute("UPDATE jobs SET result = '{\"scores\": [1'")
    with pytest.raises(FileError, match=r"results.sqlite: the result of 10 games of random \(k\) is damaged$"):
        store.find("k")


def test_a_store_with_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with sqlite3.connect(store.file) as connection:
        connection.execute("CREATE TABLE zzzz (a)")
    connection.close()
    store.file.write_bytes(store.file.read_bytes().replace(b"CREATE TABLE zzzz", b"CREATE TABL\x80 zzzz"))
    with pytest.raises(FileError, match=r"results.sqlite: cannot be used: "):
        Store(tmp_path)


def test_a_trial_is_replaced_by_one_of_the_same_row_and_seed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keys: dict[str, Scalar] = {"alpha": 0.5, "step_size": "tc", "promote": True, "model": None}
    trials = [
        TrialRecord("sweep/a", "sweep", "alpha = 0.5", 0, "minute", keys, "ntuple:model={model}", "2048", "t", ("e",)),
        TrialRecord("sweep/a", "sweep", "alpha = 0.5", 1, "minute", keys, "ntuple:model={model}", "2048", "u", ("f",)),
        TrialRecord("sweep/a", "sweep", "alpha = 0.5", 0, "minute", keys, "ntuple:model={model}", "2048", "v", ("g",)),
    ]
    store.add_trials(trials)
    assert Store(tmp_path).trials() == trials[1:]


def test_run_folders_are_named_once_and_never_shared(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first, second = "a" * 24, "b" * 24
    assert store.run_folder(first, "minute_alpha=0.5_seed=0") == tmp_path / "trainings" / "minute_alpha=0.5_seed=0"
    # Another training by the same name, also where only the case of letters differs, as some file systems ignore it.
    assert store.run_folder(second, "Minute_alpha=0.5_seed=0").name == "Minute_alpha=0.5_seed=0_bbbbbbbb"
    for again in (store, Store(tmp_path)):
        assert again.run_folder(first, "another name").name == "minute_alpha=0.5_seed=0"
        assert again.run_folder(second).name == "Minute_alpha=0.5_seed=0_bbbbbbbb"


def test_a_run_folder_that_the_store_does_not_know_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "trainings" / "minute_seed=0").mkdir(parents=True)
    assert Store(tmp_path).run_folder("c" * 24, "minute_seed=0").name == "minute_seed=0_cccccccc"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("minute_alpha=1e-05_seed=0", "minute_alpha=1e-05_seed=0"),
        ("game=2048:rows=3,columns=3_stages=512+256", "game=2048-rows=3-columns=3_stages=512+256"),
        ("../../etc", "etc"),
        ("α / β", ""),
        ("x" * 500, "x" * 120),
    ],
)
def test_names_are_safe_for_file_systems_and_agent_specs(text: str, name: str) -> None:
    assert safe_name(text) == name


@pytest.mark.parametrize("name", ["x" * 300, "x" * 130, "", ".", "..", "../elsewhere", "a/b", "a\0b", "a\nb"])
def test_a_run_folder_whose_name_no_store_makes_is_refused(name: str, tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.run_folder("k", "name")
    with closing(sqlite3.connect(store.file)) as connection, connection:
        connection.execute("UPDATE run_folders SET name = ?", (name,))
    with pytest.raises(FileError, match=r"results.sqlite: the name of the run folder of k is damaged$"):
        Store(tmp_path).run_folder("k", "name")


@pytest.mark.parametrize("key", ["x" * 300, "../elsewhere", "a\nb"])
def test_a_key_of_which_no_name_can_be_made_is_refused(key: str, tmp_path: Path) -> None:
    """Trials name their training by a key, and a damaged one may be no name of a folder."""
    store = Store(tmp_path)
    with pytest.raises(FileError, match=r"results.sqlite: the name of the run folder of .{1,41} is damaged$"):
        store.run_folder(key)
    with closing(sqlite3.connect(store.file)) as connection:
        assert connection.execute("SELECT * FROM run_folders").fetchall() == []


@pytest.mark.parametrize("key", ["k", "c" * 24])
def test_the_longest_name_of_a_run_folder_is_read_again(key: str, tmp_path: Path) -> None:
    Store(tmp_path).run_folder("d" * 24, "x" * 200)
    folder = Store(tmp_path).run_folder(key, "x" * 200)
    assert folder.name == f"{'x' * 120}_{key[:8]}"
    folder.mkdir(parents=True)
    assert Store(tmp_path).run_folder(key, "x" * 200) == folder


DAMAGES = ["NULL", "7", "x'ff00'", "'null'", "'[]'", "'{'", "'3'", "'\"text\"'", "'" + "[" * 5000 + "'"]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage[:10])
def test_null_and_nested_fields_are_one_line(damage: str, tmp_path: Path) -> None:
    """SQLite has no types to rely on, and other programs may have written the file."""
    looks: list[tuple[str, str, Callable[[Store], object]]] = [
        ("jobs", "result", lambda store: store.find("k")),
        ("jobs", "result", lambda store: store.jobs()),
        ("trials", "keys", lambda store: store.trials()),
        ("trials", "evaluations", lambda store: store.trials()),
        ("run_folders", "name", lambda store: store.run_folder("k")),
    ]
    for table, column, look in looks:
        folder = tmp_path / f"{table}-{column}"
        store = Store(folder)
        with sqlite3.connect(store.file) as connection:
            for name in ("jobs", "trials", "run_folders"):
                sql = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0]
                connection.execute(f"DROP TABLE {name}")
                connection.execute(sql.replace("NOT NULL", ""))
        store.add("k", "evaluation", "10 games", {"scores": [1]})
        store.add_trials([TrialRecord("e", "quick", "r", 0, "", {}, "random", "2048", "", ("k",))])
        store.run_folder("k", "name")
        with sqlite3.connect(store.file) as connection:
            connection.execute(f"UPDATE {table} SET {column} = {damage}")  # noqa: S608
        good = {"run_folders": ["7", "'3'", "'null'"]}.get(table, [])
        if damage in good:
            continue
        with pytest.raises(FileError, match=r"results.sqlite: .*damaged|results.sqlite: cannot be used"):
            look(Store(folder))


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("evaluation", {"scores": None}),
        ("evaluation", {"scores": []}),
        ("evaluation", {"scores": [[1]]}),
        ("evaluation", {"scores": ["1"]}),
        ("evaluation", {"scores": [10**30]}),
        ("evaluation", {"scores": [True]}),
        ("evaluation", {"tiles": [2, 4]}),
        ("evaluation", {"moves": None}),
        ("evaluation", {"seconds": {}}),
        ("evaluation", {"board_sums": [None]}),
        ("training", {"curve": None}),
        ("training", {"curve": [None]}),
        ("training", {"curve": [{"games": 1}]}),
        ("training", {"stages": [{"stage": 1}]}),
        ("training", {"games": "many"}),
    ],
)
def test_results_of_other_types_are_damaged(kind: str, change: dict[str, object]) -> None:
    evaluation = {"scores": [8], "tiles": [4], "moves": 3, "seconds": 0.1, "board_sums": []}
    curve = {column.name: 1 for column in dataclasses.fields(CurvePoint)}
    training = {"games": 1, "moves": 1, "seconds": 1.0, "curve": [curve], "stages": []}
    result: dict[str, Any] = evaluation if kind == "evaluation" else training
    wanted: Any = EvaluationResult if kind == "evaluation" else TrainingResult
    assert read_result(wanted, result) == result
    assert read_result(wanted, {**result, **change}) is None
    for name in result:
        assert read_result(wanted, {key: value for key, value in result.items() if key != name}) is None


def test_a_database_of_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "results.sqlite") as connection:
        connection.execute("CREATE TABLE photos (name TEXT)")
    before = (tmp_path / "results.sqlite").read_bytes()
    with pytest.raises(FileError, match="a database of something else, and is left as it is"):
        Store(tmp_path)
    assert (tmp_path / "results.sqlite").read_bytes() == before
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "results.sqlite").write_text("my thesis\n" * 100)
    with pytest.raises(FileError, match="file is not a database"):
        Store(tmp_path / "text")


def test_a_pipe_or_a_device_is_no_store(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "results.sqlite")
    with pytest.raises(FileError, match="a pipe or a device, not a file"):
        Store(tmp_path)
    (tmp_path / "zero").mkdir()
    (tmp_path / "zero" / "results.sqlite").symlink_to("/dev/zero")
    with pytest.raises(FileError, match="a pipe or a device, not a file"):
        Store(tmp_path / "zero")


def test_a_result_waits_for_room_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, result = Store(tmp_path), {"scores": list(range(100_000))}
    with full_disk(50_000):
        monkeypatch.setattr(stores, "PATIENCE", 0.0)
        with pytest.raises(FileError, match=r"results.sqlite: cannot be used: ") as error:
            store.add("k", "evaluation", "many games", result)
        assert is_full(error.value)
        assert store.find("k") is None
        monkeypatch.setattr(stores, "PATIENCE", 100.0)
        monkeypatch.setattr(time, "sleep", lambda seconds: free_disk())
        store.add("k", "evaluation", "many games", result)
    found = store.find("k")
    assert found is not None
    assert found.result == result


def test_a_checkpoint_that_cannot_be_removed_is_one_line(tmp_path: Path) -> None:
    remove_checkpoint(tmp_path)  # nothing is there
    (tmp_path / "checkpoint.safetensors").mkdir()
    with pytest.raises(FileError, match=r"checkpoint.safetensors: cannot be removed: "):
        remove_checkpoint(tmp_path)
