"""Checks of option values, with messages that name the option, its value and what is allowed."""

import math
from collections.abc import Collection
from numbers import Integral, Real

from tilewright._core.registry import did_you_mean
from tilewright.errors import UsageError

__all__ = ["check_choice", "check_integer", "check_range", "check_that"]


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
    value: object,
    low: float,
    high: float | None = None,
    *,
    above: bool = False,
    error: type[UsageError] = UsageError,
) -> None:
    """Raise `error` unless `value` is a number from `low` to `high`, both included.

    >>> check_range("lambda = 2", 2, 0, 1)
    Traceback (most recent call last):
    ...
    tilewright.errors.UsageError: lambda = 2: must be from 0 to 1

    Args:
        option: What the message begins with, such as `lambda = 2`.
        value: The value to check; NaN is outside every range.
        low: The smallest allowed value.
        high: The largest allowed value; None for no limit.
        above: Whether `low` itself is excluded.
        error: The class to raise.
    """
    if not isinstance(value, Real) or isinstance(value, bool):
        raise error(f"{option}: must be a number")
    number = float(value) if not isinstance(value, Integral) else int(value)
    too_low = number < low or (above and number == low)
    if too_low or (high is not None and number > high) or math.isnan(number):
        raise error(f"{option}: must be {_limits(low, high, above)}")


def check_integer(
    option: str, value: object, low: int, high: int | None = None, *, error: type[UsageError] = UsageError
) -> None:
    """Raise `error` unless `value` is a whole number from `low` to `high`, both included.

    >>> check_integer("rows = 2.5", 2.5, 2, 4)
    Traceback (most recent call last):
    ...
    tilewright.errors.UsageError: rows = 2.5: must be a whole number from 2 to 4
    """
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or int(value) < low or (high is not None and int(value) > high):  # type: ignore[call-overload]
        raise error(f"{option}: must be a whole number {_limits(low, high)}")


def check_choice(option: str, value: str, allowed: Collection[str], error: type[UsageError] = UsageError) -> None:
    """Raise `error` unless `value` is one of `allowed`; suggests the nearest one.

    >>> check_choice("loss = 'hubr'", "hubr", ("mse", "huber"))
    Traceback (most recent call last):
    ...
    tilewright.errors.UsageError: loss = 'hubr' (did you mean 'huber'?); allowed: mse, huber
    """
    if value not in allowed:
        raise error(f"{option}{did_you_mean(str(value), allowed)}; allowed: {', '.join(allowed)}")


def _limits(low: float, high: float | None, above: bool = False) -> str:
    if high is None:
        return f"above {low:,}" if above else f"from {low:,} up"
    return f"above {low:,} and at most {high:,}" if above else f"from {low:,} to {high:,}"
