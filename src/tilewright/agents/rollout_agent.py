"""The options that agents with rollouts share."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Self

from tilewright._core.options import Range
from tilewright._core.text import did_you_mean
from tilewright.agents.base import Agent
from tilewright.agents.greedy import GreedyPolicy
from tilewright.agents.model_store import ModelSource, downgraded, find_model, model_version, value_function_of
from tilewright.agents.playouts import PREFERENCES
from tilewright.agents.random import RandomPolicy
from tilewright.games.base import Game
from tilewright.games.policy import Policy
from tilewright.search.rollouts import NO_LIMIT, VALUES, NoEvaluator, Rollouts, make_rollouts

__all__ = ["RolloutAgent"]

PLAYOUTS = ("random", "merges", *PREFERENCES, "network")


@dataclass(frozen=True)
class RolloutAgent(Agent):
    """Values moves by rollouts.

    Attributes:
        rollouts: The number of rollouts.
        value: The value of a finished game: its score, the sum of its tiles, or its largest tile.
        playout: Who plays the rollouts: random moves, the moves of the highest reward (merges), moves that make a new
            largest tile (largest), keep it in a corner (corner) or do most of the three (combined), or a trained
            network.
        horizon: A rollout ends after this number of moves, and a network adds what it expects; 0 is the game's end.
        model: The network, a file or a Model in memory; without one, the model in the package.
    """

    rollouts: Annotated[int, Range(1, 10_000_000)] = 500
    value: str = "score"
    playout: str = "random"
    horizon: Annotated[int, Range(0, 1_000_000)] = 0
    model: ModelSource = field(default="", repr=False)

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        self._check_name("value", VALUES)
        self._check_name("playout", PLAYOUTS)
        if self.horizon:
            self._check("horizon", self.value == "score", "a network predicts points: value=score is needed")
        self._check("model", not self.model or self._uses_network, "nothing uses it: add playout=network or horizon=N")

    @property
    def _uses_network(self) -> bool:
        return bool(self.horizon) or self.playout == "network"

    def _check_name(self, option: str, known: tuple[str, ...]) -> None:
        given = getattr(self, option)
        self._check(option, given in known, f"must be {', '.join(known)}{did_you_mean(given, known)}")

    def loaded(self, game: Game) -> Self:
        """Return the agent with its model in memory."""
        return replace(self, model=find_model(self.model, game)) if self.model else self

    def _model_version(self, game: Game) -> object:
        return model_version(self.model)

    def _make_rollouts(self, game: Game) -> Rollouts:
        """Return the rollouts with a workspace for one thread."""
        network: Policy = NoEvaluator()
        if self._uses_network:
            model = find_model(self.model, game)
            network = downgraded(value_function_of(model, game), model)
        simple = {"random": RandomPolicy(), "merges": GreedyPolicy(), **PREFERENCES}
        policy = network if self.playout == "network" else simple[self.playout]
        return make_rollouts(policy, network, self.horizon or NO_LIMIT, self.value, game.tile_values)
