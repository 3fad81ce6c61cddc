"""Checks of option values, with messages that name the option, its value and what is allowed."""

import math
from collections.abc import Collection

from tilewright._core.registry import did_you_mean
from tilewright.errors import UsageError

__all__ = ["check_choice", "check_range", "check_that"]


def check_that(holds: bool, option: str, complaint: str, error: type[UsageError] = UsageError) -> None:
    """Raise `error` with the message `option: complaint` unless `holds`.

    >>> check_that(False, "agent uct, option c=-1", "must be at least 0")
    Traceback (most recent call last):
    ...
    tilewright.errors.UsageError: agent uct, option c=-1: must be at least 0
    """
    if not holds:
        raise error(f"{option}: {complaint}")


def check_range(
    option: str,
    value: float,
    low: float,
    high: float | None = None,
    *,
    above: bool = False,
    error: type[UsageError] = UsageError,
) -> None:
    """Raise `error` unless `value` lies between `low` and `high`, both included.

    Args:
        option: What the message begins with, such as `lambda = 2`.
        value: The number to check; NaN is outside of every range.
        low: The smallest allowed value.
        high: The largest allowed value; None for no limit.
        above: Whether `low` itself is excluded.
        error: The class to raise.
    """
    too_low = value < low or (above and value == low)
    if too_low or (high is not None and value > high) or math.isnan(value):
        limits = f"{'above' if above else 'from'} {low:,}{'' if high is None else f' to {high:,}'}"
        raise error(f"{option}: must be {limits}")


def check_choice(option: str, value: str, allowed: Collection[str], error: type[UsageError] = UsageError) -> None:
    """Raise `error` unless `value` is one of `allowed`; suggests the nearest one.

    >>> check_choice("loss = 'hubr'", "hubr", ("mse", "huber"))
    Traceback (most recent call last):
    ...
    tilewright.errors.UsageError: loss = 'hubr' (did you mean 'huber'?); allowed: mse, huber
    """
    if value not in allowed:
        raise error(f"{option}{did_you_mean(str(value), allowed)}; allowed: {', '.join(allowed)}")
