"""Sweeps: train with every combination of some keys, evaluate each, and compare."""

import contextlib
import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tilewright._core.cluster import Cluster
from tilewright._core.plots import INK, new_figure, shorten, style
from tilewright._core.tables import Scalar
from tilewright.agents import make_agent
from tilewright.errors import ConfigError, FileError, JobsFailedError, SpecError
from tilewright.reproduce.experiments import Experiment, Row, Scale
from tilewright.reproduce.figures import COLOURS, MARKERS, draw_series
from tilewright.reproduce.report import Column, Table, html_table
from tilewright.reproduce.results import TrialResult, check_column, estimate_column, format_estimate, heading
from tilewright.reproduce.runner import SuiteResult, check_count, run_and_report
from tilewright.reproduce.store import safe_name
from tilewright.reproduce.suite import FIXED_KEYS, SuiteCallback, config_name
from tilewright.training.config import AnyConfig, TrainingConfig, read_config

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SweepResult", "sweep"]

REPORT_COLUMNS = ("score", "win", "max", "training-seconds")
Combination: TypeAlias = tuple[Scalar, ...]  # the values of the varied keys, in their order


@dataclass(frozen=True, repr=False)
class SweepResult(SuiteResult):
    """The results of a sweep.

    Attributes:
        trials: The results of all finished trials; a trial is a combination with one of its seeds.
        reports: The HTML report.
        failures: The jobs that failed.
        config: The name of the configuration.
        over: The keys that were varied, with their values.
    """

    config: str = ""
    over: Mapping[str, Sequence[object]] = field(default_factory=dict)

    @property
    def report(self) -> Path:
        """The HTML report."""
        return self.reports[0]

    @property
    def best(self) -> dict[str, Scalar]:
        """The combination with the highest mean score."""
        combinations = self._combinations()
        best = max(combinations, key=lambda values: _mean(combinations[values]))
        return dict(zip(self.over, best, strict=True))

    def __repr__(self) -> str:
        """Return the number of trials and the best combination."""
        combinations = self._combinations()
        values = ", ".join(f"{key}={value}" for key, value in self.best.items())
        score = max(_mean(trials) for trials in combinations.values())
        failed = f", {len(self.failures)} failed job{'s' if len(self.failures) > 1 else ''}" if self.failures else ""
        return (
            f"SweepResult({self.config} over {', '.join(self.over)}: {len(self.trials):,} trials{failed}; "
            f"best: {values} with mean score {score:,.0f})"
        )

    def _repr_html_(self) -> str:
        lines = []
        for values, trials in self._combinations().items():
            cells = [format_estimate(column, estimate_column(column, trials)) for column in REPORT_COLUMNS]
            lines.append([*map(str, values), *cells])
        columns = [Column(name) for name in (*self.over, *map(heading, REPORT_COLUMNS))]
        return html_table(Table(columns, lines))

    def plot(self, column: str = "score") -> "Axes":
        """Plot a result of every combination with its 95 % interval.

        The first key of `over` is on the x axis; there is a line for every combination of the others.

        Args:
            column: `score`, `win`, `max100`, `reach-2048` or another column of reports.

        Raises:
            UsageError: There is no such column.
        """
        check_column(column)
        combinations = self._combinations()
        axes = style(new_figure().add_subplot())
        ticks = list(dict.fromkeys(values[0] for values in combinations))
        numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in ticks)
        for i, rest in enumerate(dict.fromkeys(values[1:] for values in combinations)):
            points = [
                (float(values[0] or 0) if numeric else ticks.index(values[0]), estimate_column(column, trials))
                for values, trials in combinations.items()
                if values[1:] == rest
            ]
            label = ", ".join(f"{key} = {value}" for key, value in zip(list(self.over)[1:], rest, strict=True))
            colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
            draw_series(axes, sorted(points), color=colour, marker=marker, label=label)
        if not numeric:
            axes.set_xticks(range(len(ticks)), [str(value) for value in ticks])
        axes.set_xlabel(next(iter(self.over)), color=INK)
        axes.set_ylabel(heading(column), color=INK)
        shorten(axes.yaxis)
        if len(self.over) > 1:
            axes.legend(frameon=False, fontsize=9)
        return axes

    def _combinations(self) -> dict[Combination, list[TrialResult]]:
        """Return the trials of each combination, one for each seed."""
        found: dict[Combination, list[TrialResult]] = {}
        for trial in self.trials:
            found.setdefault(tuple(trial.trial.keys[key] for key in self.over), []).append(trial)
        return found


def sweep(
    config: str | Path | AnyConfig,
    over: Mapping[str, Sequence[object]],
    *,
    seeds: int = 1,
    evaluate_games: int = 200,
    agent: str = "",
    out: Path | str = "runs/sweep",
    threads: int | None = None,
    cluster: Cluster | None = None,
    callback: SuiteCallback | None = None,
    **changes: object,
) -> SweepResult:
    """Train with every combination of some keys, evaluate each, and write one report.

    Each training runs on one thread, and its length is counted in games (in steps for a deep network), so it gives
    the same bits wherever it runs. Results that are already in `out` are reused: a sweep that was stopped continues
    where it stopped.

    Args:
        config: The name of a preset, the path of a TOML file, or a configuration.
        over: The keys to vary, each with its values.
        seeds: The number of trainings for each combination.
        evaluate_games: The number of games of each evaluation.
        agent: The spec of the agent that is evaluated, in which `{model}` stands for the trained model, such as
            `expectimax:depth=2,model={model}` or `my_package.agents:MyAgent,model={model}`; empty for the agent that
            goes with the configuration.
        out: The folder of results, run folders and report.
        threads: The number of jobs that run at the same time; None for all processors.
        cluster: A Ray cluster that runs the jobs instead.
        callback: Called when something happens.
        changes: Other keys of the configuration with new values, such as `games=5000` for the length of each training;
            `lambda_` stands for `lambda`.

    Returns:
        The results of all trials that are finished; jobs that failed are in its `failures`.

    Raises:
        ConfigError: A key or a value is not possible.
        SpecError: There is no such agent.
        JobsFailedError: No trial was finished.

    >>> import tempfile
    >>> small = TrainingConfig(game="2048:rows=3,columns=3", network="", tuples=("012", "456"), games=50)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = sweep(small, over={"alpha": [0.25, 0.5]}, evaluate_games=20, out=folder)
    >>> result.to_dict()["alpha"]
    [0.25, 0.5]
    """
    check_count("seeds", seeds)
    check_count("evaluate_games", evaluate_games)
    axes = {_key(key): _values(key, values) for key, values in _mapping(over).items()}
    fixed = {_key(key): value for key, value in changes.items()}
    _check_keys(axes, fixed)
    _check_agent(agent)
    source = str(config) if isinstance(config, Path) else config
    rows, digest = [], hashlib.sha256(repr((agent, seeds, evaluate_games)).encode())
    for values in itertools.product(*axes.values()):
        point = dict(zip(axes, values, strict=True))
        label = ", ".join(f"{key} = {value}" for key, value in point.items())
        rows.append(Row(label, source, {**point, **fixed}, agent))
        changed = read_config(source, **point, **fixed)
        _check_length(changed)
        digest.update(changed.to_toml().encode())
    name, scale = config_name(source), Scale("sweep", seeds, evaluate_games)
    title = safe_name(f"{name}_{'_'.join(axes)}_{digest.hexdigest()[:8]}")
    experiment = Experiment(
        "sweep",
        f"Sweep of {name}",
        title,
        ", ".join(axes),
        f"{seeds} training{'s' if seeds > 1 else ''} of each combination, evaluated with {evaluate_games:,} games.",
        columns=REPORT_COLUMNS,
        figures=("curve-score",),
        rows=tuple(rows),
        scales={scale.name: scale},
    )
    plan = [(experiment, scale, Path(title))]
    result = run_and_report(plan, Path(out), threads=threads, cluster=cluster, callback=callback)
    if not result.trials:
        raise JobsFailedError("; ".join(f"{failure.label}: {failure.error}" for failure in result.failures))
    return SweepResult(result.trials, result.reports, result.failures, name, axes)


def _mapping(over: Mapping[str, Sequence[object]]) -> Mapping[str, Sequence[object]]:
    if not isinstance(over, Mapping) or not over:
        raise ConfigError(f"over = {over!r}: must have at least one key with a list of values")
    return over


def _key(key: str) -> str:
    """Return the key of a configuration that a keyword argument stands for: `lambda` for `lambda_`."""
    return key.rstrip("_") if isinstance(key, str) else key


def _values(key: str, values: Sequence[object]) -> list[object]:
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise ConfigError(f"over: {key} = {values!r}: must be a list of values")
    if len({repr(value) for value in values}) < len(values):
        raise ConfigError(f"over: {key} = {list(values)!r}: has a value twice")
    return list(values)


def _check_keys(over: Mapping[str, object], fixed: Mapping[str, object]) -> None:
    for key in (*over, *fixed):
        if key == "seed":
            raise ConfigError("seed: a sweep chooses the seeds itself; seeds is their number")
        if key in FIXED_KEYS:
            raise ConfigError(
                f"{key}: cannot be chosen in a sweep, which counts games or steps and evaluates at the end"
            )
        if key in over and key in fixed:
            raise ConfigError(f"{key}: is varied and set at the same time")


def _check_agent(agent: str) -> None:
    if not agent:
        return
    if "{model}" not in agent:
        raise SpecError(f"agent {agent}: must have an option with the value {{model}}, the trained model")
    with contextlib.suppress(FileError, OSError):  # raised by an agent that reads the model at once
        make_agent(agent.replace("{model}", "MODEL"))


def _check_length(config: AnyConfig) -> None:
    key = "games" if isinstance(config, TrainingConfig) else "total_steps"
    if not getattr(config, key):
        raise ConfigError(
            f"the configuration trains for {config.length}; a sweep needs a number of {key}, such as {key}=5000"
        )


def _mean(trials: Sequence[TrialResult]) -> float:
    estimate = estimate_column("score", trials)
    return 0.0 if estimate is None else estimate.value
