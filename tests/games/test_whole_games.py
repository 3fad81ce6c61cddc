"""Whole random games, replayed step by step on the naive games."""

import random

import pytest

from tests.games.naive import score
from tests.games.variants import naive_state, twin
from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.games.episode import Episode

SPECS = [
    "2048",
    "2048:four=0.5,start_tiles=1,cascade=true",
    "2048:rows=3,columns=3",
    "2048:rows=2,columns=4,four=1",
    "2048:rows=4,columns=3,four=0,start_tiles=12",
    "threes",
    "threes:max_tile=6144",
    "threes:rows=3,columns=4",
    "threes:rows=4,columns=2,start_tiles=3,max_tile=48",
]
GAMES = 4


def play(game: Game, number: int) -> Episode:
    """A game of random moves."""
    rng = random.Random(number)
    episode = Episode(game, seed=11, number=number)
    while not episode.is_over:
        episode.move(rng.choice(episode.legal))
    return episode


@pytest.mark.parametrize("number", range(GAMES))
@pytest.mark.parametrize("spec", SPECS)
def test_every_step_of_a_game_is_one_the_naive_game_can_make(spec: str, number: int) -> None:
    game = make_game(spec)
    naive = twin(game)
    episode = play(game, number)
    boards = [turn.board for turn in episode.history] + [episode.board]
    scores = [turn.score for turn in episode.history] + [episode.score]
    for i, turn in enumerate(episode.history):
        state, following = naive_state(boards[i]), naive_state(boards[i + 1])
        slide = naive.slide(state, turn.action)
        assert slide is not None
        assert game.legal(boards[i]) == naive.legal(state)
        assert following in naive.outcomes(slide.after)
        spawned = 0 if slide.after.hint == 0 else score(following.board) - score(slide.after.board)
        assert scores[i + 1] - scores[i] == slide.reward + spawned
    assert naive.legal(naive_state(episode.board)) == []


@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec.startswith("threes")])
def test_the_score_of_threes_is_that_of_its_tiles_at_every_move(spec: str) -> None:
    for number in range(GAMES):
        episode = play(make_game(spec), number)
        assert episode.score == score(episode.board.tiles)
        assert all(turn.score == score(turn.board.tiles) for turn in episode.history)


@pytest.mark.parametrize("start_tiles", [1, 2, 7, 16])
def test_a_game_of_2048_begins_with_its_start_tiles_and_the_score_0(start_tiles: int) -> None:
    for number in range(20):
        episode = Episode(make_game("2048", start_tiles=start_tiles), seed=11, number=number)
        tiles = [tile for row in episode.board.tiles for tile in row if tile]
        assert len(tiles) == start_tiles
        assert set(tiles) <= {2, 4}
        assert episode.score == 0


def test_a_game_of_threes_begins_with_nine_tiles_and_their_score() -> None:
    for number in range(20):
        episode = Episode(make_game("threes"), seed=11, number=number)
        tiles = [tile for row in episode.board.tiles for tile in row if tile]
        assert len(tiles) == 9
        assert all(tiles.count(tile) <= 4 for tile in tiles)
        assert episode.score == 3 * tiles.count(3)
