"""Markdown from rows of text."""

from collections.abc import Iterable, Sequence

__all__ = ["code", "table"]


def code(text: object) -> str:
    """Return the text as code; empty text stays empty."""
    return f"`{text}`" if str(text) else ""


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table of the site's class `reference`; bars inside a cell are escaped."""
    lines = [headings, ["---"] * len(headings), *rows]
    cells = [[" ".join(str(cell).replace("|", "\\|").split()) for cell in line] for line in lines]
    body = "\n".join("| " + " | ".join(line) + " |" for line in cells)
    return f":::{{table}}\n:class: reference\n\n{body}\n:::\n"
