"""Encodings of states: as the reference writes them, board by board."""

import re

import numpy as np
import pytest

from tests.envs import reference
from tilewright import Board, UsageError, make_game
from tilewright.envs.observations import encode_batch, legal_masks, make_encoder, make_grid_encoder, observation_shape
from tilewright.games.episode import Episode
from tilewright.games.rules import ACTIONS

GAMES = ["2048", "threes", "2048:rows=2,columns=3", "threes:columns=3"]


def boards_of(spec: str, count: int = 40) -> list[Board]:
    """Boards of a game of random moves."""
    game, choices = make_game(spec), np.random.default_rng(0)
    boards: list[Board] = []
    seed = 0
    while len(boards) < count:
        episode, seed = Episode(game, seed), seed + 1
        while not episode.is_over:
            boards.append(episode.board)
            episode.move(str(choices.choice(game.legal(episode.board))))
        boards.append(episode.board)
    return boards[-count:]


@pytest.mark.parametrize("observation", reference.OBSERVATIONS)
@pytest.mark.parametrize("spec", GAMES)
def test_an_encoding_is_that_of_the_reference(spec: str, observation: str) -> None:
    game, boards = make_game(spec), boards_of(spec)
    encoder = make_encoder(game, observation)
    cells, extra = (np.array([board.state[k] for board in boards], np.uint64) for k in (0, 1))
    found = np.full((len(boards), *observation_shape(encoder)), 99, np.uint8)
    encode_batch(encoder, game.rules, cells, extra, found.reshape(len(boards), -1))
    assert np.array_equal(found, [reference.OBSERVATIONS[observation](board) for board in boards])


@pytest.mark.parametrize("spec", GAMES)
def test_legal_moves_are_found_on_grids_alone(spec: str) -> None:
    game, boards = make_game(spec), boards_of(spec)
    grids = np.stack([reference.grid(board) for board in boards])
    masks = np.empty((len(boards), len(ACTIONS)), np.bool_)
    legal_masks(make_grid_encoder(game), game.rules, grids.reshape(len(boards), -1), masks)
    assert np.array_equal(masks, [reference.action_mask(board) for board in boards])


def test_tiles_above_32768_have_codes_of_their_own_and_are_downgraded_one_hot() -> None:
    game = make_game("2048")
    board = game.parse("65536 131072 2 0 / 32768 0 0 0 / 0 0 0 0 / 0 0 0 0")
    cells, extra = (np.array([word], np.uint64) for word in board.state)
    grid, planes = np.empty((1, 16), np.uint8), np.empty((1, 16 * 16), np.uint8)
    encode_batch(make_encoder(game, "grid"), game.rules, cells, extra, grid)
    encode_batch(make_encoder(game, "onehot"), game.rules, cells, extra, planes)
    assert grid[0, :5].tolist() == [16, 17, 1, 0, 15]
    shown = planes.reshape(16, 4, 4)
    assert (shown.sum(axis=0) == 1).all()
    assert shown[:, 0, 1].argmax() == 15


def test_an_unknown_observation_is_refused() -> None:
    with pytest.raises(UsageError, match=re.escape("observation='rgb'; allowed: grid, onehot, lookahead1, lookahead2")):
        make_encoder(make_game("2048"), "rgb")
