"""Searches that another thread stops while they are under way."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.web.live import HANG_SECONDS, wait_until
from tilewright import Player, SearchStoppedError, make_agent, make_game
from tilewright.rng import stream_for

BOARD = "2 4 8 16 / 4 0 0 0 / 2 0 0 2 / 0 0 0 0"
ENDLESS = [  # within the options' ranges, and beyond the patience of anybody
    "heuristic:depth=12",
    "heuristic:ms=3600000,depth=12",
    "minimax:depth=16",
    "montecarlo:rollouts=10000000",
    "montecarlo:rollouts=10000000,threads=2",
    "uct:rollouts=1000000",
]


def endless(spec: str) -> Player:
    return make_agent(spec).player(make_game("2048"))


@pytest.mark.parametrize("spec", ENDLESS)
def test_a_search_ends_when_its_player_is_stopped(spec: str) -> None:
    player = endless(spec)
    with ThreadPoolExecutor(1) as pool:
        search = pool.submit(player.analyse, BOARD)
        wait_until(lambda: player.has_begun)
        player.stop()
        with pytest.raises(SearchStoppedError, match="was stopped"):
            search.result(HANG_SECONDS)


def test_so_does_a_game() -> None:
    player = endless("heuristic:depth=12")
    with ThreadPoolExecutor(1) as pool:
        game = pool.submit(player.play, BOARD, 0, stream_for(0), 1000)
        wait_until(lambda: player.has_begun)
        player.stop()
        with pytest.raises(SearchStoppedError):
            game.result(HANG_SECONDS)


def test_a_player_that_was_stopped_searches_no_more() -> None:
    for spec in ("greedy", "heuristic:depth=2"):
        player = endless(spec)
        player.stop()
        with pytest.raises(SearchStoppedError):
            player.analyse(BOARD)
        with pytest.raises(SearchStoppedError):
            player.play(BOARD, 0, stream_for(0), 5)


def test_stopping_one_player_leaves_the_others_alone() -> None:
    stopped, other = endless("heuristic:depth=2"), endless("heuristic:depth=2")
    expected = other.analyse(BOARD).values
    threading.Thread(target=stopped.stop).start()
    assert other.analyse(BOARD).values == expected
