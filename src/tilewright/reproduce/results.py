"""The results of trials, and of the rows of a table beside the paper's."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tilewright._core.checks import check_choice
from tilewright._core.tables import Record, Scalar
from tilewright.errors import FileError
from tilewright.exact.optima import perfect_score
from tilewright.games import make_game
from tilewright.play.statistics import Difference, Estimate, max100, mean_of, rate_of, two_sample
from tilewright.reproduce.experiments import Experiment, PaperValue, Row, Scale
from tilewright.reproduce.jobs import EvaluationResult, TrainingResult, read_result
from tilewright.reproduce.store import JobRecord, Store, TrialRecord
from tilewright.reproduce.suite import Trial, plan_evaluation_of, plan_trials

__all__ = [
    "Cell",
    "RowResult",
    "TrialResult",
    "check_column",
    "collect_rows",
    "collect_trials",
    "column_values",
    "estimate_column",
    "format_difference",
    "format_estimate",
    "heading",
    "is_rate",
    "plan_best",
    "to_records",
]

R = TypeVar("R", TrainingResult, EvaluationResult)
CONFIG_PREFIX = "config."  # of a key whose name is that of another column


@dataclass(frozen=True)
class TrialResult:
    """The result of a trial: all its evaluations together, and its training.

    Attributes:
        trial: The trial.
        scores: int64[games].
        tiles: int64[games], the largest tile of each game.
        board_sums: int64[games], the sum of each final board; empty unless the experiment asks for it.
        moves: The number of moves of the evaluations.
        seconds: The time of the evaluations.
        training: The result of the training, if any.
        run_folder: The run folder of the training, relative to the folder of the store; empty without a training.
        machines: The machines that ran the jobs.
        versions: The versions of tilewright that ran the jobs.
        date: When the last job was finished, in UTC.
    """

    trial: TrialRecord
    scores: NDArray[np.int64]
    tiles: NDArray[np.int64]
    board_sums: NDArray[np.int64]
    moves: int
    seconds: float
    training: TrainingResult | None
    run_folder: str
    machines: tuple[str, ...]
    versions: tuple[str, ...]
    date: str

    @property
    def score(self) -> Estimate:
        """The mean score with its 95 % interval."""
        return mean_of(self.scores)

    def rate(self, column: str) -> Estimate | None:
        """Return the share of games that a column counts, with its 95 % interval.

        Args:
            column: `win`, `reach-2048` or `ends-2048`, with any tile.

        Returns:
            The share; None for `win` if the game has no winning tile.
        """
        if column == "win":
            tile = _win_tile(self.trial.game)
            return None if tile is None else rate_of(int((self.tiles >= tile).sum()), len(self.tiles))
        verb, _, text = column.partition("-")
        counted = self.tiles == int(text) if verb == "ends" else self.tiles >= int(text)
        return rate_of(int(counted.sum()), len(self.tiles))


@dataclass(frozen=True)
class Cell:
    """A result of ours beside the paper's."""

    ours: Estimate | None
    paper: Estimate | None

    @property
    def difference(self) -> Difference | None:
        """Ours minus the paper's, with a two-sample test; None where one of them has no interval."""
        return None if self.ours is None or self.paper is None else two_sample(self.ours, self.paper)

    @property
    def differs(self) -> bool:
        """Whether the test tells ours from the paper's, at 5 %."""
        return self.difference is not None and self.difference.sign != 0


@dataclass(frozen=True)
class RowResult:
    """The result of a row.

    Attributes:
        row: The row.
        name: The name of the row in its table.
        trials: The result of each seed.
        cells: The cells of the table by column.
    """

    row: Row
    name: str
    trials: tuple[TrialResult, ...]
    cells: Mapping[str, Cell]


def collect_trials(trials: Sequence[TrialRecord], store: Store) -> list[TrialResult]:
    """Return the results of the trials that are finished."""
    results = (_trial_result(trial, store) for trial in trials)
    return [result for result in results if result is not None]


def _trial_result(trial: TrialRecord, store: Store) -> TrialResult | None:
    evaluations = [store.find(key) for key in trial.evaluations]
    training = store.find(trial.training) if trial.training else None
    if None in evaluations or (trial.training and training is None):
        return None
    results = [_read(EvaluationResult, job, store) for job in evaluations if job]
    jobs = [job for job in (training, *evaluations) if job]
    return TrialResult(
        trial,
        _concatenate([result["scores"] for result in results]),
        _concatenate([result["tiles"] for result in results]),
        _concatenate([result["board_sums"] for result in results]),
        sum(result["moves"] for result in results),
        sum(result["seconds"] for result in results),
        _read(TrainingResult, training, store) if training else None,
        store.run_folder(training.key).relative_to(store.folder).as_posix() if training else "",
        _distinct(jobs, lambda job: job.machine),
        _distinct(jobs, lambda job: job.version),
        max(job.date for job in jobs),
    )


def _read(kind: type[R], job: JobRecord, store: Store) -> R:
    result = read_result(kind, job.result)
    if result is None:
        raise FileError(f"{store.file}: the result of {job.description} ({job.key}) is damaged")
    return result


def _concatenate(parts: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    return np.array([value for part in parts for value in part], np.int64)


def _distinct(jobs: Sequence[JobRecord], part: Callable[[JobRecord], str]) -> tuple[str, ...]:
    return tuple(sorted({part(job) for job in jobs}))


def collect_rows(experiment: Experiment, scale: Scale, store: Store) -> list[RowResult]:
    """Return the results of the rows of an experiment whose seeds are all finished."""
    rows = []
    trials = plan_trials(experiment, scale)
    if experiment.best_by and scale.selection_games:
        trials = plan_best(experiment, scale, store)
    for row in experiment.rows_at(scale):
        planned = [trial.record for trial in trials if trial.row is row]
        results = collect_trials(planned, store) if planned else []
        if not planned:
            continue
        if len(results) == len(planned):
            cells = {
                column: Cell(estimate_column(column, results), _paper_estimate(column, row, experiment.paper_games))
                for column in experiment.columns
            }
            rows.append(RowResult(row, experiment.row_name(row), tuple(results), cells))
    return rows


def plan_best(experiment: Experiment, scale: Scale, store: Store) -> list[Trial]:
    """Plan the evaluation of the best seed of each row whose seeds are all finished (see `Experiment.best_by`).

    Returns:
        One trial a row, with other games than those that the seed was chosen by.
    """
    trials, best = plan_trials(experiment, scale), []
    for row in experiment.rows_at(scale):
        seeds = [trial for trial in trials if trial.row is row]
        results = collect_trials([trial.record for trial in seeds], store)
        if len(results) == len(seeds):
            values = column_values(experiment.best_by, results)
            best.append(plan_evaluation_of(experiment, seeds[int(np.argmax(values))], scale))
    return best


def to_records(results: Sequence[TrialResult]) -> list[Record]:
    """Turn the results of trials into records with the same columns: one record a trial.

    Every key that one of the trials sets has a column of its own; `config.` is added to the name where another column
    has it already (`config.games` is the number of games of training). Rates have columns for every tile that one of
    the trials with the same game reached.
    """
    keys = list(dict.fromkeys(key for result in results for key in result.trial.keys))
    tiles = _reached_tiles(results)
    return [_to_record(result, keys, tiles[result.trial.game]) for result in results]


def _to_record(result: TrialResult, keys: Sequence[str], tiles: Sequence[int]) -> Record:
    trial, training = result.trial, result.training
    record: dict[str, Scalar] = {
        "experiment": trial.experiment,
        "scale": trial.scale,
        "row": trial.row,
        "config": trial.config or None,
        "seed": trial.seed,
    }
    measured: dict[str, Scalar] = {
        "agent": trial.agent,
        "game": trial.game,
        "games": len(result.scores),
        **_interval("score", "score_mean", result.score),
        "score_median": float(np.median(result.scores)),
        "score_max": int(result.scores.max()),
        **_interval("max100", "max100", max100(result.scores)),
        **_interval("win_rate", "win_rate", result.rate("win")),
        "moves": result.moves,
        "seconds": result.seconds,
        "training_games": training["games"] if training else None,
        "training_moves": training["moves"] if training else None,
        "training_seconds": training["seconds"] if training else None,
        "run_folder": result.run_folder or None,
        "machine": "; ".join(result.machines),
        "version": "; ".join(result.versions),
        "date": result.date,
    }
    for key in keys:
        taken = key in record or key in measured
        record[f"{CONFIG_PREFIX}{key}" if taken else key] = trial.keys.get(key)
    reach = [_interval(f"reach_{tile}", f"reach_{tile}", result.rate(f"reach-{tile}")) for tile in tiles]
    return record | measured | {name: value for columns in reach for name, value in columns.items()}


def _interval(name: str, value_name: str, estimate: Estimate | None) -> dict[str, Scalar]:
    value, low, high = (None, None, None) if estimate is None else estimate
    return {value_name: value, f"{name}_low": low, f"{name}_high": high}


def _reached_tiles(results: Sequence[TrialResult]) -> dict[str, list[int]]:
    """Return the tiles from the smallest to the largest final one, by game."""
    tiles: dict[str, list[int]] = {}
    for spec in dict.fromkeys(result.trial.game for result in results):
        game = make_game(spec)
        final = {int(tile) for result in results if result.trial.game == spec for tile in np.unique(result.tiles)}
        codes = [game.code(tile) for tile in final]
        tiles[spec] = [game.value(code) for code in range(max(1, min(codes)), max(codes) + 1)]
    return tiles


def _paper_estimate(column: str, row: Row, games: int) -> Estimate | None:
    stated: PaperValue | None = row.paper.get(column)
    if stated is None:
        return None
    if stated.margin:
        return _clip(column, Estimate(stated.value, stated.value - stated.margin, stated.value + stated.margin))
    if games and is_rate(column):
        return rate_of(round(stated.value * games), games)
    return Estimate(stated.value, None, None)


def estimate_column(column: str, results: Sequence[TrialResult]) -> Estimate | None:
    """Estimate a column of a table.

    Args:
        column: The name of the column, such as `score`, `win` or `reach-2048`.
        results: The trials of a row, one for each seed.

    Returns:
        The mean over the seeds with its 95 % interval; with one seed, the estimate over its games. None if the trials
        do not have such a result.
    """
    if len(results) == 1:
        return _estimate(column, results[0])
    values = column_values(column, results)
    if not values:
        return None
    return _clip(column, mean_of(np.array(values)))


def column_values(column: str, results: Sequence[TrialResult]) -> list[float]:
    """Return the value of a column for each trial that has one."""
    return [estimate.value for result in results if (estimate := _estimate(column, result))]


def _clip(column: str, estimate: Estimate) -> Estimate:
    """Clip the interval of a rate to 0 … 1."""
    value, low, high = estimate
    if is_rate(column) and low is not None and high is not None:
        return Estimate(value, max(0.0, low), min(1.0, high))
    return estimate


def _estimate(column: str, result: TrialResult) -> Estimate | None:
    return result.rate(column) if is_rate(column) else _MEASURES[column](result)


def is_rate(column: str) -> bool:
    """Whether a column has rates, from 0 to 1."""
    return column == "win" or column.startswith(("reach-", "ends-"))


def _win_tile(spec: str) -> int | None:
    game = make_game(spec)
    return None if game.win_code is None else game.value(game.win_code)


def _exact(value: float) -> Estimate:
    return Estimate(value, None, None)


def _of_perfect(result: TrialResult) -> Estimate | None:
    """The mean score in per cent of that of perfect play, where it is known."""
    perfect = perfect_score(make_game(result.trial.game))
    if perfect is None:
        return None
    value, low, high = (None if part is None else 100 * part / perfect for part in result.score)
    return Estimate(value or 0.0, low, high)


_MEASURES: dict[str, Callable[[TrialResult], Estimate | None]] = {
    "score": lambda result: result.score,
    "of-perfect": _of_perfect,
    "max": lambda result: _exact(float(result.scores.max())),
    "max100": lambda result: max100(result.scores),
    "board-sum": lambda result: mean_of(result.board_sums),
    "largest": lambda result: _exact(float(result.tiles.max())),
    "speed": lambda result: _exact(result.moves / max(result.seconds, 1e-9)),
    "seconds": lambda result: _exact(result.seconds),
    "training-seconds": lambda result: _exact(result.training["seconds"]) if result.training else None,
}

_HEADINGS = {
    "score": "mean score",
    "of-perfect": "per cent of perfect",
    "max": "highest score",
    "max100": "max100",
    "board-sum": "board sum",
    "largest": "largest tile",
    "speed": "moves/s",
    "seconds": "time",
    "training-seconds": "training time",
    "win": "win rate",
}


def check_column(column: str) -> None:
    """Raise UsageError unless there is such a column.

    >>> check_column("scores")
    Traceback (most recent call last):
    ...
    tilewright.errors.UsageError: column 'scores' (did you mean 'score'?); allowed: score, of-perfect, max, max100, \
board-sum, largest, speed, seconds, training-seconds, win, reach-TILE, ends-TILE
    """
    verb, _, tile = column.partition("-")
    if not (verb in ("reach", "ends") and tile.isdecimal()):
        check_choice(f"column {column!r}", column, [*_MEASURES, "win", "reach-TILE", "ends-TILE"])


def heading(column: str) -> str:
    """Return what a table calls a column.

    >>> heading("reach-2048")
    'reaches 2048'
    """
    if column in _HEADINGS:
        return _HEADINGS[column]
    verb, _, tile = column.partition("-")
    return f"{'reaches' if verb == 'reach' else 'ends with'} {tile}"


def format_estimate(column: str, estimate: Estimate | None) -> str:
    """Format an estimate for a table: `51,321 ± 358`, `90.6 % (89.6 – 91.5)`, `2 h 13 min`.

    >>> format_estimate("score", Estimate(51320.9, 50962.5, 51679.3))
    '51,321 ± 358'
    """
    if estimate is None:
        return "–"
    if column.endswith("seconds"):
        return _format_duration(estimate.value)
    if column == "of-perfect":
        margin = "" if estimate.margin is None else f" ± {estimate.margin:.2f}"
        return f"{estimate.value:.2f}{margin}"
    if is_rate(column):
        if estimate.low is None or estimate.high is None:
            return f"{_format_percent(estimate.value)} %"
        low, high = _format_percent(estimate.low), _format_percent(estimate.high)
        return f"{_format_percent(estimate.value)} % ({low} – {high})"
    margin = "" if estimate.margin is None else f" ± {estimate.margin:,.0f}"
    return f"{estimate.value:,.0f}{margin}"


def format_difference(column: str, difference: Difference) -> str:
    """Format a difference with its test: `+6,285 ± 4,637, p = 0.008`; rates in percentage points.

    >>> format_difference("win", Difference(Estimate(-0.052, -0.08, -0.024), 0.0002, "paired"))
    '-5.2 ± 2.8 points, p < 0.001 (paired)'
    """
    estimate, rate = difference.estimate, is_rate(column)
    factor, digits, unit = (100, 1, " points") if rate else (1, 0, "")
    margin = "" if estimate.margin is None else f" ± {factor * estimate.margin:,.{digits}f}"
    p = "p < 0.001" if difference.p < 0.001 else f"p = {difference.p:.{3 if difference.p < 0.1 else 2}f}"
    return f"{factor * estimate.value:+,.{digits}f}{margin}{unit}, {p} ({difference.method})"


def _format_percent(rate: float) -> str:
    """Format a rate with one more digit where it would look like 0 or 100 % without being so."""
    near_an_end = 0 < min(rate, 1 - rate) < 0.001
    return f"{100 * rate:.{2 if near_an_end else 1}f}"


def _format_duration(seconds: float) -> str:
    for unit, length, smaller, shorter in (("d", 86_400, "h", 3_600), ("h", 3_600, "min", 60), ("min", 60, "s", 1)):
        if round(seconds / shorter) * shorter >= length:
            whole, rest = divmod(round(seconds / shorter), length // shorter)
            return f"{whole} {unit} {rest} {smaller}"
    return f"{seconds:.1f} s"
