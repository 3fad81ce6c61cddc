"""The agents `dqn`, `afterstate` and `policy`, which play with trained deep networks."""

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, ClassVar, Self

import numpy as np

from tilewright._core.options import Range
from tilewright._core.text import did_you_mean
from tilewright.agents.base import BatchAgent, Unit, values_by_action
from tilewright.deep.devices import DEVICE_FORMS, find_device, is_device_name
from tilewright.deep.model import DeepModel, load_deep_model
from tilewright.deep.policy import NetworkPolicy, play_batch, play_batch_with_replacements
from tilewright.errors import SpecError
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.policy import GameResults
from tilewright.rng import Stream

__all__ = ["AfterstateAgent", "DqnAgent", "PolicyAgent"]

INVALID = ("never", "random")


@dataclass(frozen=True)
class DqnAgent(BatchAgent):
    """A network that values the four actions: `dqn:model=PATH`.

    Attributes:
        model: A model file, or a DeepModel in memory.
        invalid: What happens in whole games when the highest output is that of an invalid move: `never` chooses among
            the legal moves, `random` plays a random move instead, as the test program of Bouhoula et al. does. The
            value of a single board is always that of its legal moves, and so are the moves of recorded games.
        device: Where the network is computed: `cpu`, `cuda`, `cuda:1`, `mps`, or `auto`.
    """

    model: str | Path | DeepModel = field(default="", repr=False)
    invalid: str = "never"
    device: str = "cpu"

    name: ClassVar[str] = "dqn"
    batch_size: ClassVar[int] = 250

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        known = INVALID if self.name == "dqn" else INVALID[:1]
        hint = did_you_mean(self.invalid, known)
        self._check("invalid", self.invalid in known, f"must be {' or '.join(known)}{hint}")
        self._check("device", is_device_name(self.device), f"must be {DEVICE_FORMS}")

    def find_model(self, game: Game) -> DeepModel:
        """Return the model, which can play a game.

        Raises:
            SpecError: No model is given, or it belongs to another agent.
            FileError: The file cannot be read or is not a deep model.
            UsageError: The model cannot play the game, or the device is not there.
        """
        if not self.model:
            raise SpecError(f"agent {self.name} needs a trained network: {self.name}:model=PATH")
        if isinstance(self.model, DeepModel):
            found = self.model.on(find_device(self.device))
        else:
            found = load_deep_model(self.model, self.device)
        if found.config.algorithm != self.name:
            source = "the model" if isinstance(self.model, DeepModel) else self.model
            other = found.config.algorithm
            raise SpecError(f"{source} is for the agent {other}, not {self.name}: {other}:model=PATH")
        found.check_plays(game)
        return found

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        """Return the action values of the legal moves, in points; `stream` is not used."""
        cells, extra = (np.array([word], np.uint64) for word in board.state)
        return values_by_action(self._policy(board.game).q_values(board.game, cells, extra)[0])

    def _policy(self, game: Game) -> NetworkPolicy:
        return self.find_model(game).policy

    def loaded(self, game: Game) -> Self:
        """Return the agent with its model in memory."""
        return replace(self, model=self.find_model(game))

    def play_batch(self, game: Game, seed: int, first: int, results: GameResults) -> None:
        """Play games number `first` and following side by side.

        Args:
            game: The game.
            seed: The seed of all games.
            first: The number of the first game.
            results: The results of n games, overwritten; n is the number of games to play.
        """
        play = play_batch if self.invalid == "never" else play_batch_with_replacements
        play(self._policy(game), game, seed, first, results)


@dataclass(frozen=True)
class AfterstateAgent(DqnAgent):
    """A network that values afterstates: `afterstate:model=PATH`, or with a search `afterstate:model=PATH,depth=2`.

    Attributes:
        depth: The number of plies of an expectimax search. Two take some hundred times as long as one.
    """

    depth: Annotated[int, Range(1, 3)] = 1

    name: ClassVar[str] = "afterstate"
    unit: ClassVar[Unit] = "points"

    def _policy(self, game: Game) -> NetworkPolicy:
        return replace(super()._policy(game), depth=self.depth)


@dataclass(frozen=True)
class PolicyAgent(DqnAgent):
    """A network that gives the four actions probabilities, and plays the most likely one: `policy:model=PATH`."""

    name: ClassVar[str] = "policy"

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        """Return the probabilities of the legal moves; `stream` is not used."""
        logits = super().values(board, stream)
        highest = max(logits.values(), default=0.0)
        weights = {action: math.exp(logit - highest) for action, logit in logits.items()}
        return {action: weight / sum(weights.values()) for action, weight in weights.items()}
