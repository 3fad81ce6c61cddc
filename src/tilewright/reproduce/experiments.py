"""The experiments of the papers, as the files in `papers/` declare them.

An experiment is a table or a figure of a paper: rows to train and evaluate, three scales, and the paper's own results.
"""

import dataclasses
import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from tilewright._core.text import did_you_mean
from tilewright.errors import ConfigError, UsageError
from tilewright.training.config import AnyConfig

__all__ = [
    "SCALES",
    "Comparison",
    "Experiment",
    "PaperValue",
    "Row",
    "Scale",
    "all_experiments",
    "find_experiments",
    "paper_titles",
]

SCALES = {
    "quick": "a few minutes for everything; shows that it runs, and says little about strength",
    "standard": "a night on a laptop; fewer games than the papers where those took days, or a faster update rule",
    "full": "the numbers of games and runs of the papers, where they state them",
}


@dataclass(frozen=True)
class PaperValue:
    """A result that a paper states.

    Attributes:
        value: The result.
        margin: Half the width of its 95 % interval; 0 if the paper gives none.
    """

    value: float
    margin: float


@dataclass(frozen=True)
class Comparison:
    """A claim of a paper: one row is better than another.

    Attributes:
        better: The name of the row that the paper finds better; `table-1: LABEL` for a row of another experiment.
        worse: The name of the other row.
        column: The column that is compared.
    """

    better: str
    worse: str
    column: str = "score"


@dataclass(frozen=True)
class Row:
    """A row of a table: what is trained, who plays, and what the paper found.

    Attributes:
        label: What the table calls the row.
        config: A preset, the path of a file or a configuration to train with; empty if nothing is trained.
        changes: Keys of the configuration with new values.
        agent: The spec of the agent that is evaluated, in which `{model}` stands for the trained model; empty for the
            agent that goes with the configuration.
        game: The spec of the game of the evaluation; empty for the game of the configuration, or 2048.
        slow: Whether evaluation takes long, so that there are fewer games.
        series: The series of the row in figures of points.
        x: The place of the row on the x axis of such figures.
        paper: The results of the paper by column.
        beside: Whether the paper's results are only beside it, of another game or configuration: they are not compared.
    """

    label: str
    config: str | AnyConfig = ""
    changes: Mapping[str, object] = field(default_factory=dict)
    agent: str = ""
    game: str = ""
    slow: bool = False
    series: str = ""
    x: float = 0
    paper: Mapping[str, PaperValue] = field(default_factory=dict)
    beside: bool = False


@dataclass(frozen=True)
class Scale:
    """How much of the paper's effort is made.

    Attributes:
        name: The name of the scale.
        seeds: The number of runs of each row.
        evaluation_games: The number of games of an evaluation.
        slow_evaluation_games: The same for slow rows; 0 for the same number.
        training_games: The number of games of a training; 0 for that of the configuration.
        stage_games: The number of games of a training for each of its stages, instead of `training_games`.
        training_steps: The number of steps of the training of a deep network; 0 for that of the configuration.
        changes: Keys of all configurations with new values.
        rows: The labels of the rows of this scale; empty for all.
        shrink: What the tiles of the borders between stages are divided by.
        selection_games: With `best_by` of the experiment: the number of games that the best seed is chosen by.
    """

    name: str
    seeds: int = 1
    evaluation_games: int = 100
    slow_evaluation_games: int = 0
    training_games: int = 0
    stage_games: int = 0
    training_steps: int = 0
    changes: Mapping[str, object] = field(default_factory=dict)
    rows: tuple[str, ...] = ()
    shrink: int = 1
    selection_games: int = 0

    def games_of(self, row: Row) -> int:
        """Return the number of games that a row is evaluated with."""
        return self.slow_evaluation_games if row.slow and self.slow_evaluation_games else self.evaluation_games


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of a paper.

    Attributes:
        paper: The name of the paper's file.
        paper_title: Authors and year.
        name: The name of the experiment.
        title: What the experiment is about.
        text: Remarks for the reader of the report.
        columns: The columns of the table.
        figures: The names of the plots.
        rows: The rows of the table.
        scales: The scales by name.
        paper_games: The number of games behind the paper's rates; 0 if it states their intervals, or nothing.
        link: The address of the paper.
        claim: What the paper found, in a sentence.
        comparisons: The claim as comparisons of rows.
        remark: What a reader of the verdict should know.
        stages_improve: Whether the claim is that later stages come to play their boards better than the stage before.
        best_by: The column by which the best seed of a row is chosen; only that one is evaluated with all games.
    """

    paper: str
    paper_title: str
    name: str
    title: str
    text: str
    columns: tuple[str, ...]
    figures: tuple[str, ...]
    rows: tuple[Row, ...]
    scales: Mapping[str, Scale]
    paper_games: int = 0
    link: str = ""
    claim: str = ""
    comparisons: tuple[Comparison, ...] = ()
    remark: str = ""
    stages_improve: bool = False
    best_by: str = ""

    @property
    def path(self) -> str:
        """The name that it is found by, such as `szubert-2014/table-1`."""
        return f"{self.paper}/{self.name}"

    def rows_at(self, scale: Scale) -> tuple[Row, ...]:
        """Return the rows that a scale has."""
        return tuple(row for row in self.rows if not scale.rows or row.label in scale.rows)

    def row_name(self, row: Row) -> str:
        """Return the label of a row, with the beginning of its series where rows have the same label."""
        shared = sum(other.label == row.label for other in self.rows) > 1
        return f"{row.series.partition(',')[0]}: {row.label}" if shared else row.label


@functools.cache
def all_experiments() -> dict[str, Experiment]:
    """Return all experiments by their paths, sorted by paper.

    >>> len(all_experiments()["szubert-2014/table-1"].rows)
    15
    """
    files = sorted(resources.files("tilewright.reproduce").joinpath("papers").iterdir(), key=lambda file: file.name)
    experiments: dict[str, Experiment] = {}
    for file in files:
        if file.name.endswith(".toml"):
            experiments |= _read_paper(file.name.removesuffix(".toml"), file.read_text("utf-8"))
    return experiments


def paper_titles() -> dict[str, str]:
    """Return the titles of all papers by their names."""
    return {experiment.paper: experiment.paper_title for experiment in all_experiments().values()}


def find_experiments(path: str) -> list[Experiment]:
    """Find the experiment of a path, or all experiments of a paper.

    Args:
        path: `szubert-2014/table-1`, or `szubert-2014`.

    Raises:
        UsageError: There is no such experiment.

    >>> [experiment.name for experiment in find_experiments("chen-2019")]
    ['values', 'figure-7']
    """
    known = all_experiments()
    found = [experiment for name, experiment in known.items() if path in (name, experiment.paper)]
    if not found:
        papers = list(dict.fromkeys(experiment.paper for experiment in known.values()))
        hint = did_you_mean(path, [*known, *papers])
        raise UsageError(f"there is no experiment {path!r}{hint}; papers: {', '.join(papers)}")
    return found


def _read_paper(paper: str, text: str) -> dict[str, Experiment]:
    """Read the experiments of a file; an error names the experiment."""
    entries = tomllib.loads(text)
    rows: dict[str, tuple[Row, ...]] = {}
    experiments: dict[str, Experiment] = {}
    for entry in entries["experiments"]:
        path = f"{paper}/{entry['name']}"
        try:
            sources = entry.pop("rows_of", [])
            borrowed = [row for name in ([sources] if isinstance(sources, str) else sources) for row in rows[name]]
            own = [_read_row(row) for row in entry.pop("rows", [])]
            rows[entry["name"]] = (*borrowed, *own)
            shrink = entry.pop("shrink", {})
            scales = {name: _read_scale(name, entry.pop(name), shrink.get(name, 1)) for name in SCALES}
            experiments[path] = Experiment(
                paper,
                entries["title"],
                rows=rows[entry["name"]],
                scales=scales,
                columns=tuple(entry.pop("columns")),
                comparisons=tuple(Comparison(**comparison) for comparison in entry.pop("comparisons", ())),
                link=entries.get("link", ""),
                figures=tuple(entry.pop("figures", ())),
                **entry,
            )
        except (KeyError, TypeError) as error:
            raise ConfigError(f"{path}: {error}") from None
    return experiments


def _read_row(entry: dict[str, Any]) -> Row:
    changes = entry.pop("set", {})
    paper = {name: PaperValue(float(value), float(margin)) for name, (value, margin) in entry.pop("paper", {}).items()}
    return Row(changes=changes, paper=paper, **entry)


def _read_scale(name: str, entry: dict[str, Any], shrink: int) -> Scale:
    changes, rows = entry.pop("set", {}), tuple(entry.pop("rows", ()))
    return dataclasses.replace(Scale(name, **entry), changes=changes, rows=rows, shrink=shrink)
