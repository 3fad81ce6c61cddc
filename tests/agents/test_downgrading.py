"""Boards with larger tiles than a network knows are played as smaller ones; the moves are made on the true ones."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.games.variants import random_board
from tests.ntuple.naive import downgraded
from tests.training.sessions import tiny
from tilewright import Board, Episode, LineGame, SpecError, UsageError, evaluate, make_agent, make_game
from tilewright._core.jit import kernel
from tilewright.agents.expectimax import ExpectimaxAgent
from tilewright.agents.ntuple import NTupleAgent
from tilewright.errors import ConfigError
from tilewright.games.rules import Rules, State, typed_state
from tilewright.games.twenty48 import Twenty48
from tilewright.ntuple.downgrade import Downgraded, Downgrading, check_downgrade_above, downgrade
from tilewright.ntuple.model import Model
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.testing import check_agent
from tilewright.training.trainer import Trainer

GAME = make_game("2048:rows=3,columns=3")
SHAPE = NTupleArchitecture(("0124", "456", "89a"), symmetric=False)
MODEL = Model(GAME, SHAPE, "afterstate", np.random.default_rng(0).uniform(0, 50, SHAPE.table_size).astype(np.float32))


@kernel
def downgrade_one(downgrading: Downgrading, rules: Rules, state: State) -> State:
    return downgrade(downgrading, rules, state)


def downgrade_board(board: Board, model: Model) -> State:
    return downgrade_one(model.downgrading, GAME.rules, typed_state(board.state))


def boards(count: int) -> list[Board]:
    """Some of few kinds of tiles, and some with most tiles up to the largest one: then hardly any is missing."""
    rng = random.Random(3)
    found = [random_board(GAME, rng) for _ in range(count)]
    for _ in range(count):
        largest = rng.randint(2, 9)
        codes = [*range(1, largest + 1), *([0] * 9)][:9]
        codes[rng.randrange(largest)] = rng.choice((0, largest))
        rng.shuffle(codes)
        found.append(GAME.parse(" ".join(str(GAME.value(code)) for code in codes)))
    return found


def naively_lowered(board: Board, tile: int) -> Board:
    largest = max(map(max, board.tiles))
    codes = downgraded(board.codes, GAME.code(tile if largest < 131072 else 131072))
    return GAME.parse([[GAME.value(code) for code in row] for row in codes])


@pytest.mark.parametrize("tile", [8, 16, 128])
def test_a_lowered_board_is_the_naive_one_and_has_the_same_legal_moves(tile: int) -> None:
    changed = 0
    for board in boards(300):
        lower = naively_lowered(board, tile)
        assert downgrade_board(board, replace(MODEL, downgrade_above=tile)) == lower.state
        assert GAME.legal(lower) == GAME.legal(board)
        changed += lower != board
    assert changed > 200


@pytest.mark.parametrize("depth", [None, 1, 2])
def test_moves_are_valued_on_the_lowered_board_and_made_on_the_true_one(depth: int | None) -> None:
    def agent(model: Model) -> NTupleAgent | ExpectimaxAgent:
        return NTupleAgent(model) if depth is None else ExpectimaxAgent(depth=depth, model=model)

    all_tiles, few = agent(MODEL), agent(replace(MODEL, downgrade_above=16))
    for board in boards(40):
        values = few.values(board)
        assert values == all_tiles.values(naively_lowered(board, 16))
        if values:
            assert values[few.move(board)] == max(values.values())
    played = evaluate(few, GAME, games=10, seed=4, threads=1)
    assert played.codes.max() > GAME.code(16)
    for number in range(10):
        episode = Episode(GAME, 4, number)
        while not episode.is_over:
            episode.move(few.move(episode.board))
        assert episode.score == played.scores[number]


def test_boards_of_the_last_stage_are_known_up_to_the_tile_that_begins_it() -> None:
    """Larger ones are lowered to that; if they are in an earlier stage then, they are lowered on."""
    shape = replace(SHAPE, stages=("32", "32+16"))
    weights = np.random.default_rng(1).uniform(0, 50, shape.table_size).astype(np.float32)
    model = Model(GAME, shape, "afterstate", weights, downgrade_above=16)
    known, lowered_to_last, lowered_below = 0, 0, 0
    for board in boards(300):
        seen = naively_lowered(board, 32)
        stays = in_last_stage(seen)
        expected = seen if stays else naively_lowered(board, 16)
        assert downgrade_board(board, model) == expected.state
        assert NTupleAgent(model).values(board) == NTupleAgent(replace(model, downgrade_above=0)).values(expected)
        known += stays and seen == board
        lowered_to_last += stays and seen != board
        lowered_below += in_last_stage(board) and not stays
    assert min(known, lowered_to_last, lowered_below) > 5


def in_last_stage(board: Board) -> bool:
    tiles = [tile for row in board.tiles for tile in row]
    return sum(t for t in tiles if t >= 32) >= 32 and sum(t for t in tiles if t >= 16) >= 48


@pytest.mark.parametrize(
    "spec", ["montecarlo:playout=network", "montecarlo:horizon=5", "uct:horizon=5,playout=network"]
)
def test_playouts_of_a_network_read_only_weights_that_it_knows(spec: str, tmp_path: Path) -> None:
    spoilt, first = MODEL.weights.copy(), 0
    for cells in SHAPE.tuples:
        large = slice(first + 8 ** len(cells), first + 16 ** len(cells))  # those of codes from 8 on
        spoilt[large] = MODEL.weights[large][::-1]
        first += 16 ** len(cells)
    board = GAME.parse("256 128 2 / 4 0 0 / 2 0 0")
    values = {}
    for name, weights in (("whole", MODEL.weights), ("spoilt", spoilt)):
        for tile in (0, 16):
            path = tmp_path / f"{name}-{tile}.safetensors"
            replace(MODEL, weights=weights, downgrade_above=tile).save(path)
            values[name, tile] = make_agent(f"{spec},rollouts=40,model={path}").values(board)
    assert values["spoilt", 16] == values["whole", 16]
    assert values["spoilt", 0] != values["whole", 0]


def test_it_holds_what_every_agent_must() -> None:
    check_agent(ExpectimaxAgent(depth=2, model=replace(MODEL, downgrade_above=16)), GAME, games=2)


def test_the_model_says_what_it_knows_unless_the_agent_does(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    config = tiny(downgrade_above=32, games=1)
    Trainer(config).model({}).save(path)
    game = config.make_game()
    for spec, tile in (("", 32), (",downgrade_above=16", 16), (",downgrade_above=0", 0)):
        for name in ("ntuple", "expectimax"):
            agent = make_agent(f"{name}:model={path}{spec}")
            policy = agent.policy(game)
            assert isinstance(policy, Downgraded) == bool(tile)
            assert not tile or policy.downgrading.largest_code == game.code(tile)  # type: ignore[union-attr]


def test_what_cannot_be_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    MODEL.save(path)
    with pytest.raises(SpecError, match=r"^downgrade_above=100: must be 0, or a tile from 8 on$"):
        make_agent(f"ntuple:model={path},downgrade_above=100").policy(GAME)
    with pytest.raises(ConfigError, match=r"downgrade_above=4: must be 0, or a tile from 8 on"):
        tiny(downgrade_above=4)
    with pytest.raises(ConfigError, match=r"downgrade_above=96: boards of threes cannot be downgraded"):
        tiny(game="threes", downgrade_above=96)


def test_no_move_is_made_up_on_a_board_with_all_tiles_up_to_65536() -> None:
    """Nothing on it can be halved. Read with four bits, its 65536 is a second 32768, and the two seem to merge."""
    board = "2 4 8 16 / 32 64 128 256 / 512 1024 2048 4096 / 8192 16384 32768 65536"
    for agent in (make_agent("ntuple"), make_agent("expectimax:depth=2")):
        assert agent.values(board) == {}
        with pytest.raises(UsageError, match="no move is legal"):
            agent.move(board)


class MyGame(Twenty48):
    """2048 under a name of its own."""

    name = "mine"


class Namesake(LineGame):
    """Another game that has the name of 2048."""

    name = "2048"
    tile_values = tuple(2**code for code in range(1, 14))

    def slide_line(self, line: list[int]) -> tuple[list[int], int]:
        """Close gaps; nothing merges."""
        tiles = [tile for tile in line if tile]
        return tiles + [0] * (len(line) - len(tiles)), 0

    def spawns(self) -> dict[int, float]:
        """Add a 2."""
        return {2: 1.0}


def test_the_rules_decide_which_boards_can_be_downgraded_and_not_the_name() -> None:
    shape = NTupleArchitecture(("0123",), alphabet=12)
    check_downgrade_above(8192, MyGame())
    shape.check_fits(MyGame())
    with pytest.raises(SpecError, match="cannot be downgraded"):
        check_downgrade_above(4096, Namesake())
    with pytest.raises(SpecError, match="cannot be downgraded; its tiles need 14"):
        shape.check_fits(Namesake())
    with pytest.raises(SpecError, match="cannot be downgraded; its tiles need 14"):
        replace(shape, alphabet=13).check_fits(Namesake())  # its tables have room, but 13 tiles are told apart
    replace(shape, alphabet=14).check_fits(Namesake())
