"""Checks of option values, with messages that name the option, its value and what is allowed."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from numbers import Integral, Real

from tilewright._core.text import did_you_mean
from tilewright.errors import UsageError

__all__ = ["Range", "check_choice", "check_integer", "check_range", "check_that"]


@dataclass(frozen=True)
class Range:
    """The least and the largest value of a number. Options and keys declare it, so that errors and listings know it.

    Attributes:
        least: The least allowed value.
        largest: The largest allowed value.
        above: Whether `least` itself is excluded.

    >>> print(Range(1, 3_600_000))
    from 1 to 3,600,000
    >>> 12 in Range(1, 12), float("nan") in Range(0, 1), 0 in Range(0, 1, above=True)
    (True, False, False)
    """

    least: float
    largest: float
    above: bool = False

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        number = int(value) if isinstance(value, Integral) else float(value)
        return self.least <= number <= self.largest and not (self.above and number == self.least)

    def __str__(self) -> str:
        return _limits(self.least, self.largest, self.above)

    def check(self, option: str, value: object, *, whole: bool = False, error: type[UsageError] = UsageError) -> None:
        """Raise `error` unless `value` is in the range.

        >>> Range(2, 4).check("rows = 2.5", 2.5, whole=True)
        Traceback (most recent call last):
        ...
        tilewright.errors.UsageError: rows = 2.5: must be a whole number from 2 to 4

        Args:
            option: What the message begins with, such as `lambda = 2`.
            value: The value to check.
            whole: Whether it must be a whole number.
            error: The class to raise.
        """
        if value not in self or (whole and not isinstance(value, Integral)):
            is_number = isinstance(value, Real) and not isinstance(value, bool)
            noun = "a whole number " if whole else "" if is_number else "a number "
            raise error(f"{option}: must be {noun}{self}")


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
