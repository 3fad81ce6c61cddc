"""Estimates against SciPy, against plain loops, and against what 95 % means."""

import math

import numpy as np
import pytest
from scipy import stats

from tilewright.play.statistics import Estimate, max100, mean_of, rate_of, student_point

MISSES = 5 / 1e6  # false alarm of each coverage test: the binomial tail beyond its bounds


@pytest.mark.parametrize("degrees", [*range(1, 200), 999, 10**4, 10**6])
def test_student_points(degrees: int) -> None:
    assert student_point(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=1e-6)


@pytest.mark.parametrize("n", [2, 3, 29, 30, 31, 1000])
def test_mean_and_its_interval(n: int) -> None:
    sample = np.random.default_rng(n).integers(0, 10_000, n)
    found = mean_of(sample)
    low, high = stats.t.interval(0.95, n - 1, loc=sample.mean(), scale=stats.sem(sample))
    assert found == pytest.approx((sample.mean(), low, high), rel=1e-6)
    assert found.margin == pytest.approx((high - low) / 2, rel=1e-6)


def test_one_game_has_a_mean_and_no_interval() -> None:
    found = mean_of(np.array([1234]))
    assert found == Estimate(1234.0, None, None)
    assert found.margin is None
    assert found.interval is None
    assert str(found) == "1,234.0"


def test_an_estimate_is_written_with_its_margin() -> None:
    found = Estimate(1094.83, 1091.5, 1098.1)
    assert str(found) == "1,094.8 ± 3.3"
    assert found.interval == [1091.5, 1098.1]


def test_equal_scores_have_an_interval_of_no_width() -> None:
    assert mean_of(np.full(10, 7)) == Estimate(7.0, 7.0, 7.0)


@pytest.mark.parametrize(
    ("hits", "n"), [(0, 1), (1, 1), (0, 100), (100, 100), (1, 2), (37, 100), (999, 1000), (5, 10**6)]
)
def test_rate_and_its_interval(hits: int, n: int) -> None:
    wilson = stats.binomtest(hits, n).proportion_ci(method="wilson")
    assert rate_of(hits, n) == pytest.approx((hits / n, wilson.low, wilson.high), abs=1e-12)


def test_rates_stay_within_zero_and_one() -> None:
    for n in range(1, 3000):
        assert (rate_of(0, n).low, rate_of(n, n).high) == (0, 1)
        assert all(
            0 < (rate_of(hits, n).low or 0) < hits / n < (rate_of(hits, n).high or 0) < 1
            for hits in {1, n - 1} - {0, n}
        )


def covers(hits: int, trials: int, nominal: float = 0.95) -> bool:
    """Whether so many covering intervals are no surprise."""
    low, high = stats.binom.interval(1 - MISSES, trials, nominal)
    return bool(low <= hits <= high)


@pytest.mark.parametrize("n", [2, 5, 20, 100])
def test_19_of_20_mean_intervals_hold_the_truth(n: int) -> None:
    samples = np.random.default_rng(n).normal(100, 15, (4000, n))
    found = [mean_of(sample) for sample in samples]
    assert covers(sum(e.low is not None and e.high is not None and e.low <= 100 <= e.high for e in found), 4000)


@pytest.mark.parametrize(("rate", "n"), [(0.5, 50), (0.1, 100), (0.93, 400)])
def test_rate_intervals_hold_the_truth_as_often_as_wilson_says(rate: float, n: int) -> None:
    """Hits are whole numbers, so the true coverage is a sum over them: near 95 %, and known exactly."""
    exact = 0.0
    for hits in range(n + 1):
        low, high = stats.binomtest(hits, n).proportion_ci(method="wilson")
        exact += stats.binom.pmf(hits, n, rate) * (low <= rate <= high)
    assert exact == pytest.approx(0.95, abs=0.025)
    drawn = np.random.default_rng(n).binomial(n, rate, 4000).tolist()
    found = [rate_of(hits, n) for hits in drawn]
    hits = sum(e.low is not None and e.high is not None and e.low <= rate <= e.high for e in found)
    assert covers(hits, 4000, exact)


@pytest.mark.parametrize("n", [100, 150, 199, 200, 201, 1000])
def test_max100_is_the_mean_of_the_maxima_of_whole_groups(n: int) -> None:
    scores = np.random.default_rng(n).integers(0, 100_000, n)
    best = [max(scores.tolist()[first : first + 100]) for first in range(0, n - 99, 100)]
    found = max100(scores)
    assert found is not None
    assert found.value == pytest.approx(math.fsum(best) / len(best))


@pytest.mark.parametrize("n", [1, 99])
def test_fewer_than_100_games_have_no_max100(n: int) -> None:
    assert max100(np.arange(n)) is None


@pytest.mark.parametrize("n", [100, 199])
def test_one_group_has_no_interval(n: int) -> None:
    assert max100(np.arange(n)) == Estimate(99.0, None, None)


@pytest.mark.parametrize("groups", [2, 3, 5, 10, 40])
def test_intervals_of_max100_contain_the_true_value_in_nine_of_ten_cases(groups: int) -> None:
    """With exponential scores, whose maxima are skewed, the nominal 95 % are not quite reached."""
    truth = sum(1 / i for i in range(1, 101))
    samples = np.random.default_rng(groups).exponential(size=(1000, groups * 100))
    found = [max100(sample) for sample in samples]
    hits = sum(e is not None and e.low is not None and e.high is not None and e.low <= truth <= e.high for e in found)
    assert hits >= stats.binom.ppf(MISSES, 1000, 0.92)


def test_the_interval_of_max100_agrees_with_scipys_bootstrap() -> None:
    scores = np.random.default_rng(1).integers(0, 100_000, 4000)
    found = max100(scores)
    assert found is not None
    assert found == max100(scores)
    best = scores.reshape(40, 100).max(axis=1)
    theirs = stats.bootstrap((best,), np.mean, n_resamples=20_000, method="percentile", rng=2).confidence_interval
    width = theirs.high - theirs.low
    assert found.low == pytest.approx(theirs.low, abs=0.1 * width)
    assert found.high == pytest.approx(theirs.high, abs=0.1 * width)
