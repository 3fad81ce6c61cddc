"""`ntuple`: the move whose reward and learned value are highest, without search."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from tilewright.agents.base import Agent, values_of
from tilewright.agents.lowering import knowing, state_as_known
from tilewright.agents.model_store import make_player, model_that_knows, named_model
from tilewright.games.board import Board
from tilewright.games.base import Game
from tilewright.games.rules import Rules, State
from tilewright._core.jit import Int, implements, kernel
from tilewright.ntuple.value import Actions, Afterstates, Method, States, consider
from tilewright.ntuple.model import Model
from tilewright.games.policy import Policy, choose
from tilewright.rng import Stream

__all__ = ["ModelAgent", "NetworkAgent", "NtupleAgent"]


@implements(choose, Afterstates)
def choose_by_afterstates(method: Afterstates, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    best = consider(method, rules, state)
    return best.action, best.after, best.reward


@implements(choose, States)
def choose_by_states(method: States, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    best = consider(method, rules, state)
    return best.action, best.after, best.reward


@implements(choose, Actions)
def choose_by_actions(method: Actions, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    best = consider(method, rules, state)
    return best.action, best.after, best.reward


@kernel
def consider_once(method: Method, rules: Rules, state: State) -> None:
    """Fill `method.worth`: what each of the four moves is worth, -inf where one is not legal."""
    consider(method, rules, state)


class NetworkAgent(Agent):
    """A trained network at one ply.

    The value of a move is its reward plus the learned value of what follows: the points still to be won. Boards with
    larger tiles than the network knows are played, and valued, as smaller ones.
    """

    name: ClassVar[str] = "ntuple"

    @abstractmethod
    def trained(self, game: Game) -> Model:
        """The network that plays a game."""

    def policy(self, game: Game) -> Policy:
        model = self.trained(game)
        return knowing(make_player(model, game), model)

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        game = board.game
        model = self.trained(game)
        method = make_player(model, game)
        consider_once(method, game.rules, state_as_known(board, model))
        return values_of(method.worth)


@dataclass(frozen=True)
class ModelAgent(NetworkAgent):
    """The model at hand: `ModelAgent(load_model(path))`."""

    network: Model = field(repr=False)

    def trained(self, game: Game) -> Model:
        return self.network

    @property
    def spec(self) -> str:
        return self.name


@dataclass(frozen=True)
class NtupleAgent(NetworkAgent):
    """The model that comes with the package, or by the path of its file: `ntuple:model=PATH`."""

    model: str = ""
    knows: int | None = None  # boards with larger tiles are played as smaller ones; 0: none; without: as the model says

    def trained(self, game: Game) -> Model:
        return model_that_knows(self.model, game, self.knows)

    def models(self, game: Game) -> dict[str, Model]:
        return named_model(self.model, game)
