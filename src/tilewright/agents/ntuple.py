"""`ntuple`: a trained n-tuple network without search."""

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

__all__ = ["NTupleAgent"]


@dataclass(frozen=True)
class NTupleAgent(Agent):
    """Plays the move whose reward and learned value are highest.

    The value of a move is the expected further score. Boards with larger tiles than the network has learned are played,
    and valued, as downgraded boards.

    Attributes:
        model: A file, a name such as package:2048, or a Model in memory; without one, the model in the package.
        downgrade_above: Boards with tiles above this one are downgraded; 0 for none, None for what the model says.
        endgames: Files of endgame tables (`solve endgame:…`), with + between them, that correct its values.
    """

    model: ModelSource = field(default="", repr=False)
    downgrade_above: Annotated[int | None, Range(0, LARGEST_TILE)] = None
    endgames: str = ""

    name: ClassVar[str] = "ntuple"
    unit: ClassVar[Unit] = "points"

    def policy(self, game: Game) -> Policy:
        """Return the value function as a policy."""
        model = find_model(self.model, game, self.downgrade_above)
        policy = downgraded(value_function_of(model, game), model)
        return with_endgames(policy, self.endgames, game)

    def loaded(self, game: Game) -> Self:
        """Return the agent with its model in memory."""
        return replace(self, model=find_model(self.model, game)) if self.model else self

    def _model_version(self, game: Game) -> object:
        return model_version(self.model)
