"""Words of messages: values as they are quoted, and the nearest known word."""

import difflib
from collections.abc import Iterable

__all__ = ["did_you_mean", "excerpt", "readable", "with_article"]

_LONGEST_WORD = 100  # that may be a slip of the pen


def excerpt(value: object, limit: int = 24) -> str:
    """Quote a value in at most `limit` characters, on one line.

    >>> excerpt([0] * 100)
    '[0, 0, 0, 0, 0, 0, 0…'
    """
    if type(value).__module__ == "numpy" and hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0:
        value = value.item()  # type: ignore[attr-defined]
    try:
        shown = repr(value)
    except ValueError:  # Python writes no number of more than some thousand digits
        return "a number of thousands of digits"
    shown = " ".join(shown.split("\n"))
    return shown if len(shown) <= limit else f"{shown[: limit - 4]}…"


def readable(text: str) -> str:
    """Return a text with question marks in place of parts that are not UTF-8, as parts of file names may be."""
    return text.encode("utf-8", "replace").decode()


def with_article(noun: str) -> str:
    """Return a noun with `a` or `an`.

    >>> with_article("agent"), with_article("HTML page"), with_article("game")
    ('an agent', 'an HTML page', 'a game')
    """
    return f"an {noun}" if noun.startswith(("HTML", *"aeiou")) else f"a {noun}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'greedy'?)` for the nearest known word, or nothing."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5) if len(word) < _LONGEST_WORD else []
    return f" (did you mean {close[0]!r}?)" if close else ""
