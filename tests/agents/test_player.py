"""Players: agents keep one for each thread, and read a model file again when it changes."""

import os
import threading
from pathlib import Path

import pytest

from tests.agents.test_ntuple import random_model
from tilewright import Agent, Game, make_agent, make_game
from tilewright.agents.expectimax import ExpectimaxAgent
from tilewright.games.policy import Policy

GAME = make_game("2048:rows=3,columns=3")
BOARD = GAME.parse("2 2 4 / 0 8 0 / 0 0 2")


@pytest.fixture
def policies(monkeypatch: pytest.MonkeyPatch) -> list[Policy]:
    """The policies that agents have made since the test began."""
    made: list[Policy] = []
    make = ExpectimaxAgent.policy

    def policy(agent: ExpectimaxAgent, game: Game) -> Policy:
        made.append(make(agent, game))
        return made[-1]

    monkeypatch.setattr(ExpectimaxAgent, "policy", policy)
    return made


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    model = tmp_path / "model.safetensors"
    random_model(GAME.spec).save(model)
    return make_agent(f"expectimax:model={model}")


def test_two_calls_use_the_same_policy(agent: Agent, policies: list[Policy]) -> None:
    first = agent.move(BOARD)
    assert agent.move(BOARD) == first
    assert agent.values(BOARD)[first] == max(agent.values(BOARD).values())
    assert len(policies) == 1


def test_every_thread_has_a_policy_of_its_own(agent: Agent, policies: list[Policy]) -> None:
    moves = [agent.move(BOARD)]
    thread = threading.Thread(target=lambda: moves.append(agent.move(BOARD)))
    thread.start()
    thread.join()
    assert moves[0] == moves[1]
    assert len(policies) == 2
    assert policies[0].status.depth is not policies[1].status.depth


def test_another_game_gets_another_player(agent: Agent, policies: list[Policy]) -> None:
    other = make_game("2048:rows=3,columns=3,four=0.5")
    agent.move(BOARD)
    agent.move(other.parse(BOARD.to_json()))
    assert len(policies) == 2


def test_a_changed_model_file_is_read_again(agent: Agent, policies: list[Policy]) -> None:
    before = agent.values(BOARD)
    file = Path(str(agent.model))  # type: ignore[attr-defined]
    changed = file.stat().st_mtime_ns
    random_model(GAME.spec, seed=9).save(file)
    os.utime(file, ns=(changed + 10**9, changed + 10**9))
    after = agent.values(BOARD)
    assert after != before
    assert len(policies) == 2
    fresh = make_agent(agent.spec).values(BOARD)
    assert after == fresh


def test_a_player_that_is_held_keeps_its_model(agent: Agent) -> None:
    player = agent.player(GAME)
    before = player.analyse(BOARD).values
    file = Path(str(agent.model))  # type: ignore[attr-defined]
    random_model(GAME.spec, seed=9).save(file)
    assert player.analyse(BOARD).values == before
