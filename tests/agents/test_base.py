"""An agent of one's own: `values` is all it takes."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from tilewright import Agent, Board, UsageError, evaluate, make_game
from tilewright.agents import AGENTS, make_agent
from tilewright.rng import Stream


@dataclass(frozen=True)
class Cornered(Agent):
    """Likes the moves at the end of its list."""

    likes: str = "left"

    name: ClassVar[str] = "cornered"

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        return {action: float(action == self.likes) for action in board.game.legal(board)}


def test_it_plays_the_move_of_the_highest_value_and_the_first_among_equals() -> None:
    board = make_game("2048").parse("0 0 0 0 / 0 2 0 0 / 0 0 4 0 / 0 0 0 0")
    assert Cornered().move(board) == "left"
    assert Cornered("down").move(board) == "down"
    assert Cornered("nothing").move(board) == "up"


def test_it_refuses_to_move_when_the_game_is_over() -> None:
    with pytest.raises(UsageError, match="the game is over"):
        Cornered().move(make_game("2048:rows=2,columns=2").parse("2 4 / 4 2"))


def test_it_has_no_policy_for_kernels_and_is_evaluated_all_the_same() -> None:
    game = make_game("2048:rows=2,columns=2")
    assert Cornered().policy(game) is None
    result = evaluate(Cornered("right"), game, games=20, seed=1)
    assert result.agent == f"{__name__}:Cornered,likes=right"
    assert result.threads == 1
    assert result.games == 20


def test_it_is_made_from_a_spec_once_it_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AGENTS, "_own", dict(AGENTS._own))
    AGENTS.register("cornered", f"{__name__}:Cornered", "likes one side")
    assert make_agent("cornered:likes=up") == Cornered("up")
    assert Cornered("up").spec == "cornered:likes=up"
