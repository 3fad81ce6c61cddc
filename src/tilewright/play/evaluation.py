"""The results of an evaluation: estimates, tables and plots of the games that an agent has played."""

import html
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from tilewright._core.frames import data_frame
from tilewright._core.plots import BLUE, INK, given_or_new, style
from tilewright._core.tables import Columns, write_table
from tilewright.errors import UsageError
from tilewright.games.base import Game
from tilewright.play.statistics import Estimate, max100, mean_of, rate_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

__all__ = ["Evaluation", "EvaluationSummary"]

Counts: TypeAlias = NDArray[np.int64]


class MeanSummary(TypedDict):
    """A mean and its 95 % interval."""

    mean: float
    ci95: list[float] | None


class ScoreSummary(MeanSummary):
    """The scores in four numbers."""

    max: int
    median: float


class RateSummary(TypedDict):
    """A rate and its 95 % interval."""

    rate: float
    ci95: list[float] | None


class EvaluationSummary(TypedDict):
    """The content of `Evaluation.summary`."""

    agent: str
    game: str
    games: int
    seed: int
    threads: int
    score: ScoreSummary
    max100: MeanSummary | None
    win: RateSummary | None
    reach: dict[str, RateSummary]
    moves: int
    seconds: float
    moves_per_second: float


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """The results of an agent, game by game.

    Attributes:
        agent: The spec of the agent.
        game: The game.
        seed: The seed of the games.
        threads: The number of threads.
        scores: int64[games].
        moves: int64[games], the number of moves.
        codes: int64[games], the codes of the largest tiles.
        seconds: The time that the games took.
        numbers: int64[games], the numbers of the games; None for 0, 1, 2, … An evaluation that was interrupted may
            lack some of them.

    >>> result = evaluate("greedy", games=100, seed=1)
    >>> result.reach[64].value > 0.9
    True
    >>> sorted(result.to_dict())
    ['largest_tile', 'moves', 'number', 'score', 'seed', 'won']
    """

    agent: str
    game: Game
    seed: int
    threads: int
    scores: Counts
    moves: Counts
    codes: Counts
    seconds: float
    numbers: Counts | None = None

    @property
    def games(self) -> int:
        """The number of games."""
        return len(self.scores)

    @property
    def score(self) -> Estimate:
        """The mean score."""
        return mean_of(self.scores)

    @property
    def max100(self) -> Estimate | None:
        """The mean of the maxima of groups of 100 games; None for fewer games."""
        return max100(self.scores)

    @property
    def win_rate(self) -> Estimate | None:
        """The rate of games that reached the winning tile; None if the game has no such tile."""
        won = self._won()
        return None if won is None else rate_of(int(won.sum()), self.games)

    def _won(self) -> NDArray[np.bool_] | None:
        win = self.game.win_code
        return None if win is None else self.codes >= win

    @property
    def reach(self) -> dict[int, Estimate]:
        """The rate of games that reached each tile, from the smallest of the largest tiles up."""
        lowest, highest = int(self.codes.min()), int(self.codes.max())
        return {
            self.game.value(code): rate_of(int((self.codes >= code).sum()), self.games)
            for code in range(max(1, lowest), highest + 1)
        }

    @property
    def moves_per_second(self) -> float:
        """The number of moves per second of all threads together."""
        return float(self.moves.sum()) / max(self.seconds, 1e-9)

    def compare(self, other: "Evaluation") -> Estimate:
        """Estimate by how much the mean score is higher than in another evaluation of the same games.

        Games with the same seed and number begin alike. Their scores are compared in pairs.

        >>> evaluate("greedy", games=200, seed=1).compare(evaluate("random", games=200, seed=1)).low > 0
        True

        Raises:
            UsageError: The evaluations differ in game or seed, or have no games in common.
        """
        if not isinstance(other, Evaluation):
            raise UsageError(f"an evaluation is compared with an Evaluation, not with {type(other).__name__}")
        for what, mine, theirs in (("game", self.game.spec, other.game.spec), ("seed", self.seed, other.seed)):
            if mine != theirs:
                raise UsageError(
                    f"evaluations are compared on the same games, but their {what}s are {mine} and {theirs}"
                )
        _, first, second = np.intersect1d(self._numbers(), other._numbers(), return_indices=True)
        if not len(first):
            raise UsageError("the evaluations have no games in common")
        return mean_of(self.scores[first] - other.scores[second])

    def _numbers(self) -> Counts:
        return np.arange(self.games) if self.numbers is None else self.numbers

    def summary(self) -> EvaluationSummary:
        """Return means, intervals and rates as plain values, ready for JSON."""
        score, best, win = self.score, self.max100, self.win_rate
        return {
            "agent": self.agent,
            "game": self.game.spec,
            "games": self.games,
            "seed": self.seed,
            "threads": self.threads,
            "score": {
                "mean": score.value,
                "ci95": score.interval,
                "max": int(self.scores.max()),
                "median": float(np.median(self.scores)),
            },
            "max100": None if best is None else {"mean": best.value, "ci95": best.interval},
            "win": None if win is None else _rate_summary(win),
            "reach": {str(tile): _rate_summary(rate) for tile, rate in self.reach.items()},
            "moves": int(self.moves.sum()),
            "seconds": self.seconds,
            "moves_per_second": self.moves_per_second,
        }

    def to_dict(self) -> Columns:
        """Return one column per key with one entry per game.

        The keys are number, seed, score, moves, largest_tile and won; won is None in games without a winning tile.
        """
        won = self._won()
        return {
            "number": self._numbers().tolist(),
            "seed": [self.seed] * self.games,
            "score": self.scores.tolist(),
            "moves": self.moves.tolist(),
            "largest_tile": [self.game.value(code) for code in self.codes.tolist()],
            "won": [None] * self.games if won is None else won.tolist(),
        }

    def to_frame(self) -> "DataFrame":
        """Return a pandas DataFrame with one row per game and the columns of `to_dict`.

        Raises:
            MissingExtraError: pandas is not installed; `to_dict` works without it.
        """
        return data_frame(self.to_dict())

    def to_csv(self, path: Path | str, *, force: bool = False) -> None:
        """Write one row per game with the columns of `to_dict`.

        Args:
            path: The file. A name that ends in `.parquet` gets Parquet, any other name CSV.
            force: Whether to replace an existing file of another kind.

        Raises:
            FileError: The file cannot be written, or is of another kind.
            MissingExtraError: The file is to be Parquet, and pyarrow is not installed.
        """
        write_table(path, self.to_dict(), force=force)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the percentage of games that ended with each largest tile.

        Args:
            ax: The axes to draw in; None for a new pyplot figure.

        Returns:
            The axes.
        """
        ax = style(given_or_new(ax, (8.0, 3.4)))
        codes = range(int(self.codes.min()), int(self.codes.max()) + 1)
        percentages = [100 * float((self.codes == code).mean()) for code in codes]
        bars = ax.bar([str(self.game.value(code)) for code in codes], percentages, color=BLUE, width=0.7)
        ax.bar_label(bars, [f"{percentage:.1f}" for percentage in percentages], fontsize=9, color=INK, padding=2)
        ax.set_xlabel("largest tile", color=INK)
        ax.set_ylabel("games, %", color=INK)
        ax.margins(y=0.12)
        return ax

    def __repr__(self) -> str:
        """Return the most important results in one line."""
        games = "1 game" if self.games == 1 else f"{self.games:,} games"
        won = "" if self.win_rate is None else f", {100 * self.win_rate.value:.1f} % won"
        return f"<Evaluation {self.agent} on {self.game.spec}: {games}, mean score {self._mean_score()}{won}>"

    def _mean_score(self) -> str:
        score = self.score
        return f"{score.value:,.0f}" + ("" if score.margin is None else f" ± {score.margin:,.0f}")

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the most important results, and the rate of each tile."""
        caption = html.escape(f"{self.agent} on {self.game.spec}: {self.games:,} games, seed {self.seed}")
        rows = [("mean score", self._mean_score()), ("highest score", f"{int(self.scores.max()):,}")]
        if self.win_rate is not None:
            rows.append(("won", f"{100 * self.win_rate.value:.1f} %"))
        rows += [(f"reached {tile}", f"{100 * rate.value:.1f} %") for tile, rate in self.reach.items()]
        cells = "".join(f"<tr><th>{name}</th><td>{text}</td></tr>" for name, text in rows)
        return f"<table><caption>{caption}</caption>{cells}</table>"


def _rate_summary(rate: Estimate) -> RateSummary:
    return {"rate": rate.value, "ci95": rate.interval}
