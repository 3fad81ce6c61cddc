"""The tree of errors is the one that its module draws."""

import copy
import re

import pytest

from tilewright import errors


def test_the_tree_is_as_drawn() -> None:
    def branch(error: type[Exception], prefix: str) -> list[str]:
        children = [child for child in error.__subclasses__() if child.__module__ == errors.__name__]
        lines = []
        for child in children:
            last = child is children[-1]
            lines.append(f"{prefix}{'└── ' if last else '├── '}{child.__name__}")
            lines += branch(child, prefix + ("    " if last else "│   "))
        return lines

    assert errors.__doc__ is not None
    drawn = re.findall(r"^([│├└─ ]*\w+Error)\b", errors.__doc__, re.MULTILINE)
    assert drawn == ["TilewrightError", *branch(errors.TilewrightError, "")]
    assert sorted(re.findall(r"\w+Error", "".join(drawn))) == errors.__all__


def test_errors_are_also_those_that_python_users_expect() -> None:
    assert issubclass(errors.UsageError, ValueError)
    assert issubclass(errors.MissingExtraError, ImportError)


@pytest.mark.parametrize("kind", [errors.UsageError, errors.FileError, errors.MissingExtraError, errors.ClusterError])
def test_a_message_is_one_printable_line_whatever_it_quotes(kind: type[errors.TilewrightError]) -> None:
    message = str(kind("first\nsecond \x1b[31mred\x00 \udcff 日本語 …"))
    assert message == r"first\nsecond \x1b[31mred\x00 \udcff 日本語 …"
    assert len(message.splitlines()) == 1
    assert str(kind(message)) == message  # a message within another one is not changed again


def test_a_message_that_is_too_long_keeps_its_beginning_and_its_reason() -> None:
    message = str(errors.SpecError(f"agent x, option depth={'9' * 50_000}: must be a whole number"))
    assert len(message) < 1_500
    assert message.startswith("agent x, option depth=999")
    assert message.endswith("999: must be a whole number")


def test_jobs_that_failed_have_a_line_each() -> None:
    assert str(errors.JobsFailedError("a: no\ntilewright: b: \x07")) == "a: no\ntilewright: b: \\x07"


@pytest.mark.parametrize("kind", [errors.UsageError, errors.JobsFailedError, errors.MissingExtraError])
def test_an_error_travels_between_processes(kind: type[errors.TilewrightError]) -> None:
    error = kind("no\nmore")
    copied = copy.copy(error)  # made as another process makes it, from its class and arguments
    assert (type(copied), str(copied)) == (kind, str(error))
