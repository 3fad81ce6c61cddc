"""The tree of errors is the one that its module draws."""

import re

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
