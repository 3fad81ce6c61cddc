"""What the finished jobs say of every row, beside what the paper says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.games import make_game
from tilewright.play.statistics import Estimate, max100, mean_of, rate_of
from tilewright.reproduce.experiments import Experiment, Row, Scale, Stated
from tilewright.reproduce.store import Store
from tilewright.reproduce.suite import pieces_of

__all__ = ["Cell", "Found", "Sample", "find_all", "heading", "written"]


@dataclass(frozen=True)
class Sample:
    """All tests of a row and seed, put together, and its training."""

    game: str
    scores: NDArray[np.int64]
    tiles: NDArray[np.int64]  # the largest of each game
    board_sums: NDArray[np.int64]
    moves: int
    seconds: float
    training: dict[str, Any] | None


@dataclass(frozen=True)
class Cell:
    """A figure of ours beside the paper's."""

    ours: Estimate | None
    paper: Estimate | None

    @property
    def agrees(self) -> bool | None:
        """Whether the 95 % intervals overlap; None where one is not known."""
        if self.ours is None or self.paper is None:
            return None
        ours, paper = self.ours, self.paper
        if ours.low is None or ours.high is None or paper.low is None or paper.high is None:
            return None
        return ours.low <= paper.high and paper.low <= ours.high


@dataclass(frozen=True)
class Found:
    """A row with what was found, seed by seed and column by column."""

    row: Row
    samples: tuple[Sample, ...]
    cells: dict[str, Cell]


def find_all(experiment: Experiment, scale: Scale, store: Store) -> list[Found]:
    """The rows that are finished, each with all of its seeds."""
    found = []
    pieces = pieces_of(experiment, scale)
    for row in experiment.rows_at(scale):
        samples = []
        for piece in pieces:
            if piece.row is row:
                tests = [store.find(test.key) for test in piece.tests]
                training = store.find(piece.training.key) if piece.training else None
                if None in tests or (piece.training and training is None):
                    break
                results = [test.result for test in tests if test]
                samples.append(_sample(piece.tests[0].game, results, training.result if training else None))
        else:
            cells = {name: _cell(name, samples, row, experiment.paper_games) for name in experiment.columns}
            found.append(Found(row, tuple(samples), cells))
    return found


def _sample(game: str, results: Sequence[dict[str, Any]], training: dict[str, Any] | None) -> Sample:
    def column(name: str) -> NDArray[np.int64]:
        return np.array([value for result in results for value in result[name]], np.int64)

    seconds = sum(result["seconds"] for result in results)
    moves = sum(result["moves"] for result in results)
    return Sample(game, column("scores"), column("tiles"), column("board_sums"), moves, seconds, training)


def _cell(name: str, samples: Sequence[Sample], row: Row, paper_games: int) -> Cell:
    return Cell(_ours(name, samples), _paper(name, row.paper.get(name), paper_games))


def _paper(name: str, stated: Stated | None, games: int) -> Estimate | None:
    if stated is None:
        return None
    if stated.margin:
        return _within(name, Estimate(stated.value, stated.value - stated.margin, stated.value + stated.margin))
    if games and _is_rate(name):
        return rate_of(round(stated.value * games), games)
    return Estimate(stated.value, None, None)


def _ours(name: str, samples: Sequence[Sample]) -> Estimate | None:
    """With several seeds, the mean over them and its interval; with one, that of its games."""
    if len(samples) == 1:
        return _of_one(name, samples[0])
    values = [estimate.value for sample in samples if (estimate := _of_one(name, sample))]
    if not values:
        return None
    return _within(name, mean_of(np.array(values)))


def _within(name: str, estimate: Estimate) -> Estimate:
    """The estimate; an interval of a rate ends at none and all."""
    value, low, high = estimate
    if _is_rate(name) and low is not None and high is not None:
        return Estimate(value, max(0.0, low), min(1.0, high))
    return estimate


def _of_one(name: str, sample: Sample) -> Estimate | None:
    if _is_rate(name):
        return rate_of(_count(name, sample), len(sample.tiles))
    return _MEASURES[name](sample)


def _count(rate: str, sample: Sample) -> int:
    """How many games a rate counts."""
    if rate.startswith("ends-"):
        return int((sample.tiles == int(rate.removeprefix("ends-"))).sum())
    tile = _win_tile(sample.game) if rate == "win" else int(rate.removeprefix("reach-"))
    return int((sample.tiles >= tile).sum())


def _is_rate(name: str) -> bool:
    return name == "win" or name.startswith(("reach-", "ends-"))


def _win_tile(game: str) -> int:
    made = make_game(game)
    return made.value(made.win_code) if made.win_code is not None else 0


def _exactly(value: float) -> Estimate:
    return Estimate(value, None, None)


_MEASURES: dict[str, Callable[[Sample], Estimate | None]] = {
    "score": lambda sample: mean_of(sample.scores),
    "max": lambda sample: _exactly(float(sample.scores.max())),
    "best-of-100": lambda sample: max100(sample.scores),
    "board-sum": lambda sample: mean_of(sample.board_sums),
    "largest": lambda sample: _exactly(float(sample.tiles.max())),
    "speed": lambda sample: _exactly(sample.moves / max(sample.seconds, 1e-9)),
    "seconds": lambda sample: _exactly(sample.seconds),
    "learning-seconds": lambda sample: _exactly(sample.training["seconds"]) if sample.training else None,
}

_HEADINGS = {
    "score": "mean score",
    "max": "highest score",
    "best-of-100": "best of 100, mean",
    "board-sum": "board sum",
    "largest": "largest tile",
    "speed": "moves/s",
    "seconds": "time",
    "learning-seconds": "learning time",
    "win": "won",
}


def heading(column: str) -> str:
    """What a column is called in a table."""
    if column in _HEADINGS:
        return _HEADINGS[column]
    verb, _, tile = column.partition("-")
    return f"{'reaches' if verb == 'reach' else 'ends with'} {tile}"


def written(column: str, estimate: Estimate | None) -> str:
    """An estimate as a table shows it: `51,321 ± 358`, `90.6 % (89.6 – 91.5)`, `2 h 13 min`."""
    if estimate is None:
        return "–"
    if column.endswith("seconds"):
        return _duration(estimate.value)
    if _is_rate(column):
        if estimate.low is None or estimate.high is None:
            return f"{_percent(estimate.value)} %"
        return f"{_percent(estimate.value)} % ({_percent(estimate.low)} – {_percent(estimate.high)})"
    margin = "" if estimate.margin is None else f" ± {estimate.margin:,.0f}"
    return f"{estimate.value:,.0f}{margin}"


def _percent(rate: float) -> str:
    """A rate hardly above none, or below all, has a digit more, so that it does not look like none or all."""
    near_an_end = 0 < min(rate, 1 - rate) < 0.001
    return f"{100 * rate:.{2 if near_an_end else 1}f}"


def _duration(seconds: float) -> str:
    for unit, length, smaller, shorter in (("d", 86_400, "h", 3_600), ("h", 3_600, "min", 60), ("min", 60, "s", 1)):
        if round(seconds / shorter) * shorter >= length:
            whole, rest = divmod(round(seconds / shorter), length // shorter)
            return f"{whole} {unit} {rest} {smaller}"
    return f"{seconds:.1f} s"
