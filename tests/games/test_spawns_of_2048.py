"""Where and what 2048 spawns: uniform over the empty cells, a 4 as often as asked, nothing else."""

from collections import Counter
from itertools import combinations, product

import pytest

from tests.games.naive import Grid, Naive2048
from tests.games.sampling import assert_follows, counted, spawned, started
from tests.games.variants import naive_state
from tilewright.games import make_game

SAMPLES = 300_000
AFTERSTATES = {
    "empty": [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
    "scattered": [[2, 0, 4, 0], [0, 8, 0, 2], [16, 0, 0, 4], [0, 2, 64, 0]],
    "one cell left": [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 0, 4], [4, 2, 4, 2]],
    "two cells left": [[0, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 0]],
    "tiles that no nibble holds": [[65536, 131072, 65536, 0], [32768, 0, 65536, 2], [0, 0, 0, 0], [65536, 0, 0, 65536]],
}


@pytest.mark.parametrize("four", [0.1, 0.5])
@pytest.mark.parametrize("rows", AFTERSTATES.values(), ids=AFTERSTATES.keys())
def test_cells_are_uniform_and_fours_as_often_as_asked(rows: list[list[int]], four: float) -> None:
    game = make_game("2048", four=four)
    after = game.parse(rows)
    observed = Counter({naive_state(board): count for board, count in spawned(game, after, SAMPLES).items()})
    assert_follows(observed, Naive2048(four=four).outcomes(naive_state(after)))


@pytest.mark.parametrize("rows", AFTERSTATES.values(), ids=AFTERSTATES.keys())
def test_spawns_follow_the_listed_outcomes(rows: list[list[int]]) -> None:
    game = make_game("2048")
    after = game.parse(rows)
    assert_follows(spawned(game, after, SAMPLES, seed=1), dict(game.outcomes(after)))


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (2, 4), (3, 3), (4, 3)])
def test_small_boards_spawn_on_their_own_cells_only(rows: int, columns: int) -> None:
    game = make_game("2048", rows=rows, columns=columns)
    after = game.parse([[0] * columns] * rows)
    observed = Counter({naive_state(board): count for board, count in spawned(game, after, SAMPLES).items()})
    assert_follows(observed, Naive2048().outcomes(naive_state(after)))


@pytest.mark.parametrize(("four", "tile"), [(0, 2), (1, 4)])
def test_a_certain_tile_is_the_only_one(four: float, tile: int) -> None:
    game = make_game("2048", four=four)
    for board in spawned(game, game.parse([[0] * 4] * 4), 10_000):
        assert game.largest(board) == tile


@pytest.mark.parametrize("four", [0.1, 0.5])
def test_first_boards_are_two_independent_tiles_on_any_two_cells(four: float) -> None:
    game = make_game("2048", four=four)
    boards = counted(game, *started(game, SAMPLES))
    observed = Counter({board.tiles: count for board, count in boards.items()})
    chance = {2: 1 - four, 4: four}
    expected: dict[Grid, float] = {}
    for pair in combinations(product(range(4), repeat=2), 2):
        for tiles in product((2, 4), repeat=2):
            placed = dict(zip(pair, tiles, strict=True))
            board = tuple(tuple(placed.get((r, c), 0) for c in range(4)) for r in range(4))
            expected[board] = chance[tiles[0]] * chance[tiles[1]] / 120
    assert_follows(observed, expected)
