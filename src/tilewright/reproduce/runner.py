"""Running experiments to the end: jobs, reports, and tables of all trials."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright._core.checks import check_choice
from tilewright._core.cluster import Cluster
from tilewright._core.files import make_folder
from tilewright._core.frames import data_frame
from tilewright._core.outputs import check_output
from tilewright._core.parallel import check_threads, default_threads
from tilewright._core.tables import Columns, columns_of, write_table
from tilewright.errors import FileError, TilewrightError, UsageError
from tilewright.reproduce.experiments import SCALES, Experiment, Scale, all_experiments, find_experiments
from tilewright.reproduce.index import INDEX, INDEX_NAME, write_html_index, write_index, write_summary
from tilewright.reproduce.report import make_report, write_html, write_markdown
from tilewright.reproduce.results import TrialResult, collect_trials, plan_best, to_records
from tilewright.reproduce.store import Store
from tilewright.reproduce.suite import SuiteCallback, Trial, plan_trials, run_suite

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Failure", "SuiteResult", "check_count", "load_results", "run_and_report", "run_experiments"]


@dataclass(frozen=True)
class Failure:
    """A job that ended with an error.

    Attributes:
        label: The row and the job.
        error: The error.
    """

    label: str
    error: TilewrightError


@dataclass(frozen=True, repr=False)
class SuiteResult:
    """The results of a suite of experiments.

    Attributes:
        trials: The results of all finished trials; a trial is a row of a table with one of its seeds.
        reports: The reports, and the list of all Markdown reports if there is one.
        failures: The jobs that failed.
    """

    trials: tuple[TrialResult, ...]
    reports: tuple[Path, ...] = ()
    failures: tuple[Failure, ...] = ()

    def __repr__(self) -> str:
        """Return the number of trials and of failed jobs."""
        failed = f", {len(self.failures)} failed job{'s' if len(self.failures) > 1 else ''}" if self.failures else ""
        return f"{type(self).__name__}({len(self.trials):,} trials{failed})"

    def to_dict(self) -> Columns:
        """Return the table of all trials as columns: one row a trial.

        The columns are experiment, row, seed, every key that is varied, agent, game, number of games, mean score,
        max100, win rate and reach rates with their 95 % intervals, median and maximum of the scores, moves, times, run
        folder, machine, version and date.
        """
        return columns_of(to_records(self.trials))

    def to_frame(self) -> "DataFrame":
        """Return the table of all trials as a pandas DataFrame, with the columns of `to_dict`.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        return data_frame(self.to_dict())

    def to_csv(self, path: Path | str, *, force: bool = False) -> None:
        """Write the table of all trials to a CSV file, or to a Parquet file if the name ends in `.parquet`.

        Args:
            path: The file.
            force: Whether to replace an existing file of another kind.

        Raises:
            MissingExtraError: The file is to be Parquet, and pyarrow is not installed.
            FileError: The file cannot be written, or is of another kind.
        """
        write_table(path, self.to_dict(), force=force)


def run_experiments(
    experiments: Sequence[Experiment | str],
    scale: str = "quick",
    *,
    out: Path | str = "runs/reproduce",
    markdown: Path | str | None = None,
    force: bool = False,
    threads: int | None = None,
    cluster: Cluster | None = None,
    callback: SuiteCallback | None = None,
) -> SuiteResult:
    """Run experiments of the papers, and write a report for each.

    Jobs that are finished are not run again: a run that was stopped continues where it was.

    Args:
        experiments: Experiments, or the paths of experiments or papers, such as `chen-2019`.
        scale: `quick`, `standard` or `full`.
        out: The folder of results and reports.
        markdown: A second folder for the Markdown reports, with a list of all reports that are there.
        force: Whether reports may replace files of another kind.
        threads: The number of jobs that run at the same time; None for all processors.
        cluster: A Ray cluster that runs the jobs instead.
        callback: Called when something happens.

    Raises:
        UsageError: There is no such experiment, or another argument is not possible.
    """
    check_choice(f"scale = {scale!r}", scale, SCALES)
    found = [
        experiment
        for item in experiments
        for experiment in ([item] if isinstance(item, Experiment) else find_experiments(item))
    ]
    chosen = {experiment.path: experiment for experiment in found}
    plans = [
        (experiment, experiment.scales[scale], Path(experiment.paper) / f"{experiment.name}-{scale}")
        for experiment in chosen.values()
    ]
    return run_and_report(
        plans, Path(out), markdown=markdown, force=force, threads=threads, cluster=cluster, callback=callback
    )


def run_and_report(
    plans: Sequence[tuple[Experiment, Scale, Path]],
    out: Path,
    *,
    markdown: Path | str | None = None,
    force: bool = False,
    threads: int | None = None,
    cluster: Cluster | None = None,
    callback: SuiteCallback | None = None,
) -> SuiteResult:
    """Run experiments, and write for each `report.html`, `report.md` and `trials.csv`.

    Args:
        plans: Experiments, their scales, and the folders of their reports relative to `out`.
        out: As in `run_experiments`, like all other arguments.
        markdown: A second folder for the Markdown reports.
        force: Whether reports may replace files of another kind.
        threads: The number of jobs that run at the same time.
        cluster: A Ray cluster that runs the jobs instead.
        callback: Called when something happens.
    """
    if "," in str(out):
        raise UsageError(f"{out}: a folder of results must not have a comma in its name; it separates agent options")
    if threads is not None:
        check_threads(threads)
    if markdown is not None:
        make_folder(Path(markdown))
        check_output(Path(markdown) / INDEX_NAME, INDEX, force=force)
    store = Store(out)
    trials = [_plan_labelled(experiment, scale, several=len(plans) > 1) for experiment, scale, _ in plans]
    workers = cluster.processors if cluster is not None else threads or default_threads()
    failed = run_suite(list(chain(*trials)), store, workers=workers, callback=callback, cluster=cluster)
    best = [
        plan_best(experiment, scale, store) if experiment.best_by and scale.selection_games else []
        for experiment, scale, _ in plans
    ]
    if any(best):
        failed += run_suite(list(chain(*best)), store, workers=workers, callback=callback, cluster=cluster)
    trials = [[*planned, *chosen] for planned, chosen in zip(trials, best, strict=True)]
    finished: list[TrialResult] = []
    reports: list[Path] = []
    for (experiment, scale, folder), planned in zip(plans, trials, strict=True):
        results = SuiteResult(tuple(collect_trials([trial.record for trial in planned], store)))
        report = make_report(experiment, scale, store)
        reports.append(write_html(report, out / folder, force=force))
        write_markdown(report, out / folder, force=force)
        write_summary(experiment, scale, report, out / folder, force=force)
        results.to_csv(out / folder / "trials.csv", force=force)
        if markdown is not None:
            write_markdown(report, Path(markdown) / folder, force=force)
            write_summary(experiment, scale, report, Path(markdown) / folder, force=force)
        finished += results.trials
    if any(experiment.path in all_experiments() for experiment, _, _ in plans):
        reports.append(write_html_index(out, force=force))
    if markdown is not None:
        reports.append(write_index(Path(markdown), force=force))
    failures = tuple(Failure(job.label, error) for job, error in failed)
    return SuiteResult(tuple(finished), tuple(reports), failures)


def _plan_labelled(experiment: Experiment, scale: Scale, *, several: bool) -> list[Trial]:
    """Plan trials; among several experiments, the labels of jobs begin with the path of theirs."""
    trials = plan_trials(experiment, scale)
    if not several:
        return trials
    labelled = []
    for trial in trials:
        training = trial.training
        if training is not None:
            training = dataclasses.replace(training, label=f"{experiment.path} {training.label}")
        evaluations = [dataclasses.replace(job, label=f"{experiment.path} {job.label}") for job in trial.evaluations]
        labelled.append(dataclasses.replace(trial, training=training, evaluations=tuple(evaluations)))
    return labelled


def load_results(out: Path | str) -> SuiteResult:
    """Load the results of all trials that are finished in a folder, of experiments and of sweeps.

    Args:
        out: The folder of results.

    Raises:
        FileError: There is no such folder, or no trial is finished there.
    """
    if not Path(out).is_dir():
        raise FileError(f"{out}: there is no such folder")
    store = Store(out)
    trials = collect_trials(store.trials(), store)
    if not trials:
        raise FileError(f"{store.file}: no trial is finished")
    return SuiteResult(tuple(trials))


def check_count(name: str, value: int) -> None:
    """Raise UsageError unless a value is a whole number of at least 1."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UsageError(f"{name} = {value!r}: must be a whole number of at least 1")
