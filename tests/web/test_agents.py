"""Agents of the server: players that are kept, models that change, limits of options."""

import os
import shutil
import threading
from pathlib import Path

import pytest

from tests.web.conftest import BOARD
from tests.web.live import HANG_SECONDS
from tilewright import SpecError, make_agent, make_game
from tilewright.web.agents import AgentCatalogue, WebAgent, names_a_run
from tilewright.web.limits import Limits
from tilewright.web.playback import Playback
from tilewright.web.positions import start_position
from tilewright.web.runs import RunLibrary

GAME = make_game("2048")


def catalogue(runs: Path, *offered: str) -> AgentCatalogue:
    return AgentCatalogue(RunLibrary(runs), Limits(), offered)


def test_a_player_is_kept_from_one_request_to_the_next(tmp_path: Path) -> None:
    agents = catalogue(tmp_path)
    players = []
    for _ in range(3):
        with agents.make("heuristic:depth=2", GAME).player(GAME) as player:
            players.append(player)
    assert players[0] is players[1] is players[2]
    with agents.make("heuristic:depth=2", GAME).player(make_game("threes")) as other:
        assert other is not players[0]


def test_two_threads_never_share_a_player(tmp_path: Path) -> None:
    agent, players, both = catalogue(tmp_path).make("greedy", GAME), [], threading.Barrier(2)

    def borrow() -> None:
        with agent.player(GAME) as player:
            players.append(player)
            both.wait(HANG_SECONDS)

    threads = [threading.Thread(target=borrow) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG_SECONDS)
    assert players[0] is not players[1]


def test_a_player_whose_request_failed_is_not_used_again(tmp_path: Path) -> None:
    agent = catalogue(tmp_path).make("greedy", GAME)
    with pytest.raises(SpecError), agent.player(GAME) as failed:
        raise SpecError("")
    with agent.player(GAME) as player:
        assert player is not failed


def test_the_analysis_is_that_of_a_player_in_python(tmp_path: Path) -> None:
    agents = catalogue(tmp_path)
    for spec in ("heuristic:depth=2", "greedy", "random", "minimax:depth=2"):
        expected = make_agent(spec).player(GAME).analyse(BOARD)
        for _ in range(2):
            found = agents.make(spec, GAME).analyse(GAME.parse(BOARD))
            assert (found.values, found.move, found.depth) == (expected.values, expected.move, expected.depth)


def test_a_model_that_changes_is_read_again(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "large", tmp_path / "mine")
    agents = catalogue(tmp_path)
    before = agents.make("ntuple:model=mine", GAME)
    assert agents.make("ntuple:model=mine", GAME) is before
    file = tmp_path / "mine" / "model.safetensors"
    os.utime(file, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns + 10**9))
    after = agents.make("ntuple:model=mine", GAME)
    assert after is not before
    assert after.spec == "ntuple:model=mine"


def test_options_that_the_server_was_started_with_are_taken_as_they_are(tmp_path: Path) -> None:
    agents = catalogue(tmp_path, "heuristic:depth=6,table=1.0")
    assert agents.make("heuristic:depth=6,table=1.0", GAME).agent == make_agent("heuristic:depth=6,table=1.0")
    assert agents.specs(GAME)[-1] == "heuristic:depth=6,table=1.0"
    for spec in ("heuristic:depth=6", "heuristic:depth=6,table=2.0"):
        with pytest.raises(SpecError):
            agents.make(spec, GAME)


def test_agents_with_equal_specs_are_few(tmp_path: Path) -> None:
    agents = catalogue(tmp_path)
    first = agents.make("heuristic:ms=1", GAME)
    for ms in range(2, 100):
        agents.make(f"heuristic:ms={ms}", GAME)
    assert agents.make("heuristic:ms=1", GAME) is not first
    assert isinstance(first, WebAgent)


def test_work_is_quick_after_it_was_done_once_and_only_that_work(runs: Path, tmp_path: Path) -> None:
    """Analysing and playing have kernels of their own, and a new model is loaded by the first request for it."""
    shutil.copytree(runs / "large", tmp_path / "mine")
    agents = catalogue(tmp_path)
    agent = agents.make("ntuple:model=mine", GAME)
    assert not agent.is_quick(GAME, "analyse")
    agent.analyse(GAME.parse(BOARD))
    assert agent.is_quick(GAME, "analyse")
    assert not agent.is_quick(GAME, "play", has_player=True)
    Playback(agent, GAME).play(start_position(GAME, 0, 0), 1)
    assert agent.is_quick(GAME, "play")
    with agent.player(GAME):  # another one would load the model
        assert not agent.is_quick(GAME, "play")
        assert agent.is_quick(GAME, "play", has_player=True)
    os.utime(tmp_path / "mine" / "model.safetensors", (1, 1))
    assert not agents.make("ntuple:model=mine", GAME).is_quick(GAME, "play")
    searching = agents.make("heuristic:depth=2", GAME)
    searching.analyse(GAME.parse(BOARD))
    assert not searching.is_quick(GAME, "analyse")


def test_specs_that_may_name_a_run_are_told_from_the_others() -> None:
    for spec in ("ntuple:model=mine", "ntuple:model =mine", "expectimax:depth=2,model=mine"):
        assert names_a_run(spec)
    for other in (None, "greedy", "own:Agent,submodel=3", "expectimax:depth=2"):
        assert not names_a_run(other)
