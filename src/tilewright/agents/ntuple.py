"""`ntuple`: the move whose reward and learned value are highest, without search."""

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from tilewright.agents.agent import Agent
from tilewright.errors import SpecError
from tilewright.games.board import Board
from tilewright.games.calls import typed_state
from tilewright.games.game import Game
from tilewright.games.rules import ACTIONS, Rules, State
from tilewright.jit import Int, implements, kernel
from tilewright.learning.methods import Actions, Afterstates, Method, States, consider, make_method
from tilewright.networks.model import Model, load_model
from tilewright.playing import choose
from tilewright.rng import Stream

__all__ = ["ModelAgent", "NtupleAgent"]


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


@dataclass(frozen=True)
class ModelAgent(Agent):
    """A trained network at one ply, the model at hand: `ModelAgent(trained=load_model(path))`.

    The value of a move is its reward plus the learned value of what follows: the points still to be won.
    """

    trained: Model | None = field(default=None, repr=False)

    name: ClassVar[str] = "ntuple"

    def loaded(self) -> Model:
        if self.trained is None:
            raise SpecError("agent ntuple has no model")
        return self.trained

    def policy(self, game: Game) -> Method:
        model = self.loaded()
        model.check_plays(game)
        return make_method(model.method, model.tables, model.shape.lookups(game))

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        game = board.game
        method = self.policy(game)
        consider_once(method, game.rules, typed_state(board.state))
        return {action: float(method.worth[i]) for i, action in enumerate(ACTIONS) if np.isfinite(method.worth[i])}

    @property
    def spec(self) -> str:
        return self.name


@dataclass(frozen=True)
class NtupleAgent(Agent):
    """A trained network at one ply, by the path of its model file."""

    model: str = ""

    name: ClassVar[str] = "ntuple"

    def __post_init__(self) -> None:
        if not self.model:
            raise SpecError(
                "agent ntuple needs a model: ntuple:model=PATH (train one: tilewright train minute, then "
                "ntuple:model=runs/minute/model.safetensors)"
            )

    def _agent(self) -> ModelAgent:
        """The model in 16 bits, read once for every path and time of change."""
        path = Path(self.model)
        return _load(path, path.stat().st_mtime_ns if path.exists() else 0)

    def policy(self, game: Game) -> Method:
        return self._agent().policy(game)

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        return self._agent().values(board)


@lru_cache(maxsize=4)
def _load(path: Path, changed: int) -> ModelAgent:
    return ModelAgent(load_model(path).in_16_bits())
