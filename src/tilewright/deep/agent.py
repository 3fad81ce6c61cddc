"""`dqn` and `afterstate`: trained deep networks as agents, like any other."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from tilewright.agents.base import BatchAgent, values_by_action
from tilewright.deep.model import DeepModel, load_deep_model
from tilewright.deep.playing import play_batch
from tilewright.errors import SpecError
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.policy import GameResults
from tilewright.rng import Stream

__all__ = ["AfterstateAgent", "DqnAgent"]


@dataclass(frozen=True)
class DqnAgent(BatchAgent):
    """A network that values the four actions: `dqn:model=PATH`."""

    model: str = ""

    name: ClassVar[str] = "dqn"
    batch_size: ClassVar[int] = 250

    def trained(self, game: Game) -> DeepModel:
        """The network that plays a game."""
        if not self.model:
            raise SpecError(f"agent {self.name} needs a trained network: {self.name}:model=PATH; see tilewright train")
        found = load_deep_model(Path(self.model))
        if found.plan.kind != self.name:
            raise SpecError(f"{self.model} holds a network of another kind; it plays as {found.plan.kind}:model=…")
        found.check_plays(game)
        return found

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        cells, extra = (np.array([word], np.uint64) for word in board.state)
        return values_by_action(self.trained(board.game).player.q_values(board.game, cells, extra)[0])

    def play_batch(self, game: Game, seed: int, first: int, results: GameResults) -> None:
        play_batch(self.trained(game).player, game, seed, first, results)


@dataclass(frozen=True)
class AfterstateAgent(DqnAgent):
    """A network that values boards before a tile comes: `afterstate:model=PATH`."""

    name: ClassVar[str] = "afterstate"
