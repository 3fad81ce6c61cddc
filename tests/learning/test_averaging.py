"""The running mean of snapshots against the plain mean of all of them."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tilewright.learning import averaging
from tilewright.learning.averaging import WeightAverage
from tilewright.ntuple.stages import UNWRITTEN

MARK = np.float32(UNWRITTEN)
Snapshots = NDArray[np.float32]


def average_of(snapshots: Snapshots, promoted_from: int | None = None, threads: int = 1) -> WeightAverage:
    average = WeightAverage(promoted_from)
    for weights in snapshots:
        before = weights.copy()
        average.add(weights, threads)
        assert np.array_equal(before, weights)
    return average


def promoted(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The value that every stage reads: where a weight is unwritten, that of the stage before."""
    read = weights.copy()
    for stage in range(1, len(read)):
        unwritten = weights[stage] <= MARK
        read[stage, unwritten] = read[stage - 1, unwritten]
    return read


@pytest.mark.parametrize("threads", [1, 3])
def test_the_mean_is_that_of_all_snapshots(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    monkeypatch.setattr(averaging, "_PIECE", 64)
    snapshots = np.random.default_rng(1).normal(0, 1000, (7, 1000)).astype(np.float32)
    average = average_of(snapshots, threads=threads)
    assert average.snapshots.tolist() == [7]
    assert average.mean == pytest.approx(snapshots.astype(np.float64).mean(axis=0), rel=1e-5, abs=1e-3)


def test_stages_that_promote_read_the_mean_of_what_the_snapshots_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of later stages are written at any time, or never; a weight stays written."""
    monkeypatch.setattr(averaging, "_PIECE", 64)
    rng = np.random.default_rng(2)
    snapshots = rng.normal(0, 1000, (6, 3, 500)).astype(np.float32)
    written_at = rng.integers(0, 8, (3, 500))  # 6 and 7: never
    written_at[0] = 0
    snapshots[np.arange(6)[:, None, None] < written_at] = MARK
    mean = average_of(snapshots.reshape(6, -1), promoted_from=500).mean.reshape(3, 500).astype(np.float64)
    assert np.array_equal(mean <= MARK, written_at > 5)
    wanted = np.mean([promoted(weights.astype(np.float64)) for weights in snapshots], axis=0)
    assert promoted(mean) == pytest.approx(wanted, rel=1e-5, abs=1e-3)


def test_one_snapshot_is_its_own_mean_to_the_bit_and_none_is_kept_after_clear() -> None:
    snapshots = np.random.default_rng(3).normal(0, 1, (1, 100)).astype(np.float32)
    average = average_of(snapshots)
    assert np.array_equal(average.mean, snapshots[0])
    average.clear()
    assert (len(average.mean), average.snapshots[0]) == (0, 0)
    average.add(snapshots[0] + 1)
    assert np.array_equal(average.mean, snapshots[0] + 1)


def test_weights_that_diverged_make_a_mean_that_shows_it() -> None:
    average = WeightAverage()
    for weight in (1.0, np.inf, -np.inf):
        average.add(np.array([weight, 2.0], np.float32))
    assert np.isnan(average.mean[0])
    assert average.mean[1] == 2
