"""Words of files as states: what games reach is sound, and what kernels must not read is not."""

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.games.test_line_game import Triples
from tilewright import Episode, make_game
from tilewright.errors import BoardError, SpecError
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.rules import State, make_outcomes

GAMES = [
    make_game("2048"),
    make_game("2048:rows=2,columns=3,cascade=true"),
    make_game("threes"),
    make_game("threes:rows=3,columns=2,start_tiles=4,max_tile=96"),
    Triples(),
]


def words(boards: list[Board]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    cells, extra = (np.array([board.state[k] for board in boards], np.uint64) for k in (0, 1))
    return cells, extra


def played(game: Game, seed: int) -> tuple[list[Board], list[Board]]:
    """The states and the afterstates of a game of random moves."""
    episode, rng = Episode(game, seed=seed), random.Random(seed)
    states, afterstates = [episode.board], []
    while episode.legal and len(states) < 200:
        action = rng.choice(episode.legal)
        afterstates.append(game.slide(episode.board, action)[0])
        states.append(episode.move(action).board)
    return states, afterstates


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.spec)
def test_all_that_is_played_is_sound_and_has_room_for_its_outcomes(game: Game) -> None:
    for seed in range(3):
        states, afterstates = played(game, seed)
        assert game.are_sound(*words(states)).all()
        assert game.are_sound(*words(afterstates), after=True).all()
        for after in afterstates:
            assert game.parse(game.text(after)) == after
            assert len(game.outcomes(after)) <= game.max_outcomes <= len(make_outcomes().cells)


@pytest.mark.parametrize(
    ("spec", "after"),
    [
        ("2048", "0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"),
        ("threes", "12288 0 0 0 / 1 0 0 0 / 1 0 0 0 / 1 0 0 0 entry=37bf"),
        ("threes:max_tile=96", "96 0 0 0 / 1 0 0 0 / 1 0 0 0 / 1 0 0 0 entry=37bf"),
    ],
)
def test_the_largest_number_of_outcomes_is_reached(spec: str, after: str) -> None:
    game = make_game(spec)
    assert len(game.outcomes(after)) == game.max_outcomes


UNSOUND = [
    ("2048:rows=3,columns=3", 0x0001_0000_0000_0000, 0),  # a tile beside the board
    ("2048:rows=3,columns=3", 0x1000_0000_0000_0000, 0x1),  # a fifth bit beside the board
    ("2048", 0x2000_0000_0000_0000, 0x8000),  # code 18: twice the largest tile
    ("2048", 0x1000_0000_0000_0000, 0x10000),  # a fifth bit of no cell
    ("threes", 0x1000_0000_0000_0000, 0xD),  # a bonus tile of 3072
    ("threes", 0x1000_0000_0000_0000, 0o5 << 4),  # five 1s in the bag
    ("threes", 0x1000_0000_0000_0000, 0x2000),  # a bit that means nothing
    ("threes", 0x1000_0000_0000_0000, 0x1_0000_0000),
    ("threes:max_tile=48", 0x8000_0000_0000_0000, 0),
    ("threes", 0x1000_0000_0000_0000, 0x1000_0000),  # an afterstate
]


@pytest.mark.parametrize(("spec", "cells", "extra"), UNSOUND)
def test_words_that_are_no_state_are_found(spec: str, cells: int, extra: int) -> None:
    sound = make_game(spec).are_sound(np.array([0, cells], np.uint64), np.array([0, extra], np.uint64))
    assert sound.tolist() == [True, False]


def test_a_line_game_has_nothing_but_tiles() -> None:
    game = Triples()
    code = len(game.tile_values)
    cells, extra = np.array([0, code << 60, 0], np.uint64), np.array([0, 0, 1], np.uint64)
    assert game.are_sound(cells, extra).tolist() == [True, code > 15, False]


@pytest.mark.parametrize(
    ("spec", "cells", "extra"),
    [
        ("2048", 0x1212_2121_1212_2121, 0),  # no cell is empty
        ("2048", 0x0212_2121_1212_2121, 0x8000),  # nor here: a 65536 has the nibble 0
        ("threes", 0x1000_0000_0000_0000, 0),  # no entry cell
        ("threes", 0x1000_0000_0000_0000, 0x8000_0000),  # one that is occupied
        ("threes", 0x1000_0000_0000_0000, 0x0001_0000),  # one behind an empty line
        ("threes", 0x1111_0000_0000_0000, 0x000F_0000 | 0x0400_0000),  # cells of no one edge
    ],
)
def test_words_that_are_no_afterstate_are_found(spec: str, cells: int, extra: int) -> None:
    sound = make_game(spec).are_sound(np.array([cells], np.uint64), np.array([extra], np.uint64), after=True)
    assert not sound.any()


@pytest.mark.parametrize(
    "text",
    [
        "384 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0 entry=123456789abcdef",  # 720 outcomes once overran a room for 256
        "384 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0 entry=f",
        "384 0 0 0 / 1 0 0 0 / 0 0 0 0 / 0 0 0 0 entry=3d",
        "0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0 entry=0",
        "384 0 0 0 / 1 0 0 0 / 0 0 0 0 / 0 0 0 0 entry=6",
    ],
)
def test_text_that_no_move_leads_to_is_refused(text: str) -> None:
    with pytest.raises(BoardError, match="no move leads there; tiles enter at one edge"):
        make_game("threes").outcomes(text)


def test_a_board_made_by_hand_has_no_more_outcomes_than_room() -> None:
    game = make_game("threes")
    with pytest.raises(BoardError, match="tiles enter at one edge only"):
        game.outcomes(Board(game, State(0, 0xFFFF_0000)))


def test_a_game_with_more_outcomes_than_room_is_refused() -> None:
    class Crowded(Triples):
        @property
        def max_outcomes(self) -> int:
            return 257

    with pytest.raises(SpecError, match="up to 257 outcomes; kernels have room for 256"):
        Crowded().start()
