"""The conformance suite passes what is right and finds what is broken."""

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import pytest

from tilewright import AGENTS, GAMES, Agent, Board, make_agent, make_game
from tilewright.agents.greedy import GreedyAgent
from tilewright.games.rules import ACTIONS
from tilewright.rng import Stream
from tilewright.testing import check_agent, check_game

CHEAP = {  # their defaults think for longer
    "heuristic": "heuristic:depth=1",
    "minimax": "minimax:depth=1",
    "montecarlo": "montecarlo:rollouts=2",
    "uct": "uct:rollouts=8",
}
NEED_A_MODEL = {"ntuple", "expectimax", "dqn", "afterstate"}  # tests/agents, tests/deep


@pytest.mark.parametrize("game", list(GAMES))
@pytest.mark.parametrize("agent", [name for name in AGENTS if name not in NEED_A_MODEL])
def test_every_agent_passes_on_every_game(agent: str, game: str) -> None:
    check_agent(make_agent(CHEAP.get(agent, agent)), make_game(game))


@pytest.mark.parametrize("game", [*GAMES, "2048:rows=2,columns=3", "2048:cascade=true", "threes:rows=3"])
def test_every_game_passes(game: str) -> None:
    check_game(make_game(game), games=1)


@dataclass(frozen=True)
class PlainAgent(Agent):
    """A sound agent without a kernel; each mutant below breaks one thing."""

    name: ClassVar[str] = "plain"

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        return GreedyAgent().values(board)


class ValuesIllegalMoves(PlainAgent):
    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        return dict.fromkeys(ACTIONS, 0.0) if board.game.legal(board) else {}


class ForgetsAMove(PlainAgent):
    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        return dict(list(super().values(board, stream).items())[:1])


class ValuesAreNotNumbers(PlainAgent):
    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        return dict.fromkeys(super().values(board, stream), float("nan"))


class PlaysIllegalMoves(PlainAgent):
    def move(self, board: Board, stream: Stream | None = None) -> str:
        super().move(board, stream)
        return "left"


class MovesAgainstItsValues(PlainAgent):
    def move(self, board: Board, stream: Stream | None = None) -> str:
        super().move(board, stream)
        values = self.values(board, stream)
        return min(values, key=lambda action: values[action])


@dataclass(frozen=True)
class ValuesByOtherChance(PlainAgent):
    """Its values are drawn at random, but never from the stream."""

    chance: random.Random = field(default_factory=random.Random)

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        return {action: self.chance.random() for action in super().values(board, stream)}


class MovesAfterTheEnd(PlainAgent):
    def move(self, board: Board, stream: Stream | None = None) -> str:
        return super().move(board, stream) if board.game.legal(board) else "up"


class ValuesAfterTheEnd(PlainAgent):
    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        return super().values(board, stream) or {"up": 0.0}


@dataclass(frozen=True)
class RemembersOtherGames(PlainAgent):
    clock: Iterator[int] = field(default_factory=itertools.count)

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        return dict.fromkeys(super().values(board, stream), 0.0)

    def move(self, board: Board, stream: Stream | None = None) -> str:
        super().move(board, stream)
        legal = board.game.legal(board)
        return legal[next(self.clock) // 7 % len(legal)]


def test_a_sound_agent_in_plain_python_passes() -> None:
    check_agent(PlainAgent(), make_game("2048:rows=2,columns=3"))


@pytest.mark.parametrize(
    ("mutant", "complaint"),
    [
        (ValuesIllegalMoves, "values are of the legal moves"),
        (ForgetsAMove, "values are of the legal moves"),
        (ValuesAreNotNumbers, "values are finite"),
        (PlaysIllegalMoves, "the move 'left' is legal"),
        (MovesAgainstItsValues, "the move '.*' has the highest value by the same chance"),
        (ValuesByOtherChance, "the move '.*' has the highest value by the same chance"),
        (MovesAfterTheEnd, "asking for a move of a finished game raises UsageError"),
        (ValuesAfterTheEnd, "a finished game has no values"),
        (RemembersOtherGames, "the same seed gives the same games"),
    ],
)
def test_a_broken_agent_is_found(mutant: type[Agent], complaint: str) -> None:
    with pytest.raises(AssertionError, match=f"it must hold that {complaint}.*; it does not on Board"):
        check_agent(mutant(), make_game("2048:rows=2,columns=3"))
