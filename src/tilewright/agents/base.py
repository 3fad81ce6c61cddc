"""What an agent is: a frozen dataclass of options that values moves, and perhaps a policy for the kernels."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tilewright._core.registry import option_spec
from tilewright.errors import SpecError, UsageError
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.policy import NO_ACTION, Policy, Results, act_one
from tilewright.games.rules import ACTIONS
from tilewright.games.state_kernels import typed_state
from tilewright.ntuple.model import Model
from tilewright.rng import Stream, stream_for

__all__ = ["Agent", "default_stream", "values_by_action"]


@dataclass(frozen=True)
class Agent(ABC):
    """One small protocol: `values` of a board's moves, the `move` it plays, and a `policy` where kernels can play it.

    An agent written in plain Python needs `values` alone; it plays the move of the highest value.
    """

    name: ClassVar[str]

    @abstractmethod
    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        """What the agent thinks of each legal move; empty when the game is over.

        Chance, where it plays a part, is drawn from `stream`: a stream in the same state gives the values that `move`
        decides by.
        """

    def policy(self, game: Game) -> Policy | None:
        """What kernels play by; None where the agent is Python only.

        A policy may hold room to work in, so every thread asks for one of its own.
        """
        return None

    def models(self, game: Game) -> dict[str, Model]:
        """The n-tuple networks that it names by their files: what another machine has to be sent."""
        return {}

    def move(self, board: Board, stream: Stream | None = None) -> str:
        """The move it plays; chance, where it plays a part, is drawn from `stream`."""
        policy = self.policy(board.game)
        if policy is None:
            return self._best_by_values(board, stream)
        action = act_one(policy, board.game.rules, typed_state(board.state), default_stream(stream))
        if action == NO_ACTION:
            raise _game_over(board)
        return ACTIONS[action]

    def _best_by_values(self, board: Board, stream: Stream | None) -> str:
        values = self.values(board, stream)
        if not values:
            raise _game_over(board)
        return max(values, key=lambda action: values[action])

    def _check(self, option: str, holds: bool, complaint: str) -> None:
        """Raise SpecError where an option has a value that cannot be."""
        if not holds:
            raise SpecError(f"agent {self.name}, option {option}={getattr(self, option)}: {complaint}")

    @property
    def spec(self) -> str:
        """The text that `make_agent` reads."""
        return option_spec(self)


class BatchAgent(Agent):
    """An agent without a policy, to whom many boards cost little more than one: it plays games side by side."""

    batch_size: ClassVar[int]  # how many

    @abstractmethod
    def play_batch(self, game: Game, seed: int, first: int, results: Results) -> None:
        """Play games number `first` and on at the same time, one for every place of `results`."""


def _game_over(board: Board) -> UsageError:
    return UsageError(f"the game is over: no move is legal on {board.game.text(board)!r}")


def values_by_action(q_values: NDArray[Any]) -> dict[str, float]:
    """What a kernel found each move worth, by name; -inf, where one is not legal, is left out."""
    return {action: float(q_values[i]) for i, action in enumerate(ACTIONS) if np.isfinite(q_values[i])}


def default_stream(stream: Stream | None) -> Stream:
    """The stream, or where none is given always the same one."""
    return stream_for(0) if stream is None else stream
