"""Distilled tables: what is kept, what is lost, and that nothing damaged is accepted."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tests.exact.test_endgame import naive_values, with_tiles
from tilewright._core import files
from tilewright.exact.distil import count_options, keep_most_visited, make_counts
from tilewright.play import distil as play_distil

OFTEN, SELDOM = (2, 2, 2, 2, 4), (2, 2, 2, 0, 4)


def board_of(tiles: tuple[int, ...]) -> tw.Board:
    return tw.make_game("2048").parse([list(row) for row in with_tiles(tiles)])


def words_of(boards: list[tw.Board]) -> tuple[np.ndarray, np.ndarray]:
    states = [board.state for board in boards]
    return np.array([s.cells for s in states], np.uint64), np.array([s.extra for s in states], np.uint64)


@pytest.fixture(scope="module")
def table() -> tw.ExactTable:
    return tw.solve("endgame:07ff-64", threads=1)


@pytest.fixture(scope="module")
def small(table: tw.ExactTable) -> tw.ExactTable:
    """Only the moves of the board that was met often."""
    counts = make_counts(table)
    boards = [board_of(OFTEN)] * 3 + [board_of(SELDOM)]
    assert count_options(table.policy(), *words_of(boards), counts) == (4, 4)
    kept = sum(p > 0 for p in naive_values(OFTEN).values())
    assert sorted(counts[counts > 2]) == [3] * kept  # every orientation of a move is the same afterstate
    return keep_most_visited(table, counts, kept)


def test_the_boards_that_are_met_most_are_kept(table: tw.ExactTable, small: tw.ExactTable) -> None:
    found = small.values(board_of(OFTEN))
    assert found == pytest.approx(naive_values(OFTEN), abs=1 / 65_535)
    assert found != table.values(board_of(OFTEN))  # rounded
    with pytest.raises(tw.BoardError, match="players seldom meet it"):
        small.values(board_of(SELDOM))
    assert small.to_dict()["distilled"]


def test_a_distilled_table_is_small_and_reads_back(small: tw.ExactTable, table: tw.ExactTable, tmp_path: Path) -> None:
    counts = make_counts(table) + np.uint32(1)
    everything = keep_most_visited(table, counts, len(counts))
    found = everything.save(tmp_path / "everything")
    assert (found.keys == table.keys).all()
    assert (found.offsets == table.offsets[: len(found.offsets)]).all()  # the last layers have no afterstates
    assert np.abs(found.afterstate_values - table.afterstate_values).max() <= 0.5 / 65_535
    assert found.bytes < 0.5 * table.save(tmp_path / "whole").bytes
    assert small.save(tmp_path / "small").values(board_of(OFTEN)) == small.values(board_of(OFTEN))


def test_agents_use_it_where_it_has_all_moves(small: tw.ExactTable, table: tw.ExactTable, tmp_path: Path) -> None:
    small.save(tmp_path / "small")
    table.save(tmp_path / "whole")
    plain = tw.make_agent("ntuple")
    cut, whole = (tw.make_agent(f"ntuple:endgames={tmp_path / name}") for name in ("small", "whole"))
    assert cut.values(board_of(OFTEN)) == pytest.approx(whole.values(board_of(OFTEN)), rel=1e-4)
    assert cut.values(board_of(OFTEN)) != plain.values(board_of(OFTEN))
    assert cut.values(board_of(SELDOM)) == plain.values(board_of(SELDOM)) != whole.values(board_of(SELDOM))


def test_coverage_is_that_of_other_games(table: tw.ExactTable, monkeypatch: pytest.MonkeyPatch) -> None:
    games = {0: [OFTEN, SELDOM], 1: [OFTEN, SELDOM, (2, 2, 4, 8, 0), (2, 8, 4, 2, 0)]}

    def boards_of(table: tw.ExactTable, policy: object, seed: int, number: int) -> Iterator[object]:
        yield words_of([board_of(tiles) for tiles in games[number]])

    monkeypatch.setattr(play_distil, "_boards_of", boards_of)
    found = tw.distil(table, "random", games=1, threads=1)
    assert (found.visited, found.coverage) == (2, 0.5)
    assert found.afterstates == len(found.table.keys)
    assert tw.distil(table, "random", games=1, boards=1, threads=1).coverage == 0


def test_what_cannot_be_distilled_is_refused(small: tw.ExactTable, table: tw.ExactTable) -> None:
    whole = tw.solve("2048:rows=2,columns=2", goal=16, threads=1)
    for source, boards, games, reason in (
        (whole, 1, 1, "only endgames may lack some"),
        (small, 1, 1, "distilled already"),
        (table, 0, 1, "boards=0"),
        (table, 1, 0, "games=0"),
        (table, 1, 1, "no game met a board"),
    ):
        with pytest.raises(tw.UsageError, match=reason):
            tw.distil(source, "random", boards=boards, games=games, threads=1)


def test_a_damaged_distilled_table_is_refused(small: tw.ExactTable, tmp_path: Path) -> None:
    file = tmp_path / "table"
    small.save(file)
    arrays, metadata = files.read_tensors(file)
    arrays = {name: array.copy() for name, array in arrays.items()}
    metadata.pop("sha256")
    count = int(metadata["boards"])
    for change, entries, reason in (
        ({"packed": arrays["packed"][:-1].copy()}, {}, "does not unpack"),
        ({"packed": arrays["packed"][::-1].copy()}, {}, "does not unpack"),
        ({"packed": arrays["packed"].astype(np.float32)}, {}, "not a distilled table"),
        ({}, {"boards": str(count + 1)}, "does not unpack"),
        ({}, {"boards": str(count - 1)}, "does not unpack"),
        ({}, {"boards": "9" * 30}, "memory"),
        ({}, {"boards": "-1"}, "not a distilled table"),
        ({}, {"walls": "0000"}, "not a distilled table"),
    ):
        files.write_tensors(file, dict(arrays) | change, metadata | entries)
        with pytest.raises(tw.FileError, match=reason):
            tw.load_table(file)


def test_every_board_of_the_enumeration_is_counted_once(table: tw.ExactTable) -> None:
    """All boards that the table has: the afterstates of their moves are the whole table."""
    boards = []
    for tiles in itertools.product((0, 2, 4, 8, 16, 32), repeat=5):
        try:
            table.values(board_of(tiles))
        except tw.BoardError:
            continue
        boards.append(board_of(tiles))
    counts = make_counts(table)
    matching, complete = count_options(table.policy(), *words_of(boards), counts)
    assert matching == complete == sum(any(naive_values(free(board)).values()) or has_move(board) for board in boards)
    assert (counts > 0).all()


def free(board: tw.Board) -> tuple[int, ...]:
    return tuple(tile for row in board.tiles for tile in row)[:5]


def has_move(board: tw.Board) -> bool:
    game, before = board.game, [tile for row in board.tiles for tile in row][5:]
    slid = (game.slide(board, move)[0].tiles for move in game.legal(board))
    return any([tile for row in after for tile in row][5:] == before for after in slid)
