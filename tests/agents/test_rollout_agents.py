"""The agents that play games out, as the registry makes them."""

from pathlib import Path

import pytest

from tests.agents.test_ntuple import random_model
from tilewright import UsageError, make_agent, make_game
from tilewright.testing import check_agent

GAMES = ["2048:rows=3,columns=3", "threes:rows=3,columns=4"]
AGENTS = ["montecarlo:rollouts=5", "uct:rollouts=12"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    random_model(GAMES[0]).save(path)
    return path


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("value", ["score", "sum", "largest"])
def test_they_hold_what_every_agent_must(agent: str, game: str, value: str) -> None:
    check_agent(make_agent(f"{agent},value={value}"), make_game(game), games=2)


def test_they_do_so_with_playouts_that_prefer_merges() -> None:
    check_agent(make_agent(f"{AGENTS[0]},playout=merges"), make_game(GAMES[0]), games=2)


@pytest.mark.parametrize("agent", AGENTS)
def test_they_do_so_with_a_network(agent: str, model: Path) -> None:
    check_agent(make_agent(f"{agent},playout=network,horizon=2,model={model}"), make_game(GAMES[0]), games=1)


def test_a_shared_spawn_and_threads_hold_it_too() -> None:
    check_agent(make_agent("montecarlo:rollouts=6,spawn=shared,threads=3"), make_game(GAMES[0]), games=1)


@pytest.mark.parametrize("agent", ["montecarlo", "uct"])
def test_a_spec_is_what_makes_an_equal_agent(agent: str) -> None:
    assert make_agent(agent).spec == agent
    spec = f"{agent}:rollouts=10,value=largest,playout=merges"
    assert make_agent(spec).spec == spec
    assert make_agent(agent, rollouts=10, value="largest", playout="merges") == make_agent(spec)


@pytest.mark.parametrize("agent", ["montecarlo", "uct"])
def test_a_finished_game_has_no_values_and_no_move(agent: str) -> None:
    board = make_game("2048:rows=2,columns=2").parse("2 4 / 4 2")
    assert make_agent(agent).values(board) == {}
    with pytest.raises(UsageError, match="the game is over: no move is legal on '2 4 / 4 2'"):
        make_agent(agent).move(board)
