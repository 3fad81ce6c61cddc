"""`tilewright reproduce` and `tilewright sweep`."""

import csv
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.training.sessions import tiny
from tilewright.reproduce.experiments import all_experiments


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tiny(lambda_=0.0, games=60).save(Path("tiny.toml"))


def test_without_a_name_all_experiments_are_listed(command: Command) -> None:
    said = command("reproduce")
    assert said.code == 0
    for path, experiment in all_experiments().items():
        assert any(line.split(maxsplit=1) == [path, experiment.title] for line in said.out.splitlines())


def test_an_experiment_is_run_once_and_reported(command: Command) -> None:
    said = command("reproduce", "goenawan-2020/table-2", "--threads", "1")
    report_file, index = "runs/reproduce/goenawan-2020/table-2-quick/report.html", "runs/reproduce/index.html"
    assert (said.code, said.out) == (0, f"{report_file}\n{index}\n")
    assert "goenawan-2020/table-2-quick/report.html" in Path(index).read_text()
    assert said.err.splitlines()[0] == "10 jobs, 0 finished before"
    report = Path("runs/reproduce/goenawan-2020/table-2-quick/report.md").read_text()
    assert "| random, true rules | 0.0 % (0.0 – 3.7) | 0.0 % (0.0 – 3.7) | " in report
    again = command("reproduce", "goenawan-2020/table-2", "--threads", "1")
    assert again.err == "10 jobs, 10 finished before\n"
    assert Path("runs/reproduce/goenawan-2020/table-2-quick/report.md").read_text() == report


def read_csv(path: str) -> list[dict[str, str]]:
    with Path(path).open(newline="") as file:
        return list(csv.DictReader(file))


def test_reproduce_and_sweep_export_the_same_columns(command: Command) -> None:
    said = command("reproduce", "goenawan-2020/table-2", "--threads", "1", "--csv", "paper.csv")
    report = "runs/reproduce/goenawan-2020/table-2-quick/report.html"
    assert (said.code, said.out) == (0, f"{report}\nruns/reproduce/index.html\npaper.csv: 2 trials\n")
    rows = read_csv("paper.csv")
    assert [(row["row"], row["seed"], row["games"]) for row in rows] == [
        ("random, the authors' rules", "0", "100"),
        ("random, true rules", "0", "100"),
    ]
    assert command("reproduce", "--csv", "all.csv").out == "all.csv: 2 trials\n"
    assert read_csv("all.csv") == rows
    said = command(
        "sweep", "tiny.toml", "alpha=0.5,1", "--evaluate-games", "20", "--threads", "1", "--csv", "sweep.csv"
    )
    assert said.out.splitlines()[1:] == ["sweep.csv: 2 trials"]
    swept = read_csv("sweep.csv")
    assert [row["alpha"] for row in swept] == ["0.5", "1.0"]
    assert [name for name in swept[0] if name != "alpha" and "reach_" not in name] == [
        name for name in rows[0] if "reach_" not in name
    ]
    assert command("reproduce", "--csv", "again.csv", "--out", "runs/sweep").out == "again.csv: 2 trials\n"
    assert read_csv("again.csv") == swept
    parquet = pytest.importorskip("pyarrow.parquet")
    assert command("reproduce", "--csv", "all.parquet").out == "all.parquet: 2 trials\n"
    assert parquet.read_table("all.parquet").column_names == list(rows[0])


def test_markdown_is_written_elsewhere_with_a_list_of_all_that_is_there(command: Command) -> None:
    other = Path("docs/szubert-2014/table-1-full/report.md")
    other.parent.mkdir(parents=True)
    other.write_text("# Another paper, Table I\n\nText.\n")
    said = command("reproduce", "goenawan-2020/table-2", "--threads", "1", "--markdown", "docs")
    assert said.out.splitlines() == [
        "runs/reproduce/goenawan-2020/table-2-quick/report.html",
        "runs/reproduce/index.html",
        "docs/README.md",
    ]
    here, there = (Path(folder, "goenawan-2020/table-2-quick/report.md") for folder in ("runs/reproduce", "docs"))
    assert here.read_bytes() == there.read_bytes()
    lines = Path("docs/README.md").read_text().splitlines()
    assert any(
        line.startswith("| Table 2: random moves ([quick](goenawan-2020/table-2-quick/report.md)) |") for line in lines
    )
    assert lines[-1] == "- [Another paper, Table I](szubert-2014/table-1-full/report.md)"


def test_a_sweep_compares_every_combination(command: Command) -> None:
    said = command(
        "sweep", "tiny.toml", "alpha=0.1,0.5", "step_size=fixed,tc", "--evaluate-games", "20", "--threads", "1"
    )
    assert said.code == 0
    assert said.out.startswith("runs/sweep/tiny_alpha_step_size_")
    report = Path(said.out.strip()).with_name("report.md").read_text()
    rows = [line.split(" | ")[0] for line in report.splitlines() if line.startswith("| alpha")]
    assert rows == [
        f"| alpha = {alpha}, step_size = {step_size}" for alpha in ("0.1", "0.5") for step_size in ("fixed", "tc")
    ]
    assert "paper" not in report


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "szubert-2014/table-7"], "there is no experiment 'szubert-2014/table-7' (did you mean"),
        (["reproduce", "goenawan-2020/table-2", "--threads", "0"], "threads=0: at least one is needed"),
        (["reproduce", "goenawan-2020/table-2", "--out", "a,b"], "a,b: a folder of results must not have a comma"),
        (
            ["reproduce", "goenawan-2020/table-2", "--markdown", "tiny.toml"],
            "tiny.toml: cannot be written: File exists",
        ),
        (["reproduce", "--csv", "all.csv", "--out", "nowhere"], "nowhere: there is no such folder"),
        (["reproduce", "--csv", "all.csv", "--out", "."], "results.sqlite: no trial is finished"),
        (["sweep", "tiny.toml", "seed=1,2"], "seed: a sweep chooses the seeds itself; seeds is their number"),
        (["sweep", "tiny.toml", "alpha=1", "--set", "minutes=1"], "minutes: cannot be chosen"),
        (
            ["sweep", "tiny.toml", "alpha=1", "--agent", "random"],
            "agent random: must have an option ",
        ),
        (["sweep", "tiny.toml", "alpha=1", "--agent", "ntuples:model={model}"], "there is no agent 'ntuples'"),
        (["sweep", "tiny.toml", "alpha"], "alpha: must be of the form key=value,value,…"),
        (["sweep", "tiny.toml", "alpha=1", "alpha=2"], "a key is given twice"),
        (["sweep", "tiny.toml", "alpha=1", "--seeds", "0"], "seeds = 0: must be a whole number of at least 1"),
        (["sweep", "tiny.toml", "alphas=1"], "tiny.toml: unknown key 'alphas' (did you mean 'alpha'"),
        (
            ["sweep", "minute", "alpha=0.5,1"],
            "the configuration trains for 1.1 minutes; a sweep needs",
        ),
        (["sweep", "tiny.toml", "alpha=0.5,3"], "tiny.toml: alpha = 3.0: must be above 0"),
    ],
)
def test_what_cannot_be_is_one_line(command: Command, arguments: list[str], message: str) -> None:
    said = command(*arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"tilewright: {message}")
    assert said.err.count("\n") == 1


def test_what_failed_is_told_after_the_reports(command: Command) -> None:
    tiny(lambda_=0.0, games=90, stages=("16",), start_pool=10).save(Path("tiny.toml"))
    said = command("sweep", "tiny.toml", 'stages=["16"],["4096"]', "--evaluate-games", "20", "--threads", "1")
    assert said.code == 1
    assert "| stages = ['16'] |" in Path(said.out.strip()).with_name("report.md").read_text()
    assert said.err.splitlines()[-1].startswith("tilewright: stages = ['4096']: training: none of ")
