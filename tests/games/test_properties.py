"""What holds on any board of any variant: symmetry, text, illegal moves, undo."""

import json
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.games.naive import DIRECTIONS
from tests.games.variants import VARIANTS, random_board
from tilewright.errors import IllegalMoveError, UsageError
from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.games.board import Board, Tiles
from tilewright.games.episode import Episode

# The same examples in every run: a failure is never a matter of luck.
exactly = settings(derandomize=True, deadline=None, max_examples=150)

boards = st.builds(
    lambda game, seed: random_board(game, random.Random(seed)), st.sampled_from(VARIANTS), st.integers(0, 2**32)
)
MIRROR = {"left": "right", "right": "left", "up": "up", "down": "down"}
FLIP = {"left": "left", "right": "right", "up": "down", "down": "up"}
TRANSPOSE = {"left": "up", "up": "left", "right": "down", "down": "right"}


def image_of_action(action: str, which: int) -> str:
    """Where the action goes in symmetric image number `which`."""
    for bit, orient in ((4, TRANSPOSE), (1, MIRROR), (2, FLIP)):
        action = orient[action] if which & bit else action
    return action


def image_of_tiles(tiles: Tiles, which: int) -> Tiles:
    array = np.array(tiles)
    array = array.T if which & 4 else array
    array = array[:, ::-1] if which & 1 else array
    array = array[::-1] if which & 2 else array
    return tuple(tuple(row) for row in array.tolist())


@st.composite
def episodes(draw: st.DrawFn) -> Episode:
    """A game that some random moves were played of."""
    game: Game = draw(st.sampled_from([make_game("2048"), make_game("threes"), make_game("2048:rows=2,columns=3")]))
    episode = Episode(game, seed=draw(st.integers(0, 1000)))
    for choice in draw(st.lists(st.integers(0, 3), max_size=30)):
        if legal := episode.legal:
            episode.move(legal[choice % len(legal)])
    return episode


@exactly
@given(boards)
def test_images_are_the_board_mirrored_flipped_and_transposed(board: Board) -> None:
    symmetries = board.game.symmetries(board)
    assert len(symmetries) == (8 if board.game.rows == board.game.columns else 4)
    for which, symmetry in enumerate(symmetries):
        assert symmetry.tiles == image_of_tiles(board.tiles, which)
        assert symmetry.notes == board.notes


@exactly
@given(boards)
def test_sliding_commutes_with_every_symmetry(board: Board) -> None:
    game = board.game
    for action in game.legal(board):
        after, reward = game.slide(board, action)
        for which, symmetry in enumerate(game.symmetries(board)):
            assert game.slide(symmetry, image_of_action(action, which)) == (game.symmetries(after)[which], reward)


@exactly
@given(boards)
def test_text_and_json_read_back_as_the_same_board(board: Board) -> None:
    game = board.game
    known = [board, *(game.slide(board, action)[0] for action in game.legal(board))]
    for one in known:
        assert game.parse(game.text(one)) == one
        assert game.parse(one.to_json()) == one
        assert game.parse(json.dumps(one.to_json())) == one


@exactly
@given(boards)
def test_hexadecimal_codes_read_back_as_the_same_tiles(board: Board) -> None:
    codes = [code for row in board.codes for code in row]
    if max(codes) <= 15:
        assert board.game.parse("".join(f"{code:x}" for code in codes)).tiles == board.tiles


@exactly
@given(episodes())
def test_an_illegal_move_raises_and_changes_nothing(episode: Episode) -> None:
    def everything() -> tuple[Board, int, list[int], int]:
        return episode.board, episode.score, episode.stream.tolist(), len(episode.history)

    before = everything()
    for action in {*DIRECTIONS, "sideways", ""} - set(episode.legal):
        with pytest.raises(IllegalMoveError):
            episode.move(action)
        assert everything() == before


@exactly
@given(episodes())
def test_undo_restores_every_position_exactly(episode: Episode) -> None:
    for turn in reversed(list(episode.history)):
        board, score, stream = episode.board, episode.score, episode.stream.tolist()
        episode.undo()
        assert (episode.board, episode.score) == (turn.board, turn.score)
        assert episode.stream.tolist() == turn.stream.tolist()
        episode.move(turn.action)
        assert (episode.board, episode.score, episode.stream.tolist()) == (board, score, stream)
        episode.undo()
    assert episode == Episode(episode.game, episode.seed)
    assert episode.stream.tolist() == Episode(episode.game, episode.seed).stream.tolist()
    with pytest.raises(UsageError):
        episode.undo()


@exactly
@given(episodes())
def test_the_same_moves_of_the_same_seed_are_an_equal_game(episode: Episode) -> None:
    again = Episode(episode.game, episode.seed)
    for turn in episode.history:
        assert again != episode
        again.move(turn.action)
    assert again == episode
