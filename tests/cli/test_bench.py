"""`tilewright bench`: every benchmark by name, in turns."""

import json
from dataclasses import replace

import pytest

from tests.cli.conftest import Command
from tilewright import bench
from tilewright.agents.montecarlo import MonteCarloAgent
from tilewright.bench import benchmarks
from tilewright.training.config import TrainingConfig


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The playing benchmarks with few games, and one of training with a small network."""
    playing = {
        name: replace(found, games=20)
        for name, found in bench.BENCHMARKS.items()
        if isinstance(found, benchmarks.PlayBenchmark) and not name.startswith("4x6")
    }
    rollouts = benchmarks.RolloutBenchmark("rollouts", lambda: MonteCarloAgent(rollouts=2), "2048", 1)
    small = benchmarks.TrainingBenchmark(
        "a small network", TrainingConfig(network="2x4", update="online", step_size="fixed", alpha=0.1, games=20)
    )
    for module in ("tilewright.bench", "tilewright.cli.bench"):
        monkeypatch.setattr(f"{module}.BENCHMARKS", {**playing, "rollouts": rollouts, "small-td": small})


def test_json_has_all_runs_of_all_benchmarks(command: Command) -> None:
    facts = json.loads(command("bench", "--repeat", "3", "--json").out)
    assert [fact["name"] for fact in facts] == list(bench.BENCHMARKS)
    for fact in facts:
        assert len(fact["runs"]) == 3
        assert fact["best"] == max(fact["runs"])
        assert fact["median"] == sorted(fact["runs"])[1]


def test_the_table_has_those_that_were_named(command: Command) -> None:
    said = command("bench", "threes-greedy", "2048-random", "--repeat", "1")
    assert (said.code, said.err) == (0, "")
    title, _, *rows = said.out.splitlines()
    assert title == "1 thread, best of 1 in turns"
    assert [row.split()[0] for row in rows] == ["threes-greedy", "2048-random"]
    for row in rows:
        best, median = (int(figure.replace(",", "")) for figure in row.split()[-2:])
        assert best == median > 0


def test_a_peer_that_is_not_installed_has_its_pip_line(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(bench.UNAVAILABLE, "other-2048", "jax other_2048")
    said = command("bench", "other-2048")
    assert said.code == 1
    message = "the benchmark other-2048 needs packages that are not installed: pip install jax other-2048"
    assert said.err == f"tilewright: {message}\n"


def test_benchmarks_are_run_in_turns_with_a_seed_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[tuple[str, int, int]] = []

    def run(self: benchmarks.PlayBenchmark, seed: int, threads: int) -> float:
        runs.append((f"{self.game}-{self.agent().name}", seed, threads))
        return float(len(runs))

    monkeypatch.setattr(benchmarks.PlayBenchmark, "run", run)
    told: list[int] = []
    found = bench.measure(["2048-random", "threes-greedy"], repeat=2, threads=3, progress=told.append)
    assert runs == [("2048-random", 0, 3), ("threes-greedy", 0, 3), ("2048-random", 1, 3), ("threes-greedy", 1, 3)]
    assert [(m.name, m.runs, m.best, m.median) for m in found] == [
        ("2048-random", (1, 3), 3, 2),
        ("threes-greedy", (2, 4), 4, 3),
    ]
    assert told == [1, 1, 1, 1]
