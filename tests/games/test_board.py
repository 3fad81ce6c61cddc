"""Boards as people see them, and facts that must never change under old results."""

import pytest

from tilewright.errors import SpecError
from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.games.episode import Episode

GAME = make_game("2048")
THREES = make_game("threes")


def test_the_nibbles_read_like_the_board() -> None:
    board = GAME.parse("2 4 0 0 / 0 0 8 0 / 0 0 0 0 / 0 0 0 32768")
    assert f"{int(board.state.cells):016x}" == "120000300000000f"


def test_a_small_board_fills_the_upper_left_corner() -> None:
    board = make_game("2048", rows=2, columns=3).parse("2 4 8 / 16 32 64")
    assert f"{int(board.state.cells):016x}" == "1230456000000000"


def test_first_boards_and_streams_stay_what_they_are() -> None:
    # Published results name their seeds: the same seed must give the same games for good.
    assert GAME.text(GAME.start(seed=1)) == "0 0 0 0 / 0 0 0 0 / 0 0 2 0 / 2 0 0 0"
    assert THREES.text(THREES.start(seed=1)) == "1 2 2 0 / 1 3 2 0 / 0 0 0 0 / 1 3 3 0 hint=3 bag=110"


@pytest.mark.parametrize(
    ("spec", "moves", "score", "text"),
    [
        ("2048", 201, 2356, "8 2 8 2 / 16 32 256 4 / 8 64 8 2 / 2 8 2 16"),
        ("2048:rows=3,columns=3,four=0.5,cascade=true", 30, 256, "2 32 4 / 16 4 2 / 8 32 8"),
        ("threes", 19, 72, "6 2 3 2 / 2 6 1 3 / 6 12 6 1 / 2 2 3 1 hint=1 bag=322"),
    ],
)
def test_a_golden_game_is_replayed(spec: str, moves: int, score: int, text: str) -> None:
    episode = Episode(make_game(spec), seed=2048)
    while legal := episode.legal:
        episode.move(legal[len(episode.history) % len(legal)])
    assert (len(episode.history), episode.score, episode.game.text(episode.board)) == (moves, score, text)


def test_a_merged_tile_does_not_merge_again() -> None:
    after, reward = GAME.slide(GAME.parse("2 2 4 0" + " 0" * 12), "left")
    assert (after.tiles[0], reward) == ((4, 4, 0, 0), 4)


def test_a_merged_tile_merges_again_with_the_next_where_that_is_asked_for() -> None:
    game = make_game("2048:cascade=true")
    for row, moved, reward in (("2 2 4 0", (8, 0, 0, 0), 12), ("4 2 2 0", (4, 4, 0, 0), 4)):
        after, gain = game.slide(game.parse(row + " 0" * 12), "left")
        assert (after.tiles[0], gain) == (moved, reward)


def test_merging_starts_at_the_side_moved_to() -> None:
    board = GAME.parse("2 2 2 0" + " 0" * 12)
    assert GAME.slide(board, "left")[0].tiles[0] == (4, 2, 0, 0)
    assert GAME.slide(board, "right")[0].tiles[0] == (0, 0, 2, 4)


def test_lines_of_threes_move_one_cell_and_merge_once() -> None:
    board = THREES.parse("0 1 2 0 / 1 2 3 3 / 3 3 6 0 / 1 1 2 2")
    after, reward = THREES.slide(board, "left")
    assert after.tiles == ((1, 2, 0, 0), (3, 3, 3, 0), (6, 6, 0, 0), (1, 3, 2, 0))
    assert reward == 3 + 3 + 3
    assert after.notes["entry"] == "37bf"


def test_the_largest_tile_of_the_paper_merges_no_more() -> None:
    row = "6144 6144 1 1 / 1 1 1 1 / 1 1 1 1 / 1 1 1 1"
    assert make_game("threes:max_tile=6144").is_over(make_game("threes:max_tile=6144").parse(row))
    assert THREES.slide(THREES.parse(row), "left")[0].tiles[0][0] == 12288


def test_equal_boards_are_equal_and_hash_alike() -> None:
    parsed = GAME.parse("4 0 0 0" + " 0" * 12)
    slid, _ = GAME.slide(GAME.parse("2 2 0 0" + " 0" * 12), "left")
    assert parsed == slid
    assert hash(parsed) == hash(slid)
    assert len({parsed, slid, GAME.parse("2 0 0 0" + " 0" * 12)}) == 2


def test_boards_of_different_games_or_hints_differ() -> None:
    zeros = [0] * 16
    assert GAME.parse(zeros) != make_game("2048:four=0.5").parse(zeros)
    assert GAME.parse(zeros) != THREES.parse(zeros)
    assert THREES.parse({"board": zeros, "hint": 1}) != THREES.parse({"board": zeros, "hint": 2})


def test_a_board_is_drawn_with_its_notes() -> None:
    game = make_game("threes", rows=2, columns=2, start_tiles=2)
    assert str(game.parse("1 0 / 12 3 hint=2 bag=413")).splitlines() == [
        "┌──────┬──────┐",
        "│    1 │      │",
        "├──────┼──────┤",
        "│   12 │    3 │",
        "└──────┴──────┘",
        "hint=2 bag=413",
    ]


def test_a_notebook_shows_every_tile_and_the_notes() -> None:
    html = THREES.parse("1 2 3 6 / 12 24 48 96 / 192 384 768 1536 / 3072 6144 12288 0 hint=+")._repr_html_()
    for tile in (*THREES.tile_values[1:], ""):
        assert html.count(f">{tile}</td>") == 1
    assert html.count("<tr>") == 4
    assert "hint=+" in html


def test_repr_names_the_game_and_the_text() -> None:
    game = make_game("2048", rows=2, columns=2)
    assert repr(game.parse("2 4 / 0 8")) == "Board('2048:rows=2,columns=2', '2 4 / 0 8')"


@pytest.mark.parametrize(
    "spec",
    [
        *("2048:rows=1", "2048:columns=5", "2048:four=1.1", "2048:four=-0.1", "2048:start_tiles=0"),
        *("2048:start_tiles=17", "2048:win_tile=3", "threes:rows=2,columns=2", "threes:max_tile=5"),
    ],
)
def test_impossible_options_are_refused(spec: str) -> None:
    with pytest.raises(SpecError, match="must be"):
        make_game(spec)


@pytest.mark.parametrize(
    ("game", "board", "score"),
    [
        (make_game("2048"), "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2048", 0),
        (THREES, "1 2 3 6 / 0 0 0 0 / 0 0 0 0 / 0 0 0 12 hint=2", 3 + 9 + 27),
    ],
)
def test_an_episode_may_begin_with_any_board_and_the_score_of_its_tiles(game: Game, board: str, score: int) -> None:
    start = game.parse(board)
    episode = Episode(game, seed=3, start=start)
    assert (episode.board, episode.score, episode.history) == (start, score, [])
    assert game.board_score(start) == game.board_score(board) == score
    after, reward = game.slide(start, "left")
    episode.move("left")
    assert episode.board in [outcome for outcome, _ in game.outcomes(after)]
    assert episode.score == score + reward + game.board_score(episode.board) - game.board_score(after)
    assert episode.undo().board == start
