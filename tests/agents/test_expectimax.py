"""The players that search by expectimax: what their options mean, and which are refused."""

import random
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.games.variants import random_board
from tests.search import naive_expectimax, naive_minimax
from tilewright import SpecError, UsageError, make_agent, make_game
from tilewright.agents.expectimax import ExpectimaxAgent
from tilewright.agents.ntuple import NTupleAgent
from tilewright.ntuple.model import Model
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.search.heuristic import CORNER_WEIGHTS
from tilewright.testing import check_agent

SHAPE = NTupleArchitecture(("0124", "456", "89a"), symmetric=False)
GAMES = ["2048:rows=3,columns=3", "threes:rows=3,columns=4"]


def random_model(game: str) -> Model:
    weights = np.random.default_rng(0).uniform(0, 50, SHAPE.table_size).astype(np.float32)
    return Model(make_game(game), SHAPE, "afterstate", weights)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.safetensors"
    random_model(GAMES[0]).save(path)
    return path


@pytest.mark.parametrize("game", GAMES)
def test_it_holds_what_every_agent_must(game: str) -> None:
    check_agent(ExpectimaxAgent(depth=2, model=random_model(game)), make_game(game), games=2)


def test_without_search_it_is_the_network_alone() -> None:
    model, rng = random_model(GAMES[0]), random.Random(1)
    one, plain = ExpectimaxAgent(depth=1, model=model), NTupleAgent(model)
    for _ in range(20):
        board = random_board(model.game, rng)
        assert one.values(board) == plain.values(board)


def test_a_model_by_its_path_plays_as_the_model_at_hand(path: Path) -> None:
    game, rng = make_game(GAMES[0]), random.Random(2)
    by_path = make_agent(f"expectimax:depth=2,model={path}")
    at_hand = ExpectimaxAgent(depth=2, model=random_model(GAMES[0]).in_16_bits())
    for _ in range(10):
        board = random_board(game, rng)
        assert by_path.values(board) == at_hand.values(board)


def test_two_plies_are_the_default_and_limits_go_before_the_depth(path: Path) -> None:
    board = make_game(GAMES[0]).parse("2 4 8 / 16 32 64 / 2 4 0")  # one empty cell
    specs = ["", "depth=2", "depth=1,limits=3-2", "limits=1-2-3", "depth=1,limits=2"]
    values = [make_agent(f"expectimax:model={path},{spec}").values(board) for spec in specs]
    assert values[0] == values[1] == values[2] == values[3] != values[4]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("depth=0", "option depth=0: must be a whole number from 1 to 12"),
        ("depth=99", "option depth=99: must be a whole number from 1 to 12"),
        ("depth=two", "option depth=two: must be a whole number"),
        ("ms=0", "option ms=0: must be a number from 0.001 to 3,600,000"),
        ("ms=0.0000001", "option ms=0.0000001: must be a number from 0.001 to 3,600,000"),
        ("ms=-5", "option ms=-5: must be a number from 0.001"),
        ("ms=nan", "option ms=nan: must be a number from 0.001"),
        ("prune=1", "option prune=1: must be a number from 0 to 0.99"),
        ("prune=nan", "option prune=nan: must be a number from 0 to 0.99"),
        ("table=-1", "option table=-1: must be a number from 0 to 4,096"),
        ("limits=2-" + "1" * 5000, "must be at most 16 depths of 1 to 12"),
        ("limits=2-0", "option limits=2-0: must be at most 16 depths of 1 to 12"),
        ("limits=" + "-".join(["2"] * 17), "must be at most 16 depths"),
        ("limits=3,ms=10", "limits and ms cannot be given together"),
        ("plies=2", "agent expectimax has no option 'plies'"),
    ],
)
def test_what_cannot_be_is_refused(options: str, message: str, path: Path) -> None:
    with pytest.raises(SpecError, match=message):
        make_agent(f"expectimax:model={path},{options}")


def test_a_model_is_needed_and_must_be_of_the_game(path: Path) -> None:
    with pytest.raises(SpecError, match=r"no model for 2048:rows=3 comes with the package: .* model=PATH"):
        make_agent("expectimax:depth=2").values(make_game("2048:rows=3").start(1))
    with pytest.raises(UsageError, match="was trained for 2048:rows=3,columns=3 and cannot play threes"):
        make_agent(f"expectimax:model={path}").values(make_game("threes").start(1))


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 2 2", 4),
        ("2 4 8 16 / 0 0 0 32 / 0 0 0 2 / 0 0 0 4", 4),
        ("2 4 8 16 / 0 0 0 32 / 0 0 0 64 / 0 0 0 128", 6),
        ("2 2 4 8 / 128 64 32 16 / 256 512 1024 2048 / 32768 16384 8192 4096", 12),
        ("4 4 8 16 / 256 128 64 32 / 512 1024 2048 4096 / 65536 32768 16384 8192", 12),
    ],
)
def test_the_depth_of_the_heuristic_follows_from_the_number_of_different_tiles(text: str, depth: int) -> None:
    """A large `prune` ends the search early; the depth is what it would reach in probable branches."""
    depths = {"heuristic:prune=0.9": depth, "heuristic:depth=2": 2}
    for spec, expected in depths.items():
        assert make_agent(spec).player(make_game("2048")).analyse(text).depth == expected


def test_the_heuristic_without_a_depth_searches_as_the_formula_says() -> None:
    game, rng = make_game("2048:rows=2,columns=3"), random.Random(4)
    player = make_agent("heuristic").player(game)
    boards = [random_board(game, rng) for _ in range(60)]
    boards = [board for board in boards if game.legal(board) and game.largest(board) <= 1024]  # far from a 65536
    boards = [board for board in boards if naive_minimax.corner_is_clear(board, CORNER_WEIGHTS)]
    assert len(boards) > 4
    for board in boards:
        corner = naive_minimax.corner_of(board, CORNER_WEIGHTS)
        evaluator = partial(naive_minimax.corner_worths, weights=CORNER_WEIGHTS, corner=corner)
        tiles = {tile for row in board.tiles for tile in row if tile}
        depth, rarity = max(4, len(tiles) - 1), naive_expectimax.rarity_of(0.01)
        expected = naive_expectimax.moves_by_afterstates(board, evaluator, depth, rarity)
        assert player.analyse(board).values == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("text", "prune"),
    [
        ("2 4 8 16 / 32 64 128 256 / 2 4 2 . / . . . .", 0.01),
        ("2 4 8 16 / 256 128 64 32 / 512 4 2 . / . . . .", 0.006),
        ("2 4 8 16 / 256 128 64 32 / 512 1024 2 . / . . . .", 0.002),
        ("2 4 8 16 / 256 128 64 32 / 512 1024 2048 . / . . . .", 0.0007),
        ("2 4 8 16 / 256 128 64 32 / 512 1024 2048 4096 / . . 2 .", 0.0005),
        ("2 4 8 16 / 256 128 64 32 / 512 1024 2048 4096 / 8192 2 . 4", 0.0005),
    ],
)
def test_the_more_different_tiles_the_less_probable_branches_the_heuristic_follows(text: str, prune: float) -> None:
    game = make_game("2048")
    found = make_agent("heuristic").player(game).analyse(text)
    same = make_agent(f"heuristic:prune={prune}").player(game).analyse(text)
    other = make_agent(f"heuristic:prune={2 * prune}").player(game).analyse(text)
    assert (found.values, found.nodes) == (same.values, same.nodes)
    assert found.nodes != other.nodes


@pytest.mark.parametrize("game", ["2048", "threes"])
def test_the_heuristic_prefers_what_it_can_look_ahead_to(game: str) -> None:
    """Three plies see more than one: over some boards they choose differently, and never an illegal move."""
    played, rng = make_game(game), random.Random(3)
    three, one = make_agent("heuristic"), make_agent("heuristic:depth=1")
    boards = [board for board in (random_board(played, rng) for _ in range(40)) if played.legal(board)]
    moves = [(three.move(board), one.move(board), played.legal(board)) for board in boards]
    assert all(move in legal for move, _, legal in moves)
    assert any(deep != shallow for deep, shallow, _ in moves)
