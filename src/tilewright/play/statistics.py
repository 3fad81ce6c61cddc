"""Estimates with 95 % confidence intervals: means, rates, and the mean of the maxima of groups of 100 games."""

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimate", "max100", "mean_of", "rate_of", "student_point"]

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
