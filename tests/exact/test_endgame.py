"""Endgames against a recursion over the naive rules, and their boards in all orientations."""

import itertools
from functools import cache
from pathlib import Path

import pytest

import tilewright as tw
from tests.games.naive import DIRECTIONS, Grid, Naive2048, State
from tilewright.exact.endgame import PATTERNS, endgame_problem
from tilewright.games.rules import LEFT

RULES = Naive2048()
FREE = [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)]  # the pattern 07ff
WALLS = [(r, c) for r in range(4) for c in range(4) if (r, c) not in FREE]
LARGE = dict(zip(WALLS, (2**code for code in range(7, 18)), strict=True))  # all different, so that none merges
GOAL = 64


def with_tiles(tiles: tuple[int, ...]) -> Grid:
    cells = LARGE | dict(zip(FREE, tiles, strict=True))
    return tuple(tuple(cells[r, c] for c in range(4)) for r in range(4))


def free_tiles(board: Grid) -> tuple[int, ...]:
    return tuple(board[r][c] for r, c in FREE)


@cache
def naive_value(tiles: tuple[int, ...]) -> float:
    return max(naive_values(tiles).values(), default=0.0)


def naive_values(tiles: tuple[int, ...]) -> dict[str, float]:
    """The probability of the goal behind every legal move; 0 where a wall is displaced."""
    found = {}
    for direction in DIRECTIONS:
        slid = RULES.slide(State(with_tiles(tiles)), direction)
        if slid is None:
            continue
        board = slid.after.board
        if any(board[r][c] != LARGE[r, c] for r, c in WALLS):
            found[direction] = 0.0
        elif GOAL in free_tiles(board):
            found[direction] = 1.0
        else:
            chances = RULES.outcomes(slid.after).items()
            found[direction] = sum(p * naive_value(free_tiles(state.board)) for state, p in chances)
    return found


@pytest.fixture(scope="module")
def table() -> tw.ExactTable:
    return tw.solve(f"endgame:07ff-{GOAL}", threads=1)


def test_values_are_what_the_naive_rules_give(table: tw.ExactTable) -> None:
    first = 0.0
    for (a, x), (b, y) in itertools.combinations(itertools.product(range(5), (2, 4)), 2):
        if a != b:
            first_tiles = [0] * 5
            first_tiles[a], first_tiles[b] = x, y
            chance = (0.9 if x == 2 else 0.1) * (0.9 if y == 2 else 0.1) / 10
            first += chance * naive_value(tuple(first_tiles))
    assert table.value == pytest.approx(first, rel=1e-12)
    assert 0 < table.value < 0.01
    checked = 0
    for tiles in itertools.product((0, 2, 4, 8, 16, 32), repeat=5):
        try:
            found = table.values([list(row) for row in with_tiles(tiles)])
        except tw.BoardError:
            continue
        assert found == pytest.approx(naive_values(tiles), rel=1e-12, abs=1e-300)
        checked += 1
    assert checked > 500


def test_every_orientation_of_a_board_has_the_same_values(table: tw.ExactTable) -> None:
    game = tw.make_game("2048")
    tiles = (2, 2, 2, 2, 4)
    assert len(set(naive_values(tiles).values())) == len(naive_values(tiles)) > 1
    board = game.parse([list(row) for row in with_tiles(tiles)])
    images = game.symmetries(board)
    assert len(set(map(game.text, images))) == 8

    def by_afterstate(image: tw.Board) -> dict[str, float]:
        afters = {move: game.slide(image, move)[0] for move in game.legal(image)}
        return {min(map(game.text, game.symmetries(afters[move]))): p for move, p in table.values(image).items()}

    found = [by_afterstate(image) for image in images]
    assert len(set(found[0].values())) > 1
    assert found == [found[0]] * 8


def test_endgames_of_small_boards() -> None:
    """One wall in the corner of 2x3, against a recursion over the naive rules."""
    rules = Naive2048()

    @cache
    def values(board: Grid) -> dict[str, float]:
        found = {}
        for direction in DIRECTIONS:
            slid = rules.slide(State(board), direction)
            if slid is None:
                continue
            after = slid.after.board
            if after[0][0] != 64:
                found[direction] = 0.0
            elif any(32 in row for row in after):
                found[direction] = 1.0
            else:
                chances = rules.outcomes(slid.after).items()
                found[direction] = sum(p * max(values(s.board).values(), default=0.0) for s, p in chances)
        return found

    small = tw.solve("endgame:8000-32,rows=2,columns=3", threads=1)
    assert small.problem.title == "endgame:8000-32,rows=2,columns=3"
    checked = 0
    for tiles in itertools.product((0, 2, 4, 8, 16), repeat=5):
        board = ((64, *tiles[:2]), tiles[2:])
        try:
            found = small.values([list(row) for row in board])
        except tw.BoardError:
            continue
        assert found == pytest.approx(values(board), rel=1e-12, abs=1e-300)
        for image in ([row[::-1] for row in board], list(board)[::-1]):
            assert max(small.values([list(row) for row in image]).values(), default=0.0) == max(
                found.values(), default=0.0
            )
        checked += 1
    assert checked > 500
    player = tw.make_agent("exact", table=small).player(tw.make_game("2048:rows=2,columns=3"))
    assert player.analyse("64 2 2 / 4 0 0").values == pytest.approx(values(((64, 2, 2), (4, 0, 0))), rel=1e-12)


@pytest.mark.parametrize("cascade", [False, True])
def test_lines_between_walls_move_by_the_rules_of_the_game(cascade: bool) -> None:
    """A wall is a tile that is larger than all others, and two of them are never equal."""
    game = tw.make_game("2048", rows=2, columns=4, cascade=cascade)
    space = endgame_problem(f"endgame:8000-64,rows=2,cascade={cascade}".lower()).space
    table, offset = space.moves, int(space.offsets[LEFT])
    for codes in itertools.product(range(5), repeat=3):
        entry = int(table[offset + (15 << 12 | codes[0] << 8 | codes[1] << 4 | codes[2])])
        row = [1024, *(2**code if code else 0 for code in codes)]
        try:
            after, _ = game.slide(game.parse([row, [0] * 4]), "left")
        except tw.IllegalMoveError:
            assert entry & 0xFFFF == 15 << 12 | codes[0] << 8 | codes[1] << 4 | codes[2]
            continue
        moved = [entry >> shift & 15 for shift in (8, 4, 0)]
        assert [2**code if code else 0 for code in moved] == list(after.tiles[0][1:])


def test_a_problem_has_one_name_however_its_options_are_spelled() -> None:
    expected = endgame_problem("endgame:L3-256").to_metadata()
    for spelling in ("endgame:L3-256,", "endgame:L3-256,rows=4", "endgame:L3-256,win_tile=1024"):
        assert endgame_problem(spelling).to_metadata() == expected


def best(values: dict[str, float]) -> str:
    return max(values, key=lambda move: values[move])


def test_the_agent_answers_where_the_pattern_matches_and_refuses_elsewhere(table: tw.ExactTable) -> None:
    agent = tw.make_agent("exact", table=table)
    player = agent.player(tw.make_game("2048"))
    analysis = player.analyse([list(row) for row in with_tiles((8, 4, 2, 0, 2))])
    assert analysis.unit == "probability"
    assert analysis.move == best(analysis.values)
    with pytest.raises(tw.BoardError, match="its large tiles are elsewhere"):
        player.analyse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
    with pytest.raises(tw.BoardError, match="its large tiles are elsewhere"):
        tw.evaluate(agent, "2048", games=1)
    with pytest.raises(tw.SpecError, match="it cannot play"):
        agent.player(tw.make_game("2048:rows=3"))


def test_a_table_of_an_endgame_reads_back(table: tw.ExactTable, tmp_path: Path) -> None:
    found = table.save(tmp_path / "table")
    assert found.problem == table.problem
    assert found.problem.title == "endgame:07ff-64"
    assert found.value == table.value


def test_symmetric_patterns_need_fewer_states() -> None:
    free = endgame_problem("endgame:2x4-64")
    assert free.space.symmetries.bit_count() == 2  # left and right
    assert endgame_problem("endgame:L3-64").space.symmetries == 1


def test_named_patterns_are_masks() -> None:
    for name, walls in PATTERNS.items():
        assert endgame_problem(f"endgame:{name}-64").walls == endgame_problem(f"endgame:{walls:04x}-64").walls == walls


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("endgame:L3", "give a pattern and a tile, such as endgame:L3-256"),
        ("endgame:L3-100", "the tile must be one of 16, 32, 64, 128, 256, 512, 1024"),
        ("endgame:44-256", "there is no pattern '44' (did you mean '444'?)"),
        ("endgame:0000-256", "0 walls; there must be 3 to 12"),
        ("endgame:f000-64,rows=2,columns=3", "the walls do not fit on a board of 2x3"),
        ("endgame:e000-64,rows=2,columns=3", "3 walls; there must be 1 to 2"),
        ("endgame:8000-64,rows=9", "rows=9: must be"),
        ("endgame:e000-16,rows=2,start_tiles=8", "start_tiles=8 do not fit on 5 free cells"),
        (f"endgame:L3-{'1' * 5000}", "the tile must be one of"),
        ("endgame:0fff-64", "goal=64: cannot be made; the largest tile on 4 free cells is 32"),
    ],
)
def test_impossible_endgames_are_refused(spec: str, reason: str) -> None:
    with pytest.raises(tw.UsageError) as caught:
        tw.solve(spec)
    assert reason in str(caught.value)
    with pytest.raises(tw.UsageError, match="an endgame names its tile itself"):
        tw.solve("endgame:L3-256", goal=256)
