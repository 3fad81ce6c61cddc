"""`expectimax`: a trained network that looks ahead."""

from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Self

from tilewright._core.options import Range
from tilewright.agents.base import Unit
from tilewright.agents.endgames import with_endgames
from tilewright.agents.model_store import (
    LARGEST_TILE,
    ModelSource,
    downgraded,
    find_model,
    model_version,
    value_function_of,
)
from tilewright.agents.search_agent import SearchAgent
from tilewright.games.base import Game
from tilewright.games.policy import Policy
from tilewright.search.evaluator import make_evaluator

__all__ = ["ExpectimaxAgent"]


@dataclass(frozen=True)
class ExpectimaxAgent(SearchAgent):
    """Searches with a trained network: `expectimax:depth=3` or, by time, `expectimax:ms=50`.

    Attributes:
        model: A file, a name such as package:2048, or a Model in memory; without one, the model in the package.
        downgrade_above: Boards with tiles above this one are downgraded; 0 for none, None for what the model says.
        endgames: Files of endgame tables (`solve endgame:…`), with + between them, that correct its values.
    """

    model: ModelSource = field(default="", repr=False)
    downgrade_above: Annotated[int | None, Range(0, LARGEST_TILE)] = None
    endgames: str = ""

    name: ClassVar[str] = "expectimax"
    unit: ClassVar[Unit] = "points"

    def policy(self, game: Game) -> Policy:
        """Return the search over the network's values."""
        model = find_model(self.model, game, self.downgrade_above)
        policy = downgraded(self._make_search(make_evaluator(value_function_of(model, game))), model)
        return with_endgames(policy, self.endgames, game)

    def loaded(self, game: Game) -> Self:
        """Return the agent with its model in memory."""
        return replace(self, model=find_model(self.model, game)) if self.model else self

    def _model_version(self, game: Game) -> object:
        return model_version(self.model)
