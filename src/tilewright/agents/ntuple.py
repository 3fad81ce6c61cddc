"""`ntuple`: the move whose reward and learned value are highest, without search."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from tilewright._core.jit import Int, implements, kernel
from tilewright.agents.base import Agent, values_by_action
from tilewright.agents.lowering import downgrade_board, with_downgrading
from tilewright.agents.model_store import make_player, model_that_knows, named_model
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.policy import Policy, act
from tilewright.games.rules import Rules, State
from tilewright.ntuple.model import Model
from tilewright.ntuple.value import ActionValues, AfterstateValues, StateValues, ValueFunction, greedy_action
from tilewright.rng import Stream

__all__ = ["ModelAgent", "NTupleAgent", "NetworkAgent"]


@implements(act, AfterstateValues)
def choose_by_afterstates(
    value_function: AfterstateValues, rules: Rules, state: State, stream: Stream
) -> tuple[Int, State, Int]:
    best = greedy_action(value_function, rules, state)
    return best.action, best.after, best.reward


@implements(act, StateValues)
def choose_by_states(value_function: StateValues, rules: Rules, state: State, stream: Stream) -> tuple[Int, State, Int]:
    best = greedy_action(value_function, rules, state)
    return best.action, best.after, best.reward


@implements(act, ActionValues)
def choose_by_actions(
    value_function: ActionValues, rules: Rules, state: State, stream: Stream
) -> tuple[Int, State, Int]:
    best = greedy_action(value_function, rules, state)
    return best.action, best.after, best.reward


@kernel
def consider_once(value_function: ValueFunction, rules: Rules, state: State) -> None:
    """Fill `value_function.q_values`: what each of the four moves is worth, -inf where one is not legal."""
    greedy_action(value_function, rules, state)


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
        return with_downgrading(make_player(model, game), model)

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        game = board.game
        model = self.trained(game)
        value_function = make_player(model, game)
        consider_once(value_function, game.rules, downgrade_board(board, model))
        return values_by_action(value_function.q_values)


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
class NTupleAgent(NetworkAgent):
    """The model that comes with the package, or by the path of its file: `ntuple:model=PATH`."""

    model: str = ""
    downgrade_above: int | None = (
        None  # boards with larger tiles are played as smaller ones; 0: none; without: as the model says
    )

    def trained(self, game: Game) -> Model:
        return model_that_knows(self.model, game, self.downgrade_above)

    def models(self, game: Game) -> dict[str, Model]:
        return named_model(self.model, game)
