"""Reviews: every move of a recorded game compared with the best move by an agent's values."""

import html
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from tilewright._core.frames import data_frame
from tilewright._core.plots import BLUE, INK, ORANGE, SOFT, given_or_new, new_figure, second_scale, style
from tilewright._core.tables import Columns
from tilewright._core.text import excerpt, readable
from tilewright.agents import make_agent
from tilewright.agents.base import Agent, Player, Unit
from tilewright.errors import UsageError
from tilewright.games.board import Board
from tilewright.games.rules import ACTIONS
from tilewright.play.recording import Recording

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

__all__ = ["Review", "ReviewSummary", "ReviewedMove", "draw_review", "review"]

_LABELLED_MOVES = 5  # of a plot


class MoveSummary(TypedDict):
    """The content of `ReviewedMove.summary`."""

    move: int
    text: str
    played: str
    best: str
    loss: float
    values: dict[str, float]


class LossSummary(TypedDict):
    """The sum and the mean of the losses."""

    total: float
    mean: float


class ReviewSummary(TypedDict):
    """The content of `Review.summary`."""

    agent: str
    unit: Unit
    player: str
    game: str
    seed: int
    number: int
    score: int
    over: bool
    moves: int
    loss: LossSummary
    agreement: float
    worst: list[MoveSummary]
    losses: list[float]
    values: list[float]


@dataclass(frozen=True)
class ReviewedMove:
    """A move of a game, with the values of all legal moves.

    Attributes:
        number: The number of the move, from 1.
        board: The board before the move.
        played: The move.
        values: The value of every legal move.
    """

    number: int
    board: Board
    played: str
    values: dict[str, float]

    @property
    def best(self) -> str:
        """The move of the highest value; among equal moves the one that was played, otherwise the first."""
        return max(self.values, key=lambda action: (self.values[action], action == self.played))

    @property
    def loss(self) -> float:
        """The value of the best move less the value of the move that was played."""
        return 0.0 if self.best == self.played else self.values[self.best] - self.values[self.played]

    def summary(self) -> MoveSummary:
        """Return the move as plain values, ready for JSON."""
        return {
            "move": self.number,
            "text": self.board.game.text(self.board),
            "played": self.played,
            "best": self.best,
            "loss": self.loss,
            "values": self.values,
        }


@dataclass(frozen=True, repr=False)
class Review:
    """A recorded game with the values of an agent.

    Attributes:
        recording: The game.
        agent: The spec of the agent that values the moves.
        moves: The moves, in their order.
        unit: What the values count (see `Agent.unit`).
    """

    recording: Recording
    agent: str
    moves: tuple[ReviewedMove, ...]
    unit: Unit = "none"

    @property
    def losses(self) -> list[float]:
        """The loss of every move."""
        return [move.loss for move in self.moves]

    @property
    def total_loss(self) -> float:
        """The sum of the losses."""
        return sum(self.losses)

    @property
    def mean_loss(self) -> float:
        """The mean of the losses."""
        return self.total_loss / len(self.moves)

    @property
    def agreement(self) -> float:
        """The fraction of moves that are as good as the best move."""
        return sum(move.best == move.played for move in self.moves) / len(self.moves)

    def worst(self, count: int = 10) -> list[ReviewedMove]:
        """Return the moves with the largest losses, the worst first; moves without a loss are left out."""
        lossy = [move for move in self.moves if move.loss > 0]
        return sorted(lossy, key=lambda move: -move.loss)[:count]

    def summary(self, worst: int = 10) -> ReviewSummary:
        """Return the results as plain values, ready for JSON.

        Args:
            worst: The number of the worst moves to include.
        """
        game = self.recording
        return {
            "agent": self.agent,
            "unit": self.unit,
            "player": game.agent,
            "game": game.game.spec,
            "seed": game.seed,
            "number": game.number,
            "score": game.score,
            "over": game.is_over,
            "moves": len(self.moves),
            "loss": {"total": self.total_loss, "mean": self.mean_loss},
            "agreement": self.agreement,
            "worst": [move.summary() for move in self.worst(worst)],
            "losses": self.losses,
            "values": [move.values[move.best] for move in self.moves],
        }

    def to_dict(self) -> Columns:
        """Return one column per key with one entry per move.

        The keys are move, board, score (before the move), played, best, loss, and the values of the moves as value_up,
        value_right, value_down and value_left; None for an illegal move.
        """
        columns: Columns = {
            "move": [move.number for move in self.moves],
            "board": [move.board.game.text(move.board) for move in self.moves],
            "score": list(self.recording.scores[: len(self.moves)]),
            "played": [move.played for move in self.moves],
            "best": [move.best for move in self.moves],
            "loss": list(self.losses),
        }
        return columns | {f"value_{action}": [move.values.get(action) for move in self.moves] for action in ACTIONS}

    def to_frame(self) -> "DataFrame":
        """Return a pandas DataFrame with one row per move and the columns of `to_dict`.

        Raises:
            MissingExtraError: pandas is not installed; `to_dict` works without it.
        """
        return data_frame(self.to_dict())

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the loss of every move, and the sum of the losses as a dashed line.

        Args:
            ax: The axes to draw in; None for a new pyplot figure.

        Returns:
            The axes.
        """
        ax = style(given_or_new(ax, (9.0, 3.4)))
        _draw_losses(ax, self)
        return ax

    def __repr__(self) -> str:
        """Return the most important results in one line."""
        game = self.recording
        moves = "1 move" if len(self.moves) == 1 else f"{len(self.moves):,} moves"
        return (
            f"<Review of {game.game.spec} by {game.agent}: {moves}, {100 * self.agreement:.1f} % agree with "
            f"{self.agent}, total loss {self.total_loss:,.0f}>"
        )

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the most important results, and the worst moves."""
        rows = "".join(
            f"<tr><td>{move.number:,}</td><td>{move.played}</td><td>{move.best}</td><td>{move.loss:,.1f}</td></tr>"
            for move in self.worst()
        )
        head = "<tr><th>move</th><th>played</th><th>best</th><th>loss</th></tr>"
        return f"<p>{html.escape(repr(self))}</p><table><caption>worst moves</caption>{head}{rows}</table>"


def review(recording: Recording, agent: Agent | Player | str, progress: Callable[[int], None] | None = None) -> Review:
    """Value every move of a recorded game with an agent.

    One player of the agent searches all boards, so that its tables are kept from move to move.

    >>> import tempfile
    >>> from tilewright.play.recording import read_games
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = evaluate("greedy", games=1, record=f"{folder}/games.jsonl")
    ...     review(next(read_games(f"{folder}/games.jsonl")), "greedy").agreement
    1.0

    Args:
        recording: A game, for example from `read_games`.
        agent: An agent, its spec, or a player of the recorded game.
        progress: Called with the number of moves reviewed since the last call.

    Raises:
        UsageError: The game has no moves, the agent cannot play it, or an argument has the wrong type.
    """
    if not isinstance(recording, Recording):
        raise UsageError(f"{excerpt(recording)} is not a Recording: read_games reads them from a file")
    if not recording.actions:
        raise UsageError(f"game {recording.number} of seed {recording.seed} has no moves to review")
    player = agent if isinstance(agent, Player) else make_agent(agent).player(recording.game)
    moves = []
    for i, played in enumerate(recording.actions):
        board = recording.board(i)
        moves.append(ReviewedMove(i + 1, board, played, player.analyse(board).values))
        if progress:
            progress(1)
    return Review(recording, player.agent.spec, tuple(moves), player.unit)


def draw_review(reviewed: Review) -> "Figure":
    """Draw the value of the best move above, and the losses below, over the moves of the game."""
    figure = new_figure(9.0, 5.6)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    figure.suptitle(_title(reviewed), color=INK, fontsize=10, x=0.01, ha="left")
    numbers = [move.number for move in reviewed.moves]
    style(above).plot(numbers, [move.values[move.best] for move in reviewed.moves], color=BLUE, linewidth=1.2)
    above.set_ylabel("value of the best move", color=INK)
    above.yaxis.set_major_formatter("{x:,.10g}")
    _draw_losses(style(below), reviewed)
    return figure


def _draw_losses(axes: "Axes", reviewed: Review) -> None:
    numbers = [move.number for move in reviewed.moves]
    axes.vlines(numbers, 0, reviewed.losses, color=ORANGE, linewidth=1.4)
    axes.set_ylabel("loss", color=INK)
    axes.set_xlabel("move", color=INK)
    axes.set_xlim(0, len(numbers) + 1)
    axes.set_ylim(0, 1.25 * max(reviewed.losses) or 1)
    axes.yaxis.set_major_formatter("{x:,.10g}")
    _label_worst(axes, reviewed)
    _draw_total(axes, reviewed)


def _label_worst(axes: "Axes", reviewed: Review) -> None:
    """Write the numbers of the worst moves above their lines, except where two labels would overlap."""
    labelled: list[int] = []
    for move in reviewed.worst(_LABELLED_MOVES):
        if all(abs(move.number - other) > len(reviewed.moves) / 25 for other in labelled):
            labelled.append(move.number)
            axes.annotate(
                str(move.number),
                (move.number, move.loss),
                (0, 3),
                textcoords="offset points",
                ha="center",
                fontsize=8,
                color=INK,
            )


def _draw_total(axes: "Axes", reviewed: Review) -> None:
    sums = list(itertools.accumulate(reviewed.losses, initial=0.0))
    if not sums[-1]:
        axes.set_yticks([])
        axes.text(0.5, 0.5, "no move has a loss", transform=axes.transAxes, ha="center", color=SOFT)
        return
    total = second_scale(axes, "total loss")
    total.plot(range(len(sums)), sums, color=SOFT, linewidth=1.2, linestyle="--")
    total.set_ylim(0, 1.08 * sums[-1])
    total.yaxis.set_major_formatter("{x:,.10g}")


def _title(reviewed: Review) -> str:
    game = reviewed.recording
    return (
        f"{_short(game.agent)} on {game.game.spec}: score {game.score:,} after {len(reviewed.moves):,} moves\n"
        f"reviewed with {_short(reviewed.agent)}: {100 * reviewed.agreement:.1f} % of moves agree, "
        f"total loss {reviewed.total_loss:,.0f}"
    )


def _short(agent: str) -> str:
    """Shorten a spec that contains a long path."""
    return readable(agent if len(agent) <= 48 else f"{agent[:20]}…{agent[-27:]}")
