"""The conformance suite accepts sound agents, and rejects broken ones with a useful message."""

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
from tilewright.testing import ConformanceError, check_agent, check_game

CHEAP = {  # their defaults think for longer
    "heuristic": "heuristic:depth=1",
    "minimax": "minimax:depth=1",
    "montecarlo": "montecarlo:rollouts=2",
    "uct": "uct:rollouts=8",
}
NEED_A_FILE = {"ntuple", "expectimax", "exact", "dqn", "afterstate", "policy"}  # tests/agents, tests/deep


@pytest.mark.parametrize("game", list(GAMES))
@pytest.mark.parametrize("agent", [name for name in AGENTS if name not in NEED_A_FILE])
def test_every_agent_passes_on_every_game(agent: str, game: str) -> None:
    check_agent(make_agent(CHEAP.get(agent, agent)), make_game(game))


@pytest.mark.parametrize("game", [*GAMES, "2048:rows=2,columns=3", "2048:cascade=true", "threes:rows=3"])
def test_every_game_passes(game: str) -> None:
    check_game(make_game(game), games=1)


@dataclass(frozen=True)
class PlainAgent(Agent):
    """A sound agent without a kernel; each agent below breaks one rule."""

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


class ReturnsNothing(PlainAgent):
    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        return None  # type: ignore[return-value]


class HasNoNumber(PlainAgent):
    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        return dict.fromkeys(super().values(board, stream))  # type: ignore[return-value]


class RaisesInValues(PlainAgent):
    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        return {"up": 1 / 0}


class RaisesAfterTheEnd(PlainAgent):
    def move(self, board: Board, stream: Stream | None = None) -> str:
        values = self.values(board)
        return max(values, key=lambda action: values[action])  # a ValueError where there are none


class Plainest(Agent):
    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        return dict.fromkeys(reversed(board.game.legal(board)), 1)


@pytest.mark.parametrize("agent", [PlainAgent(), Plainest(), f"{__name__}:Plainest", "greedy"])
def test_a_sound_agent_in_plain_python_passes(agent: Agent | str) -> None:
    check_agent(agent, "2048:rows=2,columns=3")


@pytest.mark.parametrize(
    ("broken", "rule", "found", "remedy"),
    [
        (ValuesIllegalMoves, "a number for every legal move and no other", "up, right, down, left", "legal(board)"),
        (ForgetsAMove, "a number for every legal move and no other", "the moves", "legal(board)"),
        (ReturnsNothing, "must return a dictionary", "None", "legal(board)"),
        (ValuesAreNotNumbers, "must be finite numbers", "nan", "NaN"),
        (HasNoNumber, "must be finite numbers", "None", "None"),
        (RaisesInValues, "values must not raise", "ZeroDivisionError: division by zero", "ZeroDivisionError"),
        (PlaysIllegalMoves, "must return a legal move", "move returned 'left'", "legal(board)"),
        (MovesAgainstItsValues, "must have the highest value", "the values are", "do not override `move`"),
        (ValuesByOtherChance, "must have the highest value", "the values are", "from `stream` only"),
        (MovesAfterTheEnd, "must raise UsageError when the game is over", "move returned 'up'", "UsageError"),
        (RaisesAfterTheEnd, "must raise UsageError when the game is over", "ValueError: ", "UsageError"),
        (ValuesAfterTheEnd, "must be empty when the game is over", "{'up': 0.0}", "return {}"),
        (RemembersOtherGames, "the same games with the same seed", "scores", "keep nothing"),
    ],
)
def test_the_check_of_a_broken_agent_says_what_is_wrong_and_how_to_mend_it(
    broken: type[Agent], rule: str, found: str, remedy: str
) -> None:
    with pytest.raises(ConformanceError) as refused:
        check_agent(broken(), "2048:rows=2,columns=3")
    assert rule in refused.value.rule
    assert found in refused.value.found
    assert remedy in refused.value.remedy
    message = str(refused.value)
    assert [line.partition(":")[0] for line in message.splitlines()[1:]] == ["  found", "  on", "  to mend it"]
    assert repr(refused.value.board) in message
