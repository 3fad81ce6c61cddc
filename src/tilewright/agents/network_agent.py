"""What agents that play by an n-tuple network share: the options, the model, tile-downgrading, endgame tables."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Self

from tilewright._core.options import Range
from tilewright.agents.base import Agent, Unit
from tilewright.agents.endgames import with_endgames
from tilewright.agents.model_store import (
    LARGEST_TILE,
    ModelSource,
    downgraded,
    find_model,
    model_version,
    value_function_of,
)
from tilewright.games.base import Game
from tilewright.games.policy import Policy
from tilewright.ntuple.value import ValueFunction

__all__ = ["NetworkAgent"]


@dataclass(frozen=True)
class NetworkAgent(Agent, ABC):
    """Plays by the values of a trained network, which are the expected further scores.

    Attributes:
        model: A file, a name such as package:2048, or a Model in memory; without one, the model in the package.
        downgrade_above: Boards with tiles above this one are downgraded; 0 for none, None for what the model says.
        endgames: Files of endgame tables (`solve endgame:…`), with + between them, that correct its values.
    """

    model: ModelSource = field(default="", repr=False)
    downgrade_above: Annotated[int | None, Range(0, LARGEST_TILE)] = None
    endgames: str = ""

    unit: ClassVar[Unit] = "points"

    @abstractmethod
    def _policy_by(self, value_function: ValueFunction) -> Policy:
        """Return the policy that plays by a value function."""

    def policy(self, game: Game) -> Policy:
        """Return the policy, on downgraded boards if the model asks for it, with the endgame tables."""
        model = find_model(self.model, game, self.downgrade_above)
        policy = downgraded(self._policy_by(value_function_of(model, game)), model)
        return with_endgames(policy, self.endgames, game)

    def loaded(self, game: Game) -> Self:
        """Return the agent with its model in memory."""
        return replace(self, model=find_model(self.model, game)) if self.model else self

    def _model_version(self, game: Game) -> object:
        return model_version(self.model)
