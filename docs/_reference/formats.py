"""The files of a run folder, and the columns of its tables."""

import dataclasses
import inspect
import re

from _reference.markdown import code, table
from tilewright.training import run_folder as run_folders
from tilewright.training.run_folder import (
    CurvePoint,
    DeepPoint,
    EpisodePoint,
    EvaluationPoint,
    Point,
    StagePoint,
    TrainingPoint,
)

__all__ = ["run_folder"]

_TABLES: dict[str, type[Point]] = {
    "`metrics.csv`, of every training": TrainingPoint,
    "`metrics.csv`, more columns of n-tuple networks": CurvePoint,
    "`metrics.csv`, more columns of deep networks": DeepPoint,
    "`evaluations.csv`": EvaluationPoint,
    "`episodes.csv`, of deep networks": EpisodePoint,
    "`stages.csv`": StagePoint,
}


def run_folder() -> str:
    """Return the list of files and the columns of every table, from the docstrings of the rows."""
    files = re.findall(r"^([\w.…, ]+?) {2,}(.+)$", run_folders.__doc__ or "", re.MULTILINE)
    rows = [(", ".join(code(name) for name in names.split(", ")), _sentence(text)) for names, text in files]
    return "\n".join([table(("file", "what it is"), rows), *(_columns(title, kind) for title, kind in _TABLES.items())])


def _sentence(text: str) -> str:
    return text[0].upper() + re.sub(r" \((columns: [^)]*|StagePoint)\)", "", text[1:]) + "."


def _columns(title: str, kind: type[Point]) -> str:
    """Return the docstring of a kind of rows as a section; it must describe every column."""
    text = inspect.cleandoc(kind.__doc__ or "")
    described = re.findall(r"^\| (\w+) +\|", text, re.MULTILINE)
    inherited = {field.name for field in dataclasses.fields(TrainingPoint)} if kind is not TrainingPoint else set()
    own = [field.name for field in dataclasses.fields(kind) if kind.__base__ is object or field.name not in inherited]
    if described[1:] != own:
        raise ValueError(f"{kind.__name__} has the columns {own}, its docstring {described[1:]}")
    _, _, rest = text.partition("\n\n")
    return f"### {title}\n\n{rest}\n"
