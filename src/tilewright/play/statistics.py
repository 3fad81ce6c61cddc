"""Estimates with 95 % intervals: means, rates, and the mean of the best of every hundred games."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimate", "max100", "mean_of", "rate_of"]

Z = 1.959963984540054  # the normal distribution's 97.5 % point
RESAMPLES = 2_000
ENOUGH_GROUPS = 30  # for a bootstrap

# Student's 97.5 % points for 1 to 29 degrees of freedom.
_STUDENT = (
    12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139,
    2.200985, 2.178813, 2.160369, 2.144787, 2.131450, 2.119905, 2.109816, 2.100922, 2.093024, 2.085963,
    2.079614, 2.073873, 2.068658, 2.063899, 2.059539, 2.055529, 2.051831, 2.048407, 2.045230,
)  # fmt: skip


class Estimate(NamedTuple):
    """A figure and its 95 % interval; the ends are None where the sample is too small for one."""

    value: float
    low: float | None
    high: float | None

    @property
    def margin(self) -> float | None:
        """Half the width of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def to_json(self) -> dict[str, Any]:
        return {"mean": self.value, "ci95": None if self.low is None else [self.low, self.high]}


def student_point(degrees: int) -> float:
    """Student's 97.5 % point: a table for few degrees of freedom, Fisher's expansion beyond."""
    if degrees <= len(_STUDENT):
        return _STUDENT[degrees - 1]
    z, n = Z, degrees
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    )


def mean_of(sample: NDArray[Any]) -> Estimate:
    """The mean of a sample, with Student's interval."""
    mean, n = float(np.mean(sample)), len(sample)
    if n < 2:
        return Estimate(mean, None, None)
    margin = student_point(n - 1) * float(np.std(sample, ddof=1)) / math.sqrt(n)
    return Estimate(mean, mean - margin, mean + margin)


def rate_of(hits: int, n: int) -> Estimate:
    """A rate, with Wilson's interval.

    >>> rate_of(0, 100).high < 0.04
    True
    """
    rate, z2 = hits / n, Z * Z
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    margin = Z / (1 + z2 / n) * math.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    low = 0.0 if hits == 0 else centre - margin  # exactly: rounding would put it beside the rate itself
    high = 1.0 if hits == n else centre + margin
    return Estimate(rate, low, high)


def max100(scores: NDArray[Any]) -> Estimate | None:
    """The mean over every hundred games of their best score, as Yeh et al. report it, with its interval.

    None for less than a hundred games; games beyond a whole hundred do not count. The interval is a bootstrap's, but of
    few hundreds Student's: drawn from two of them, a bootstrap's 95 % would hold the truth half of the time.
    """
    groups = len(scores) // 100
    if groups == 0:
        return None
    best = scores[: groups * 100].reshape(groups, 100).max(axis=1)
    if groups < ENOUGH_GROUPS:
        return mean_of(best)
    draws = np.random.default_rng(0).integers(0, groups, (RESAMPLES, groups))
    low, high = np.percentile(best[draws].mean(axis=1), [2.5, 97.5])
    return Estimate(float(best.mean()), float(low), float(high))
