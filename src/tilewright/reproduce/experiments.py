"""Experiments as the files of `papers/` declare them: rows to train and test, scales, and the paper's own figures."""

import dataclasses
import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from tilewright._core.registry import did_you_mean
from tilewright.errors import ConfigError, UsageError

__all__ = ["SCALES", "Experiment", "Row", "Scale", "Stated", "all_experiments", "find_experiment"]

SCALES = {
    "quick": "minutes for all: shows that everything runs, says little of strength",
    "standard": "what a laptop does overnight: fewer games than the papers where those took days, or a faster rule",
    "full": "the papers' own numbers of games and repeats, where they state them",
}


@dataclass(frozen=True)
class Stated:
    """A figure that the paper states, with half of its 95 % interval, 0 where it gives none."""

    value: float
    margin: float


@dataclass(frozen=True)
class Row:
    """One line of a table: who is trained, if anybody, who plays, and what the paper found."""

    label: str
    config: str = ""  # a preset; without one nothing is trained
    changes: Mapping[str, Any] = field(default_factory=dict)  # to the recipe
    agent: str = ""  # that which plays what the recipe trains
    game: str = ""  # that of the recipe, or 2048
    slow: bool = False  # takes long to test: has fewer games
    series: str = ""  # what it is drawn with, and where
    x: float = 0
    paper: Mapping[str, Stated] = field(default_factory=dict)


@dataclass(frozen=True)
class Scale:
    """How much of the paper's effort is made."""

    name: str
    seeds: int = 1
    tests: int = 100  # games of a test
    slow_tests: int = 0  # and of a slow one; 0: as many
    games: int = 0  # of training; 0: those of the recipe
    stage_games: int = 0  # of training, for every stage, instead
    steps: int = 0  # the same for deep networks, which count moves
    changes: Mapping[str, Any] = field(default_factory=dict)
    rows: tuple[str, ...] = ()  # the labels of those that are played; none: all
    shrink: int = 1  # what the tiles of stage borders are divided by


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper."""

    paper: str  # the name of its file
    paper_title: str
    name: str
    title: str
    text: str
    columns: tuple[str, ...]
    figures: tuple[str, ...]
    rows: tuple[Row, ...]
    scales: Mapping[str, Scale]
    paper_games: int = 0  # how many games the paper's rates come from; 0: it states their intervals, or none

    @property
    def path(self) -> str:
        """`szubert-2014/table-1`."""
        return f"{self.paper}/{self.name}"

    def rows_at(self, scale: Scale) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if not scale.rows or row.label in scale.rows)


@functools.cache
def all_experiments() -> dict[str, Experiment]:
    """All experiments by their paths, papers in the order of their names."""
    files = sorted(resources.files("tilewright.reproduce").joinpath("papers").iterdir(), key=lambda file: file.name)
    found: dict[str, Experiment] = {}
    for file in files:
        if file.name.endswith(".toml"):
            found |= _read_paper(file.name.removesuffix(".toml"), file.read_text("utf-8"))
    return found


def find_experiment(path: str) -> list[Experiment]:
    """The experiment of that path, or all of a paper.

    >>> [found.name for found in find_experiment("szubert-2014/table-1")]
    ['table-1']
    """
    known = all_experiments()
    found = [one for name, one in known.items() if path in (name, one.paper)]
    if not found:
        names = [*known, *{one.paper for one in known.values()}]
        raise UsageError(f"there is no experiment {path!r}{did_you_mean(path, names)}; tilewright reproduce lists them")
    return found


def _read_paper(paper: str, text: str) -> dict[str, Experiment]:
    """What a file declares; a slip in it is told with the place."""
    entries = tomllib.loads(text)
    rows: dict[str, tuple[Row, ...]] = {}
    found: dict[str, Experiment] = {}
    for entry in entries["experiments"]:
        place = f"{paper}/{entry['name']}"
        try:
            sources = entry.pop("rows_of", [])
            borrowed = [row for name in ([sources] if isinstance(sources, str) else sources) for row in rows[name]]
            own = [_read_row(row) for row in entry.pop("rows", [])]
            rows[entry["name"]] = (*borrowed, *own)
            shrink = entry.pop("shrink", {})
            scales = {name: _read_scale(name, entry.pop(name), shrink.get(name, 1)) for name in SCALES}
            experiment = Experiment(
                paper,
                entries["title"],
                rows=rows[entry["name"]],
                scales=scales,
                columns=tuple(entry.pop("columns")),
                figures=tuple(entry.pop("figures", ())),
                **entry,
            )
        except (KeyError, TypeError) as error:
            raise ConfigError(f"{place}: {error}") from None
        found[place] = experiment
    return found


def _read_row(entry: dict[str, Any]) -> Row:
    changes = entry.pop("set", {})
    paper = {name: Stated(float(value), float(margin)) for name, (value, margin) in entry.pop("paper", {}).items()}
    return Row(changes=changes, paper=paper, **entry)


def _read_scale(name: str, entry: dict[str, Any], shrink: int) -> Scale:
    changes, rows = entry.pop("set", {}), tuple(entry.pop("rows", ()))
    return dataclasses.replace(Scale(name, **entry), changes=changes, rows=rows, shrink=shrink)
