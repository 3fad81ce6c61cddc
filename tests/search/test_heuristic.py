"""The heuristic leaf against its naive twin."""

import random
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.games.variants import random_board
from tests.search import naive_minimax as naive
from tests.search.naive_expectimax import moves_by_afterstates
from tilewright import Board, make_agent, make_game
from tilewright._core.jit import kernel
from tilewright.games.policy import act_one
from tilewright.games.rules import ACTIONS, Rules, State, typed_state
from tilewright.rng import stream_for
from tilewright.search.afterstate_expectimax import make_afterstate_expectimax
from tilewright.search.evaluator import begin_search, evaluate_state
from tilewright.search.expectimax import eighth_bits
from tilewright.search.heuristic import (
    CORNER_WEIGHTS,
    MIN_VALUE,
    WEIGHTS,
    CornerHeuristic,
    Heuristic,
    LineWeights,
    Weights,
    line_values,
    make_corner_heuristic,
    make_heuristic,
)

# All weights differ, so that no two can be mistaken for each other; the base is small enough for MIN_VALUE to matter.
ODD = Weights(
    9_000.0,
    1.3,
    1.9,
    LineWeights(130, 710, 0.71, 57, 0.4, 1.1, 0.3, 0.23),
    LineWeights(170, 530, 0.53, 41, -0.2, 0.7, 0.2, 0.41),
)
GAMES = ["2048", "threes", "threes:max_tile=6144"]
SHAPES = ["2048:rows=3,columns=2", "threes:rows=3", "2048:columns=3", "threes:rows=2,columns=2,start_tiles=3"]


@kernel
def judge_once(evaluator: Heuristic, rules: Rules, state: State) -> float:
    value: float = evaluate_state(evaluator, rules, state)
    return value


@kernel
def judge_from(evaluator: CornerHeuristic, rules: Rules, first: State, state: State) -> float:
    begin_search(evaluator, rules, first)
    value: float = evaluate_state(evaluator, rules, state)
    return value


def values_of(q_values: np.ndarray[Any, np.dtype[np.float32]]) -> dict[str, float]:
    return {action: float(q_values[i]) for i, action in enumerate(ACTIONS) if np.isfinite(q_values[i])}


def judged(evaluator: Heuristic, board: Board) -> tuple[float, dict[str, float]]:
    value = judge_once(evaluator, board.game.rules, typed_state(board.state))
    return value, values_of(evaluator.q_values)


@pytest.mark.parametrize("length", [2, 3, 4])
@pytest.mark.parametrize("spec", GAMES)
def test_line_values_are_those_of_the_naive_twin(spec: str, length: int) -> None:
    game, rng = make_game(spec), random.Random(1)
    tiles = [tile for tile in game.tile_values if tile <= getattr(game, "max_tile", 32768)]
    for kind in (ODD.edge, ODD.inner):
        values = line_values(game, ODD, kind, length)
        assert values.shape == (65536, 2)
        assert values.dtype == np.dtype("float32")
        for _ in range(1_500):
            line = rng.choices(tiles[: rng.choice([3, 5, len(tiles)])], k=length)
            number = sum(game.code(tile) << 12 - 4 * i for i, tile in enumerate(line))
            most = getattr(game, "max_tile", 0)
            expected = [naive.line_value(game.name, line[::step], ODD, kind, most) for step in (1, -1)]
            assert values[number] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("spec", GAMES + SHAPES)
def test_judge_leaves_the_worth_of_each_move_and_returns_the_best(spec: str) -> None:
    game, rng = make_game(spec), random.Random(2)
    for weights in (ODD, WEIGHTS[game.name]):
        evaluator = make_heuristic(game, weights)
        for _ in range(40):
            board = random_board(game, rng)
            if game.name == "2048" and game.largest(board) > 16384:
                continue  # what a 65536 looks like is the subject of another test
            expected = naive.worths(board, weights)
            value, worths = judged(evaluator, board)
            assert worths == pytest.approx(expected, rel=1e-5)
            assert value == max(worths.values(), default=0.0)


@pytest.mark.parametrize("spec", GAMES + SHAPES)
def test_a_lost_game_is_worth_less_than_any_other(spec: str) -> None:
    game, rng = make_game(spec), random.Random(3)
    evaluator = make_heuristic(game)
    assert evaluator.table[: 1 << 17].min() >= MIN_VALUE > 0
    lost = 0
    for _ in range(400):
        board = random_board(game, rng)
        value, worths = judged(evaluator, board)
        assert (value == 0) == (game.legal(board) == [])
        assert (value >= MIN_VALUE) == bool(worths)
        lost += value == 0
    assert lost > 0


def test_a_tile_beyond_the_table_is_seen_as_the_downgraded_board() -> None:
    game = make_game("2048")
    wide = game.parse("65536 16384 8192 2 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    narrow = game.parse("32768 16384 8192 2 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    assert judged(make_heuristic(game), wide) == judged(make_heuristic(game), narrow)


def test_a_merge_that_makes_a_65536_counts_its_reward() -> None:
    game = make_game("2048")
    evaluator = make_heuristic(game)
    worths = judged(evaluator, game.parse("32768 32768 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"))[1]
    after = naive.board_value(game.parse("32768 0 0 0 / 0 0 0 0 / 0 0 0 0 / 2 0 0 0"), WEIGHTS["2048"])
    assert worths["left"] == pytest.approx(65536 + after, rel=1e-6)


@pytest.mark.parametrize("spec", GAMES + SHAPES)
def test_symmetric_images_are_worth_the_same(spec: str) -> None:
    game, rng = make_game(spec), random.Random(4)
    evaluator = make_heuristic(game)
    for _ in range(50):
        values = [judged(evaluator, symmetry)[0] for symmetry in game.symmetries(random_board(game, rng))]
        assert values == pytest.approx([values[0]] * len(values), rel=1e-6)


@pytest.mark.parametrize("spec", ["2048", "2048:columns=3", "2048:rows=3,columns=2"])
@pytest.mark.parametrize("weights", [ODD, CORNER_WEIGHTS])
def test_every_board_of_a_search_is_read_from_the_corner_where_it_began(weights: Weights, spec: str) -> None:
    game, rng = make_game(spec), random.Random(5)
    evaluator = make_corner_heuristic(game, weights)
    corners, with_bonus = set(), 0
    for _ in range(80):
        first, board = random_board(game, rng), random_board(game, rng)
        if max(map(game.largest, (first, board))) > 16384 or not naive.corner_is_clear(first, weights):
            continue
        corner = naive.corner_of(first, weights)
        corners.add(corner[:2])
        with_bonus += corner.bonus > 0
        expected = naive.corner_worths(board, weights, corner)
        value = judge_from(evaluator, game.rules, typed_state(first.state), typed_state(board.state))
        assert values_of(evaluator.q_values) == pytest.approx(expected, rel=1e-5, abs=1.0)
        assert value == max(values_of(evaluator.q_values).values(), default=0.0)
    assert len(corners) == 4
    assert with_bonus or weights is ODD


def test_a_deep_search_keeps_its_corner_whatever_was_searched_before() -> None:
    game, rng = make_game("2048"), random.Random(6)
    search = make_afterstate_expectimax(make_corner_heuristic(game), [3], min_probability=0.01, table_megabytes=8)
    corners = set()
    for _ in range(40):
        board = random_board(game, rng)
        empty = sum(tile == 0 for row in board.tiles for tile in row)
        if empty > 6 or game.largest(board) > 8192 or not naive.corner_is_clear(board, CORNER_WEIGHTS):
            continue
        corner = naive.corner_of(board, CORNER_WEIGHTS)
        corners.add(corner[:2])
        evaluator = partial(naive.corner_worths, weights=CORNER_WEIGHTS, corner=corner)
        expected = moves_by_afterstates(board, evaluator, 3, eighth_bits(0.01))
        act_one(search, game.rules, typed_state(board.state), stream_for(0))
        assert values_of(search.q_values) == pytest.approx(expected, rel=1e-5)
    assert len(corners) > 2


def test_one_ply_and_one_legal_move_are_read_from_their_own_corner_too() -> None:
    game, first = make_game("2048"), "2 4 8 16 / 0 0 0 32 / 0 0 0 64 / 0 0 0 128"
    boards = ["64 32 0 0 / 16 2 0 0 / 4 0 0 0 / 0 0 0 0", "2 4 8 16 / 32 64 128 256 / 2 4 8 16 / 32 64 128 0"]
    for spec in ("heuristic:depth=1,prune=0.1", "heuristic:ms=5,depth=1,prune=0.1"):
        used = make_agent(spec).player(game)
        used.analyse(first)
        for board in boards:
            assert used.analyse(board).values == make_agent(spec).player(game).analyse(board).values


def test_badly_ordered_boards_are_told_apart() -> None:
    """Large tiles in the middle cost more than an empty board is worth; values must not all end at the floor."""
    game = make_game("2048")
    board = game.parse("2 4 8 2 / 4 16384 2 4 / 2 8 8192 2 / 0 4 2 4")
    evaluator = make_corner_heuristic(game)
    judge_from(evaluator, game.rules, typed_state(board.state), typed_state(board.state))
    worths = values_of(evaluator.q_values)
    assert float(evaluator.bonus[0]) > 0
    assert len(set(worths.values())) == len(worths)
    assert min(worths.values()) > MIN_VALUE


def test_every_thread_gets_room_of_its_own_and_shares_the_table() -> None:
    one, other = make_heuristic(make_game("2048")), make_heuristic(make_game("2048"))
    assert one.table is other.table
    assert one.q_values is not other.q_values
