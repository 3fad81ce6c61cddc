"""Checks of option values: what passes, and what the message says."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tilewright._core.checks import Range, check_choice, check_integer, check_range
from tilewright._core.text import excerpt
from tilewright.errors import SpecError, UsageError


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.5), np.int64(1), Fraction(1, 3)])
def test_numbers_within_the_range_pass(value: object) -> None:
    check_range("x", value, 0, 1)


@pytest.mark.parametrize(
    ("value", "limits", "message"),
    [
        (1.5, (0, 1, False), "x: must be from 0 to 1"),
        (math.nan, (0, 1, False), "x: must be from 0 to 1"),
        (-1, (0, None, False), "x: must be from 0 up"),
        (0, (0, None, True), "x: must be above 0"),
        (9000, (0, 5000, True), "x: must be above 0 and at most 5,000"),
        pytest.param(10**5000, (0, 1, False), "x: must be from 0 to 1", id="5001 digits"),
        ("1", (0, 1, False), "x: must be a number"),
        (True, (0, 1, False), "x: must be a number"),
        (None, (0, 1, False), "x: must be a number"),
        (1j, (0, 1, False), "x: must be a number"),
    ],
)
def test_other_values_are_refused(value: object, limits: tuple[float, float | None, bool], message: str) -> None:
    low, high, above = limits
    with pytest.raises(SpecError) as refused:
        check_range("x", value, low, high, above=above, error=SpecError)
    assert str(refused.value) == message


@pytest.mark.parametrize("value", [2.0, "2", True, None, 1, 5, np.float64(3), pytest.param(10**5000, id="5001 digits")])
def test_what_is_no_whole_number_of_the_range_is_refused(value: object) -> None:
    with pytest.raises(UsageError, match=r"^x: must be a whole number from 2 to 4$"):
        check_integer("x", value, 2, 4)


def test_whole_numbers_of_numpy_pass() -> None:
    check_integer("x", np.uint8(3), 2, 4)
    check_integer("x", 10**30, 2)


@pytest.mark.parametrize(
    ("value", "limits", "message"),
    [
        (5, Range(2, 4), "x: must be a whole number from 2 to 4"),
        (2.0, Range(2, 4), "x: must be a whole number from 2 to 4"),
        (True, Range(0, 4), "x: must be a whole number from 0 to 4"),
        pytest.param(10**5000, Range(0, 4), "x: must be a whole number from 0 to 4", id="5001 digits"),
    ],
)
def test_whole_numbers_outside_a_range_are_refused(value: object, limits: Range, message: str) -> None:
    with pytest.raises(SpecError) as refused:
        limits.check("x", value, whole=True, error=SpecError)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("value", "limits", "message"),
    [
        (0, Range(0, 2, above=True), "x: must be above 0 and at most 2"),
        (math.nan, Range(0, 1), "x: must be from 0 to 1"),
        (math.inf, Range(0, 10**9), "x: must be from 0 to 1,000,000,000"),
        (-math.inf, Range(0, 10**9), "x: must be from 0 to 1,000,000,000"),
        ("1", Range(0, 1), "x: must be a number from 0 to 1"),
        (None, Range(0, 1), "x: must be a number from 0 to 1"),
    ],
)
def test_numbers_outside_a_range_are_refused(value: object, limits: Range, message: str) -> None:
    assert value not in limits
    with pytest.raises(UsageError) as refused:
        limits.check("x", value)
    assert str(refused.value) == message


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.5), np.int64(1), Fraction(1, 3)])
def test_numbers_within_a_range_pass(value: object) -> None:
    Range(0, 1).check("x", value)


def test_a_choice_suggests_the_nearest() -> None:
    check_choice("x", "mse", ("mse", "huber"))
    with pytest.raises(UsageError, match=r"^x \(did you mean 'huber'\?\); allowed: mse, huber$"):
        check_choice("x", "hubr", ("mse", "huber"))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (3, "3"),
        (np.int64(3), "3"),
        ("two\nlines", r"'two\nlines'"),
        pytest.param(10**5000, "a number of thousands of digits", id="5001 digits"),
        ("x" * 100, "'" + 19 * "x" + "…"),
        (np.zeros((2, 2), int), "array([[0, 0],        [0, 0]])"[:20] + "…"),
    ],
)
def test_an_excerpt_is_short_and_on_one_line(value: object, shown: str) -> None:
    assert excerpt(value) == shown
