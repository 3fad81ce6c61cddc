"""Workers that learn apart: how their weights are combined, and the trainer that sends them games.

The workers here live in this process; `tests/_core/test_cluster.py` has those of a Ray cluster.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.training.sessions import learned, tiny, train
from tilewright._core.cluster import Cluster, WorkerLostError
from tilewright.errors import ClusterError, UsageError
from tilewright.training import distributed
from tilewright.training.config import TrainingConfig
from tilewright.training.distributed import DistributedTrainer, TrainingWorker, combine
from tilewright.training.session import open_session

IN_TURN = tiny(averaging=0.5, stages=("16", "16+8"), start_pool=40, teacher_fraction=0.25, lambda_=0.0)


class LocalCluster:
    """Makes workers in this process; some calls are lost with the worker that they went to."""

    def __init__(self, processors: int, lost_calls: Sequence[int] = ()) -> None:
        self.processors = processors
        self._calls, self._lost = 0, set(lost_calls)

    def start_workers(self, kind: type, count: int, *arguments: object) -> "LocalCluster":
        self._make: Callable[[], object] = lambda: kind(*arguments)
        self.workers = [self._make() for _ in range(count)]
        return self

    def call(self, numbers: Sequence[int], method: str, *arguments: Any) -> list[Any]:
        results: list[Any] = []
        for number in numbers:
            self._calls += 1
            if self._calls in self._lost:
                self.workers[number] = self._make()
                results.append(WorkerLostError())
            else:
                copies = [np.array(value) if isinstance(value, np.ndarray) else value for value in arguments]
                found = getattr(self.workers[number], method)(*copies)
                results.append(tuple(np.array(part) for part in found) if method == "read" else found)
        return results


def local(processors: int, lost_calls: Sequence[int] = ()) -> Cluster:
    return cast(Cluster, LocalCluster(processors, lost_calls))


def run(config: TrainingConfig, path: Path, cluster: Cluster, **options: Any) -> DistributedTrainer:
    session = open_session(config, path, cluster=cluster, **options)
    session.run()
    assert isinstance(session.trainer, DistributedTrainer)
    return session.trainer


def naive(old: NDArray[np.float64], sums: NDArray[np.float64], parts: list[Any]) -> tuple[list[float], list[float]]:
    """Weight by weight: the mean of those that changed it, by the growth of A; the sums of all changes of E and A."""
    weights, new_sums = [], []
    for i in range(len(old)):
        e, a = sums[2 * i], sums[2 * i + 1]
        changed = [(w[i], s[2 * i + 1] - a) for w, s in parts if w[i] != old[i] or s[2 * i] != e or s[2 * i + 1] != a]
        total = sum(growth for _, growth in changed)
        weights.append(sum(weight * growth for weight, growth in changed) / total if changed else old[i])
        new_sums += [e + sum(s[2 * i] - e for _, s in parts), a + sum(s[2 * i + 1] - a for _, s in parts)]
    return weights, new_sums


def test_weights_are_combined_by_the_updates_that_they_had() -> None:
    rng = np.random.default_rng(1)
    old, sums = rng.normal(0, 99, 200).astype(np.float32), np.abs(rng.normal(0, 9, 400)).astype(np.float32)
    parts = []
    for _ in range(3):
        hit = rng.random(200) < 0.4
        weights, own = old.copy(), sums.copy()
        weights[hit] += rng.normal(0, 9, hit.sum()).astype(np.float32)
        own[::2][hit] += rng.normal(0, 9, hit.sum()).astype(np.float32)
        own[1::2][hit] += rng.uniform(1, 9, hit.sum()).astype(np.float32)
        parts.append((weights, own))
    wanted = naive(old.astype(np.float64), sums.astype(np.float64), parts)
    combine(old, sums, parts)
    assert old == pytest.approx(wanted[0], rel=1e-4, abs=1e-3)
    assert sums == pytest.approx(wanted[1], rel=1e-4, abs=1e-3)


def test_fixed_steps_are_combined_by_the_number_of_workers_that_changed_a_weight() -> None:
    weights, nothing = np.zeros(4, np.float32), np.zeros(0, np.float32)
    parts = [(np.array(values, np.float32), nothing) for values in ([0, 3, 3, 1], [0, 0, 5, 2], [0, 0, 0, 6])]
    combine(weights, nothing, parts)
    assert weights.tolist() == [0, 3, 4, 3]


def test_a_change_that_the_sums_are_too_large_to_show_is_kept() -> None:
    weights, sums = np.ones(1, np.float32), np.full(2, 1e9, np.float32)
    combine(weights, sums, [(np.full(1, 2, np.float32), sums.copy()), (np.ones(1, np.float32), sums.copy())])
    assert weights[0] == 2


@pytest.mark.parametrize("config", [tiny(averaging=0.5), IN_TURN], ids=["one-stage", "in-turn"])
def test_one_worker_is_the_same_training_bit_by_bit(config: TrainingConfig, tmp_path: Path) -> None:
    trainer = run(config, tmp_path / "worker", local(1), sync_minutes=1e-5)
    train(config, tmp_path / "thread")
    assert learned(tmp_path / "worker") == learned(tmp_path / "thread")
    assert trainer.bytes_moved > 12 * len(trainer.weights)


@pytest.mark.parametrize("lost_calls", [[1], [5], [9, 10, 11, 60]], ids=str)
def test_a_worker_that_is_lost_begins_anew_from_the_synchronised_network(
    lost_calls: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distributed, "PIECE", 4096)
    cluster = LocalCluster(2, lost_calls)
    trainer = run(tiny(), tmp_path, cast(Cluster, cluster), sync_minutes=1e-5)
    assert trainer.losses == len(lost_calls)
    assert np.isfinite(trainer.weights).all()
    fresh = [cast(TrainingWorker, cluster.workers[number]) for number in trainer._fresh()]
    assert fresh
    for worker in fresh:
        weights, sums = worker.read(0, len(trainer.weights))
        assert np.array_equal(weights, trainer.weights)
        assert np.array_equal(sums, trainer.sums)


def test_workers_that_are_always_lost_end_the_training(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="a worker was lost 10 times while it played the same games"):
        run(tiny(), tmp_path, local(1, range(1, 100)))


def test_a_resumed_run_goes_on_from_the_synchronised_network(tmp_path: Path) -> None:
    run(tiny(games=150), tmp_path / "run", local(1))
    run(tiny(), tmp_path / "run", local(1), resume=True)
    train(tiny(), tmp_path / "straight")
    assert learned(tmp_path / "run") == learned(tmp_path / "straight")


def test_what_cannot_be_distributed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="sync_minutes=0: must be above 0"):
        open_session(tiny(), tmp_path, cluster=local(1), sync_minutes=0.0)
    with pytest.raises(UsageError, match="threads=0: at least one is needed"):
        open_session(tiny(), tmp_path, cluster=local(1), threads=0)
