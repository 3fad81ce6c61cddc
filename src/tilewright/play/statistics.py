"""Estimates with 95 % confidence intervals: means, rates, and the mean of the maxima of groups of 100 games."""

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Difference", "Estimate", "max100", "mean_of", "paired", "rate_of", "student_point", "two_sample"]

Sample: TypeAlias = NDArray[np.integer] | NDArray[np.floating]

Z = 1.959963984540054  # the 97.5 % quantile of the normal distribution
RESAMPLES = 2_000  # of the bootstrap
MIN_BOOTSTRAP_GROUPS = 30

# The 97.5 % quantiles of Student's t for 1 to 29 degrees of freedom.
_STUDENT = (
    12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139,
    2.200985, 2.178813, 2.160369, 2.144787, 2.131450, 2.119905, 2.109816, 2.100922, 2.093024, 2.085963,
    2.079614, 2.073873, 2.068658, 2.063899, 2.059539, 2.055529, 2.051831, 2.048407, 2.045230,
)  # fmt: skip


class Estimate(NamedTuple):
    """An estimate with its 95 % confidence interval.

    Attributes:
        value: The estimate.
        low: The lower end of the interval; None if the sample is too small for an interval.
        high: The upper end of the interval; None if the sample is too small for an interval.
    """

    value: float
    low: float | None
    high: float | None

    @property
    def margin(self) -> float | None:
        """Half the width of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    @property
    def interval(self) -> list[float] | None:
        """Both ends of the interval, or None."""
        return None if self.low is None or self.high is None else [self.low, self.high]

    def __str__(self) -> str:
        """Write the estimate with its margin: `1,094.8 ± 3.3`."""
        margin = "" if self.margin is None else f" ± {self.margin:,.1f}"
        return f"{self.value:,.1f}{margin}"


def student_point(degrees: int) -> float:
    """Return the 97.5 % quantile of Student's t: from a table, or beyond it by Fisher's expansion.

    Args:
        degrees: The degrees of freedom, from 1 up.
    """
    if degrees <= len(_STUDENT):
        return _STUDENT[degrees - 1]
    z, n = Z, degrees
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    )


def mean_of(sample: Sample) -> Estimate:
    """Estimate the mean of a population from a sample, with Student's interval.

    >>> print(mean_of(np.array([1, 2, 3])))
    2.0 ± 2.5
    """
    mean, n = float(np.mean(sample)), len(sample)
    if n < 2:
        return Estimate(mean, None, None)
    margin = student_point(n - 1) * float(np.std(sample, ddof=1)) / math.sqrt(n)
    return Estimate(mean, mean - margin, mean + margin)


def rate_of(hits: int, n: int) -> Estimate:
    """Estimate a probability from `hits` successes in `n` trials, with Wilson's interval.

    >>> rate_of(0, 100).high < 0.04
    True
    """
    rate, z2 = hits / n, Z * Z
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    margin = Z / (1 + z2 / n) * math.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    low = 0.0 if hits == 0 else centre - margin  # exactly 0: rounding would leave a tiny difference
    high = 1.0 if hits == n else centre + margin
    return Estimate(rate, low, high)


class Difference(NamedTuple):
    """The difference of two estimates, tested against 0.

    Attributes:
        estimate: The first minus the second, with its 95 % interval.
        p: The probability of so large a difference, of either sign, if there were none.
        method: Which test it is.
    """

    estimate: Estimate
    p: float
    method: str

    @property
    def sign(self) -> int:
        """1 or -1 where the interval excludes 0, else 0."""
        low, high = self.estimate.low, self.estimate.high
        return 0 if low is None or high is None else int(low > 0) - int(high < 0)


def two_sample(one: Estimate, other: Estimate) -> Difference | None:
    """Compare two independent estimates by their standard errors, which their 95 % intervals tell.

    Two intervals may overlap although the difference is significant, so that looking at both is no test.

    Returns:
        The difference; None if one of them has no interval.

    >>> found = two_sample(Estimate(48_039, 44_426, 51_652), Estimate(41_754, 38_847, 44_661))
    >>> f"{found.estimate}, p = {found.p:.3f}"
    '6,285.0 ± 4,637.3, p = 0.008'
    """
    if one.margin is None or other.margin is None:
        return None
    difference, margin = one.value - other.value, math.hypot(one.margin, other.margin)
    error = margin / Z
    p = math.erfc(abs(difference) / error / math.sqrt(2)) if error else float(difference == 0)
    return Difference(Estimate(difference, difference - margin, difference + margin), p, "two samples")


def paired(one: Sample, other: Sample) -> Difference | None:
    """Compare two samples pair by pair, with Student's t.

    Returns:
        The mean difference; None for fewer than two pairs.
    """
    differences = np.asarray(one, np.float64) - np.asarray(other, np.float64)
    estimate = mean_of(differences)
    if estimate.margin is None:
        return None
    degrees = len(differences) - 1
    error = estimate.margin / student_point(degrees)
    p = _student_p(abs(estimate.value) / error, degrees) if error else float(estimate.value == 0)
    return Difference(estimate, p, "paired")


def _student_p(t: float, degrees: int) -> float:
    """The probability that Student's t is beyond ± t (Abramowitz & Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan2(t, math.sqrt(degrees))
    cosine, term, total = math.cos(angle), 1.0, 0.0
    first = 1 if degrees % 2 else 0
    if first:
        term = cosine
    for k in range(first, degrees - 1, 2):
        total += term
        term *= cosine**2 * (k + 1) / (k + 2)
    inside = math.sin(angle) * total
    return 1 - ((2 / math.pi) * (angle + inside) if first else inside)


def max100(scores: Sample) -> Estimate | None:
    """Estimate the mean of the maxima of groups of 100 games, as Yeh et al. report it.

    Games beyond the last whole group are left out. The interval is a bootstrap percentile interval. For fewer than 30
    groups it is Student's: a bootstrap of two groups would contain the true value only half of the time.

    Args:
        scores: The scores in the order of the games.

    Returns:
        The estimate; None for fewer than 100 games.
    """
    groups = len(scores) // 100
    if groups == 0:
        return None
    maxima = scores[: groups * 100].reshape(groups, 100).max(axis=1)
    if groups < MIN_BOOTSTRAP_GROUPS:
        return mean_of(maxima)
    draws = np.random.default_rng(0).integers(0, groups, (RESAMPLES, groups))
    low, high = np.percentile(maxima[draws].mean(axis=1), [2.5, 97.5])
    return Estimate(float(maxima.mean()), float(low), float(high))
