"""The store: results, trials and the names of run folders."""

import sqlite3
from pathlib import Path

import pytest

from tilewright._core.tables import Scalar
from tilewright.errors import FileError
from tilewright.reproduce.store import Store, TrialRecord, safe_name


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
