"""A recorded game judged by an agent: what every move cost against the best one."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tilewright._core.plots import BLUE, INK, ORANGE, SOFT, new_figure, second_scale, style
from tilewright.agents.base import Agent
from tilewright.errors import UsageError
from tilewright.games.board import Board
from tilewright.play.recording import Recording

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Review", "ReviewedMove", "draw_review", "review"]

_NAMED_IN_PLOT = 5


@dataclass(frozen=True)
class ReviewedMove:
    """A move and what the agent thinks of all that could have been played."""

    number: int  # counted from 1
    board: Board  # before the move
    played: str
    values: dict[str, float]

    @property
    def best(self) -> str:
        """The move of the highest value; the one that was played, if it is among equals."""
        return max(self.values, key=lambda action: (self.values[action], action == self.played))

    @property
    def loss(self) -> float:
        return 0.0 if self.best == self.played else self.values[self.best] - self.values[self.played]

    def to_json(self) -> dict[str, Any]:
        return {
            "move": self.number,
            "text": self.board.game.text(self.board),
            "played": self.played,
            "best": self.best,
            "loss": self.loss,
            "values": self.values,
        }


@dataclass(frozen=True)
class Review:
    recording: Recording
    agent: str  # who judges
    moves: tuple[ReviewedMove, ...]

    @property
    def losses(self) -> list[float]:
        return [move.loss for move in self.moves]

    @property
    def total_loss(self) -> float:
        return sum(self.losses)

    @property
    def mean_loss(self) -> float:
        return self.total_loss / len(self.moves)

    @property
    def agreement(self) -> float:
        """The share of moves that are as good as the best."""
        return sum(move.best == move.played for move in self.moves) / len(self.moves)

    def worst(self, count: int = 10) -> list[ReviewedMove]:
        """The moves that lost most, the worst first; moves without loss are not among them."""
        lossy = [move for move in self.moves if move.loss > 0]
        return sorted(lossy, key=lambda move: -move.loss)[:count]

    def to_json(self, worst: int = 10) -> dict[str, Any]:
        """The figures, as `review --json` prints them."""
        game = self.recording
        return {
            "agent": self.agent,
            "player": game.agent,
            "game": game.game.spec,
            "seed": game.seed,
            "number": game.number,
            "score": game.score,
            "over": game.is_over,
            "moves": len(self.moves),
            "loss": {"total": self.total_loss, "mean": self.mean_loss},
            "agreement": self.agreement,
            "worst": [move.to_json() for move in self.worst(worst)],
            "losses": self.losses,
            "values": [move.values[move.best] for move in self.moves],
        }


def review(recording: Recording, agent: Agent, progress: Callable[[int], None] | None = None) -> Review:
    """Ask `agent` about every move of a game; `progress` is told how many moves have just been judged."""
    if not recording.actions:
        raise UsageError(f"game {recording.number} of seed {recording.seed} has no moves to review")
    moves = []
    for i, played in enumerate(recording.actions):
        board = recording.board(i)
        moves.append(ReviewedMove(i + 1, board, played, agent.values(board)))
        if progress:
            progress(1)
    return Review(recording, agent.spec, tuple(moves))


def draw_review(found: Review) -> "Figure":
    """Above, what the agent thought of each position; below, what each move lost, and how the losses add up."""
    figure = new_figure(9.0, 5.6)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    numbers = [move.number for move in found.moves]
    figure.suptitle(_title(found), color=INK, fontsize=10, x=0.01, ha="left")
    style(above).plot(numbers, [move.values[move.best] for move in found.moves], color=BLUE, linewidth=1.2)
    above.set_ylabel("value of the best move", color=INK)
    style(below).vlines(numbers, 0, found.losses, color=ORANGE, linewidth=1.4)
    below.set_ylabel("loss", color=INK)
    below.set_xlabel("move", color=INK)
    below.set_xlim(0, len(numbers) + 1)
    below.set_ylim(0, 1.25 * max(found.losses) or 1)
    _name_worst(below, found)
    _draw_total(below, found)
    for axes in (above, below):
        axes.yaxis.set_major_formatter("{x:,.10g}")
    return figure


def _name_worst(axes: "Axes", found: Review) -> None:
    """Write the numbers of the worst moves above them, but none so near that it would cover another."""
    named: list[int] = []
    for move in found.worst(_NAMED_IN_PLOT):
        if all(abs(move.number - other) > len(found.moves) / 25 for other in named):
            named.append(move.number)
            axes.annotate(
                str(move.number),
                (move.number, move.loss),
                (0, 3),
                textcoords="offset points",
                ha="center",
                fontsize=8,
                color=INK,
            )


def _draw_total(axes: "Axes", found: Review) -> None:
    sums = list(itertools.accumulate(found.losses, initial=0.0))
    if not sums[-1]:
        axes.set_yticks([])
        axes.text(0.5, 0.5, "no move lost anything", transform=axes.transAxes, ha="center", color=SOFT)
        return
    total = second_scale(axes, "total loss")
    total.plot(range(len(sums)), sums, color=SOFT, linewidth=1.2, linestyle="--")
    total.set_ylim(0, 1.08 * sums[-1])
    total.yaxis.set_major_formatter("{x:,.10g}")


def _title(found: Review) -> str:
    game = found.recording
    return (
        f"{_short(game.agent)} at {game.game.spec}: {game.score:,} points in {len(found.moves):,} moves\n"
        f"judged by {_short(found.agent)}: {100 * found.agreement:.1f} % of moves agree, "
        f"loss {found.total_loss:,.0f} in total"
    )


def _short(agent: str) -> str:
    """A spec may hold a long path; its beginning and its end say most."""
    return agent if len(agent) <= 48 else f"{agent[:20]}…{agent[-27:]}"
