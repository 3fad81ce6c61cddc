"""`expectimax`: a trained network that looks ahead."""

from dataclasses import dataclass
from typing import ClassVar

from tilewright.agents.searching import SearchingAgent
from tilewright.agents.trained import check_model_given, make_player, trained_model
from tilewright.games.game import Game
from tilewright.learning.methods import Method

__all__ = ["ExpectimaxAgent"]


@dataclass(frozen=True)
class ExpectimaxAgent(SearchingAgent):
    """`expectimax:depth=3,model=PATH` or, by time, `expectimax:ms=50,model=PATH`."""

    model: str = ""

    name: ClassVar[str] = "expectimax"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_model_given(self.name, self.model)

    def leaf(self, game: Game) -> Method:
        return make_player(trained_model(self.model), game)
