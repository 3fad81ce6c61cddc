"""`uct`: Monte Carlo tree search with chance nodes."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, Self

from tilewright._core.options import Range
from tilewright._core.registry import load_object
from tilewright.agents.rollout_agent import RolloutAgent
from tilewright.games.base import Game
from tilewright.games.policy import Policy
from tilewright.search.mcts import make_uct

__all__ = ["UctAgent"]

GUIDED = "tilewright.deep.guided:GuidedUctAgent"
MIN_ROLLOUTS = 4  # each legal move is tried once


@dataclass(frozen=True)
class UctAgent(RolloutAgent):
    """Grows a tree by `rollouts` rollouts a move; the value of a move is the mean of its rollouts.

    Attributes:
        c: The weight of exploration against exploitation: 0 only exploits, 100 is flat Monte Carlo.
        prior: A policy network that guides the search (PUCT), a file or a DeepModel in memory. The move that was tried
            most often is played then, and the value of a move is its fraction of the rollouts.

    >>> board = make_game("2048").parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
    >>> sorted(make_agent("uct:rollouts=100").values(board))
    ['down', 'left', 'right', 'up']
    """

    rollouts: Annotated[int, Range(MIN_ROLLOUTS, 1_000_000)] = 1000
    c: Annotated[float, Range(0, 1_000)] = 2.0
    prior: str | Path | object = field(default="", repr=False, kw_only=True)

    name: ClassVar[str] = "uct"

    def __new__(cls, *arguments: object, **options: object) -> Self:  # noqa: ARG004  (they are for __init__)
        """Return an agent of the class that can use a prior, if there is one."""
        kind = load_object(GUIDED, "deep") if options.get("prior") and cls is UctAgent else cls
        made: Self = super().__new__(kind)
        return made

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        self._check("prior", self._is_prior(self.prior), "must be a file, or a DeepModel in memory")

    @staticmethod
    def _is_prior(prior: object) -> bool:
        """Return whether an agent of this class can have this prior: none."""
        return isinstance(prior, str) and not prior

    def policy(self, game: Game) -> Policy:
        """Return the search."""
        return make_uct(self._make_rollouts(game), self.rollouts, float(self.c))
