"""What the agents that play games out have in common: who plays, how far, and what comes of it is worth."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from tilewright._core.registry import did_you_mean
from tilewright.agents.base import Agent
from tilewright.agents.greedy import GreedyPolicy
from tilewright.agents.lowering import with_downgrading
from tilewright.agents.model_store import make_player, named_model, trained_model
from tilewright.agents.random import RandomPolicy
from tilewright.games.base import Game
from tilewright.games.policy import Policy
from tilewright.ntuple.model import Model
from tilewright.search.rollouts import NO_LIMIT, VALUES, Playouts, ToTheEnd, make_playouts

__all__ = ["PlayoutAgent"]

PLAYERS = ("random", "merges", "network")
MOST_STEPS = 1_000_000


@dataclass(frozen=True)
class PlayoutAgent(Agent):
    """The options of playouts, checked.

    `value` is what the end of a game is worth. `playout` is who plays it: `random` moves, moves that earn most at once
    (`merges`), or those of a trained `network`. With `steps` a playout ends after that many moves, and the network
    says how many points are still to come.
    """

    rollouts: int = 500
    value: str = "score"
    playout: str = "random"
    steps: int = 0  # 0 is to the end of the game
    model: str = ""

    fewest_rollouts: ClassVar[int] = 1
    most_rollouts: ClassVar[int]

    def __post_init__(self) -> None:
        few, most = self.fewest_rollouts, self.most_rollouts
        self._check("rollouts", few <= self.rollouts <= most, f"must be from {few} to {most:,}")
        self._check_name("value", VALUES)
        self._check_name("playout", PLAYERS)
        self._check("steps", 0 <= self.steps <= MOST_STEPS, f"must be from 0 (to the end) to {MOST_STEPS:,}")
        if self.steps:
            self._check("steps", self.value == "score", "a network tells points: value=score is needed")
        self._check("model", not self.model or self._uses_network, "nothing uses it: add playout=network or steps=N")

    @property
    def _uses_network(self) -> bool:
        return bool(self.steps) or self.playout == "network"

    def _check_name(self, option: str, known: tuple[str, ...]) -> None:
        default_stream = getattr(self, option)
        self._check(option, default_stream in known, f"must be {', '.join(known)}{did_you_mean(default_stream, known)}")

    @abstractmethod
    def policy(self, game: Game) -> Policy:
        """Has the playouts as its field `playouts`."""

    def models(self, game: Game) -> dict[str, Model]:
        return named_model(self.model, game)

    def playouts(self, game: Game) -> Playouts:
        """What kernels play out by, with room of its own."""
        network: Policy = ToTheEnd()
        if self._uses_network:
            model = trained_model(self.model, game)
            network = with_downgrading(make_player(model, game), model)
        player = {"random": RandomPolicy(), "merges": GreedyPolicy(), "network": network}[self.playout]
        return make_playouts(player, network, self.steps or NO_LIMIT, self.value, game.tile_values)
