"""Expectimax against the naive recursion, and what a time limit, a table and pruning may change."""

import random
from functools import cache, partial

import numpy as np
import pytest

from tests.games.variants import random_board
from tests.learning.plain import Plain
from tests.search import naive_expectimax as naive
from tilewright import make_game
from tilewright.agents.model_store import value_function_of
from tilewright.games.board import Board
from tilewright.games.episode import Episode
from tilewright.games.policy import NO_ACTION, act_one, make_results, play_games
from tilewright.games.rules import ACTIONS, typed_state
from tilewright.ntuple.model import VALUE_FUNCTIONS, Model
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.rng import new_stream, stream_for, stream_key
from tilewright.search.afterstate_expectimax import MAX_SEARCHES, AfterstateExpectimax, make_afterstate_expectimax
from tilewright.search.evaluator import Evaluator, make_evaluator
from tilewright.search.expectimax import MAX_DEPTH, Expectimax, eighth_bits, make_expectimax

SHAPE = NTupleArchitecture(("0145", "569a", "37bf"), symmetric=False)
GAMES = ["2048", "threes"]
BOARDS = 200


@cache
def random_model(game: str, value_function: str = "afterstate") -> Model:
    size = VALUE_FUNCTIONS[value_function] * SHAPE.table_size
    weights = np.random.default_rng(5).uniform(0, 300, size).astype(np.float32)
    return Model(make_game(game), SHAPE, value_function, weights)


@cache
def crowded_boards(spec: str, most_empty: int = 3, count: int = BOARDS) -> tuple[Board, ...]:
    """Boards of random games with few empty cells, where three plies are not too many for plain Python."""
    game, rng = make_game(spec), random.Random(11)
    boards: list[Board] = []
    for number in range(10 * count):
        episode = Episode(game, seed=1, number=number)
        seen = []
        while episode.legal:
            if sum(tile == 0 for row in episode.board.tiles for tile in row) <= most_empty:
                seen.append(episode.board)
            episode.move(rng.choice(episode.legal))
        boards += rng.sample(seen, min(len(seen), 2))
        if len(boards) >= count:
            return tuple(boards[:count])
    raise AssertionError("random games are never this crowded")


def naive_leaf(model: Model) -> naive.Evaluator:
    plain = Plain(model.game, model.architecture, model.weights, model.value_function, ends_are_zero=True)
    known: dict[Board, dict[str, float]] = {}

    def evaluator(board: Board) -> dict[str, float]:
        if board not in known:
            known[board] = {action: float(q_values) for action, q_values in plain.worths(board).items()}
        return known[board]

    return evaluator


def leaf_of(model: Model) -> Evaluator:
    return make_evaluator(value_function_of(model, model.game))


def worth_of(search: Expectimax | AfterstateExpectimax, board: Board) -> dict[str, float]:
    best = act_one(search, board.game.rules, typed_state(board.state), stream_for(0))
    found = {action: float(search.q_values[i]) for i, action in enumerate(ACTIONS) if np.isfinite(search.q_values[i])}
    if found:
        assert found[ACTIONS[best]] == max(found.values())
    else:
        assert best == NO_ACTION
    return found


@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_it_finds_what_the_naive_recursion_finds_with_and_without_a_table(depth: int, spec: str) -> None:
    model = random_model(spec)
    evaluator = naive_leaf(model)
    plain = make_expectimax(leaf_of(model), [depth], table_megabytes=0)
    tabled = make_expectimax(leaf_of(model), [depth], table_megabytes=0.5)  # one table for all boards
    for board in crowded_boards(spec)[: BOARDS if depth < 3 or spec == "2048" else BOARDS // 2]:
        expected = naive.moves(board, evaluator, depth)
        assert worth_of(plain, board) == pytest.approx(expected, rel=1e-5)
        assert worth_of(tabled, board) == worth_of(plain, board)


@pytest.mark.parametrize(
    ("value_function", "spec"), [("state", "threes"), pytest.param("action", "2048", marks=pytest.mark.slow)]
)
def test_networks_of_states_and_of_actions_can_be_searched_with(value_function: str, spec: str) -> None:
    model = random_model(spec, value_function)
    evaluator = naive_leaf(model)
    search = make_expectimax(leaf_of(model), [2])
    for board in crowded_boards(spec)[:10]:
        assert worth_of(search, board) == pytest.approx(naive.moves(board, evaluator, 2), rel=1e-5)


@pytest.mark.parametrize("spec", [*GAMES, "2048:rows=3,columns=3", "2048:cascade=yes,four=0.5", "threes:rows=3"])
def test_boards_of_every_kind_are_searched_as_the_naive_recursion_does(spec: str) -> None:
    """Also those with a 65536 or no legal move, and bags and hints that are not known."""
    game = make_game(spec)
    shape = NTupleArchitecture(("0145", "56", "0"), symmetric=False)
    weights = np.random.default_rng(6).uniform(0, 300, shape.table_size).astype(np.float32)
    model = Model(game, shape, "afterstate", weights)
    evaluator, search, rng = naive_leaf(model), make_expectimax(leaf_of(model), [2]), random.Random(12)
    for _ in range(25):
        board = random_board(game, rng)
        assert worth_of(search, board) == pytest.approx(naive.moves(board, evaluator, 2), rel=1e-5)


def test_boards_that_differ_only_in_their_stage_do_not_share_a_value() -> None:
    """A network of tiles up to 2048 reads a 4096 as a 2048, but with the weights of another stage."""
    shape = NTupleArchitecture(("0145", "56", "0"), symmetric=False, alphabet=12, stages=("4096",))
    weights = np.ones(shape.table_size, np.float32)
    weights[shape.stage_size :] = 1000
    model = Model(make_game("2048"), shape, "afterstate", weights)
    search, rest = make_expectimax(leaf_of(model), [1], table_megabytes=0), " 2 4 8 / 4 16 2 4 / 2 4 8 2 / 4 2 4 0"
    first, second = (worth_of(search, model.game.parse(tile + rest)) for tile in ("2048", "4096"))
    assert second == worth_of(make_expectimax(leaf_of(model), [1]), model.game.parse("4096" + rest))
    assert min(second.values()) > 1000 > max(first.values())


@pytest.mark.parametrize("spec", GAMES)
def test_a_table_changes_no_move_of_whole_games(spec: str) -> None:
    """A table far too small is overwritten all the time, a large one is full of other games' boards."""
    model = random_model(spec)
    scores = []
    for megabytes in (0.0, 0.01, 8.0):
        policy, results = (
            make_expectimax(leaf_of(model), [3], table_megabytes=megabytes),
            make_results(6),
        )
        play_games(model.game.rules, policy, stream_key(4), 0, new_stream(), results)
        scores.append(results.scores.tolist())
    assert scores[0] == scores[1] == scores[2]


@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize("least", [0.2, 0.02, 0.001])
def test_improbable_branches_are_judged_at_once(least: float, spec: str) -> None:
    model = random_model(spec)
    evaluator = naive_leaf(model)
    search = make_expectimax(leaf_of(model), [3], min_probability=least)  # one table for all boards
    differ = 0
    for board in crowded_boards(spec)[:40]:
        expected = naive.moves(board, evaluator, 3, eighth_bits(least))
        assert worth_of(search, board) == pytest.approx(expected, rel=1e-5)
        differ += expected != naive.moves(board, evaluator, 2)
    assert differ or least == 0.2


@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize(("least", "depth"), [(0.2, 3), (0.02, 4), (0.001, 4)])
def test_a_search_of_afterstates_finds_what_the_naive_memory_finds(least: float, depth: int, spec: str) -> None:
    """Also with a table that is full of other boards, searched to other depths."""
    model = random_model(spec)
    evaluator, served = naive_leaf(model), 0
    search = make_afterstate_expectimax(leaf_of(model), [depth], min_probability=least, table_megabytes=32)
    for board in crowded_boards(spec, 2)[:8]:
        worth_of(search._replace(depths=np.full(17, depth - 1)), board)
        expected = naive.moves_by_afterstates(board, evaluator, depth, eighth_bits(least))
        assert worth_of(search, board) == pytest.approx(expected, rel=1e-5)
        served += expected != pytest.approx(naive.moves(board, evaluator, depth, eighth_bits(least)), rel=1e-5)
    assert served or least == 0.2 or spec == "threes"  # there a new tile has few places, and few ways lead to a board


def test_the_least_probability_follows_from_the_number_of_different_tiles() -> None:
    model = random_model("2048")
    by_tiles = [0.2] * 6 + [0.05, 0.01]
    search = make_afterstate_expectimax(leaf_of(model), [3], min_probability=by_tiles)
    numbers = set()
    for board in crowded_boards("2048")[:30]:
        tiles = len({tile for row in board.tiles for tile in row if tile})
        numbers.add(tiles)
        same = make_afterstate_expectimax(leaf_of(model), [3], min_probability=by_tiles[min(tiles, 7)])
        assert worth_of(search, board) == worth_of(same, board)
    assert min(numbers) < 7 <= max(numbers)


def test_the_numbers_of_searches_come_again_only_with_an_empty_table() -> None:
    model = random_model("2048")
    search = make_afterstate_expectimax(leaf_of(model), [3], min_probability=0.01)
    boards = crowded_boards("2048")[:10]
    expected = [worth_of(search, board) for board in boards]
    search.searches[0] = MAX_SEARCHES - 5
    assert [worth_of(search, board) for board in boards] == expected
    assert search.searches[0] == 6


def test_out_of_time_a_search_of_afterstates_keeps_the_last_completed_depth() -> None:
    """And what it left unfinished is not in its table: later searches without a limit of time find the true values."""
    model = random_model("2048")
    make = partial(make_afterstate_expectimax, min_probability=0.001, table_megabytes=1.0)
    timed = make(leaf_of(model), [MAX_DEPTH], milliseconds=0.2)
    fixed = {n: make(leaf_of(model), [n]) for n in range(1, MAX_DEPTH + 1)}
    for board in crowded_boards("2048")[:40]:
        found = worth_of(timed, board)
        depth = int(timed.status.depth[0])
        assert found == worth_of(fixed[depth]._replace(table=timed.table, searches=timed.searches), board)
        assert found == worth_of(fixed[depth], board)


def test_how_improbable_something_is_is_counted_in_eighths_of_a_bit() -> None:
    assert [eighth_bits(p) for p in (1.0, 0.5, 0.25, 0.001)] == [0, 8, 16, 80]


def test_the_depth_may_depend_on_the_number_of_empty_cells() -> None:
    model = random_model("2048")
    by_empty = make_expectimax(leaf_of(model), [3, 2, 1])
    fixed = {depth: make_expectimax(leaf_of(model), [depth]) for depth in (1, 2, 3)}
    used = set()
    for board in crowded_boards("2048", most_empty=4)[:60]:
        empty = sum(tile == 0 for row in board.tiles for tile in row)
        depth = [3, 2, 1, 1, 1][empty]
        used.add(depth)
        assert worth_of(by_empty, board) == worth_of(fixed[depth], board)
    assert used == {1, 2, 3}


@pytest.mark.parametrize("spec", GAMES)
def test_when_time_is_up_the_values_are_those_of_the_reported_depth(spec: str) -> None:
    """Whatever depth the machine reaches in that time; four plies at most, so that the comparison is quick."""
    model = random_model(spec)
    timed = make_expectimax(leaf_of(model), [4], milliseconds=2)
    fixed = {depth: make_expectimax(leaf_of(model), [depth]) for depth in (1, 2, 3, 4)}
    for board in crowded_boards(spec)[:60]:
        found = worth_of(timed, board)
        assert found == worth_of(fixed[int(timed.status.depth[0])], board)


def test_a_nanosecond_is_enough_for_depth_one_and_for_no_more() -> None:
    model = random_model("2048")
    timed = make_expectimax(leaf_of(model), [MAX_DEPTH], milliseconds=1e-6)
    fixed = make_expectimax(leaf_of(model), [1])
    for board in crowded_boards("2048")[:20]:
        assert worth_of(timed, board) == worth_of(fixed, board)
        assert timed.status.depth[0] == 1


def test_a_distant_deadline_does_not_stop_a_search() -> None:
    model = random_model("2048")
    timed = make_expectimax(leaf_of(model), [3], milliseconds=3_600_000)
    fixed = make_expectimax(leaf_of(model), [3])
    for board in crowded_boards("2048")[:20]:
        assert worth_of(timed, board) == worth_of(fixed, board)
        assert timed.status.depth[0] == 3


def test_a_lost_board_is_worth_nothing() -> None:
    """Whichever of the two moves is made, every tile that may come ends the game. Only two plies see it."""
    game = make_game("2048")
    model = Model(game, SHAPE, "afterstate", np.full(SHAPE.table_size, 100, np.float32))
    board = game.parse("0 8 32 8 / 64 128 256 512 / 1024 2048 4096 8192 / 16 128 256 512")
    one, two = (worth_of(make_expectimax(leaf_of(model), [depth]), board) for depth in (1, 2))
    assert one == {"up": 300, "left": 300}
    assert two == {"up": 0, "left": 0}
