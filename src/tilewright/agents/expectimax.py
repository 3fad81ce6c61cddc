"""`expectimax`: a trained network that looks ahead."""

from dataclasses import dataclass, field
from typing import ClassVar

from tilewright.agents.model_store import make_player, model_that_knows, named_model
from tilewright.agents.search_agent import SearchingAgent
from tilewright.games.base import Game
from tilewright.ntuple.model import Model
from tilewright.search.evaluator import Evaluator, make_evaluator

__all__ = ["ExpectimaxAgent", "ModelSearch"]


@dataclass(frozen=True)
class ModelSearch(SearchingAgent):
    """The model at hand: `ModelSearch(depth=2, network=load_model(path))`."""

    network: Model = field(kw_only=True, repr=False)

    name: ClassVar[str] = "expectimax"

    def trained(self, game: Game) -> Model:
        return self.network

    def evaluator(self, game: Game) -> Evaluator:
        return make_evaluator(make_player(self.network, game))

    @property
    def spec(self) -> str:
        return self.name


@dataclass(frozen=True)
class ExpectimaxAgent(SearchingAgent):
    """`expectimax:depth=3` or, by time, `expectimax:ms=50`; with `model=PATH` by another network."""

    model: str = ""  # the path of a file; without one the model that comes with the package
    downgrade_above: int | None = (
        None  # boards with larger tiles are played as smaller ones; 0: none; without: as the model says
    )

    name: ClassVar[str] = "expectimax"

    def evaluator(self, game: Game) -> Evaluator:
        return make_evaluator(make_player(self.trained(game), game))

    def trained(self, game: Game) -> Model:
        return model_that_knows(self.model, game, self.downgrade_above)

    def models(self, game: Game) -> dict[str, Model]:
        return named_model(self.model, game)
