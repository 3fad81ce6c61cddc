"""The methods of Game and Episode accept every form of a board, and refuse wrong types in one sentence."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw

GAME = tw.make_game("2048")
ROWS = [[2, 2, 4, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2]]
BOARD = GAME.parse(ROWS)
FORMS: list[Any] = [
    BOARD,
    "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2",
    "1120000000000001",
    ROWS,
    tuple(map(tuple, ROWS)),
    np.array(ROWS),
    np.array(ROWS, np.uint8),
    BOARD.to_json(),
    tw.make_game("2048:cascade=true").parse(ROWS),
]
METHODS: dict[str, Callable[[Any], Any]] = {
    "board_score": GAME.board_score,
    "is_over": GAME.is_over,
    "largest": GAME.largest,
    "legal": GAME.legal,
    "outcomes": GAME.outcomes,
    "parse": GAME.parse,
    "parse_position": GAME.parse_position,
    "slide": lambda board: GAME.slide(board, "left"),
    "spawn": lambda board: GAME.spawn(board, seed=7),
    "symmetries": GAME.symmetries,
    "text": GAME.text,
    "tile_sum": GAME.tile_sum,
    "Episode": lambda board: tw.Episode(GAME, start=board).move("left").board,
}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: type(form).__name__)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_takes_every_form_of_a_board(method: str, form: Any) -> None:
    assert METHODS[method](form) == METHODS[method](BOARD)


@pytest.mark.parametrize("wrong", [None, 3, 2.5, True, b"1120000000000001", {}, object(), [[2]], np.zeros((4, 4))])
@pytest.mark.parametrize("method", [name for name in METHODS if name != "Episode"])
def test_what_is_no_board_is_refused_in_one_sentence(method: str, wrong: Any) -> None:
    with pytest.raises(tw.BoardError) as refused:
        METHODS[method](wrong)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("wrong", ["sideways", "Left", "", 3, None, ["left"], np.array([1, 2]), b"left"])
def test_what_is_no_move_is_refused_in_one_sentence(wrong: Any) -> None:
    for call in (lambda: GAME.slide(BOARD, wrong), lambda: tw.Episode(GAME, start=BOARD).move(wrong)):
        with pytest.raises(tw.IllegalMoveError, match=r"is not a move.*; moves are up, right, down, left$"):
            call()


def test_a_misspelt_move_is_told_the_nearest() -> None:
    with pytest.raises(tw.IllegalMoveError, match=r"'lft' is not a move \(did you mean 'left'\?\)"):
        GAME.slide(BOARD, "lft")


def test_an_illegal_move_is_told_the_legal_ones() -> None:
    with pytest.raises(tw.IllegalMoveError, match=r"up moves nothing on '2 4 .*'; legal: right, down$"):
        GAME.slide("2 4 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "up")
    with pytest.raises(tw.IllegalMoveError, match=r"legal: none, the game is over$"):
        tw.make_game("2048:rows=2,columns=2").slide("2 4 / 4 2", "up")


def test_a_tile_is_spawned_from_a_seed_or_from_a_stream() -> None:
    after, _ = GAME.slide(BOARD, "left")
    board, reward = GAME.spawn(after, seed=7)
    assert (board, reward) == GAME.spawn(after, tw.stream_for(7))
    assert board in [outcome for outcome, _ in GAME.outcomes(after)]
    stream = tw.stream_for(7)
    assert GAME.spawn(after, stream)[0] == board
    assert len({GAME.spawn(after, stream)[0] for _ in range(50)}) > 10


def test_a_spawn_needs_either_a_stream_or_a_seed() -> None:
    for options in ({}, {"stream": tw.stream_for(1), "seed": 1}):
        with pytest.raises(tw.UsageError, match="spawn needs either a stream or a seed"):
            GAME.spawn(BOARD, **options)  # type: ignore[arg-type]
    with pytest.raises(tw.UsageError, match="'x' is not a random stream"):
        GAME.spawn(BOARD, "x")  # type: ignore[arg-type]
    with pytest.raises(tw.UsageError, match="seed -1"):
        GAME.spawn(BOARD, seed=-1)
    with pytest.raises(tw.UsageError, match="7 is not a random stream"):
        GAME.start_from(7)  # type: ignore[arg-type]


@pytest.mark.parametrize("code", [-1, 18, 1.0, "1", None])
def test_what_is_no_tile_code_is_refused(code: Any) -> None:
    with pytest.raises(tw.UsageError, match=r"^tile code .*: must be a whole number from 0 to 17$"):
        GAME.value(code)


@pytest.mark.parametrize("value", [3, 2.0, "2", True, None])
@pytest.mark.parametrize("game", ["2048", "threes"])
def test_what_is_no_tile_is_refused(game: str, value: Any) -> None:
    if (game, value) != ("threes", 3):
        with pytest.raises(tw.BoardError, match=r"is not a tile of|is not a whole number"):
            tw.make_game(game).code(value)


def test_a_game_is_played_by_hand_with_public_names_alone() -> None:
    stream = tw.stream_for(seed=3, number=5)
    board, score = GAME.start_from(stream)
    moves = 0
    while not GAME.is_over(board):
        after, reward = GAME.slide(board, GAME.legal(board)[0])
        board, spawn_reward = GAME.spawn(after, stream)
        score, moves = score + reward + spawn_reward, moves + 1
    episode = tw.Episode("2048", seed=3, number=5)
    while episode.legal:
        episode.move(episode.legal[0])
    assert (episode.board, episode.score, len(episode.history)) == (board, score, moves)


def test_an_episode_takes_a_spec_or_a_game() -> None:
    assert tw.Episode("threes:rows=3", seed=2) == tw.Episode(tw.make_game("threes", rows=3), seed=2)
    assert tw.Episode().game == GAME
    with pytest.raises(tw.SpecError, match="3 is not a game"):
        tw.Episode(3)  # type: ignore[arg-type]
    with pytest.raises(tw.UsageError, match="seed 'x': a seed is a whole number from 0 up"):
        tw.Episode(seed="x")  # type: ignore[arg-type]


def test_an_episode_is_shown_in_short() -> None:
    episode = tw.Episode("2048:rows=2,columns=2", seed=7)
    while episode.legal:
        episode.move(episode.legal[0])
    moves, score = len(episode.history), episode.score
    assert repr(episode) == f"<Episode of 2048:rows=2,columns=2, seed 7: score {score:,}, {moves} moves, over>"
    assert str(episode).endswith(f"score {score:,}, {moves} moves, over")
