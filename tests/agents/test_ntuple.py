"""The player of trained networks: at hand, or by the path of a model file."""

import random
from pathlib import Path

import numpy as np
import pytest

from tests.games.variants import random_board
from tests.learning.plain import Plain
from tilewright import SpecError, UsageError, evaluate, make_agent, make_game
from tilewright.agents.ntuple import NTupleAgent
from tilewright.errors import FileError
from tilewright.ntuple.model import VALUE_FUNCTIONS, Model
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.testing import check_agent

SHAPE = NTupleArchitecture(("0124", "456", "89a"), symmetric=False)
GAMES = ["2048:rows=3,columns=3", "threes:rows=3,columns=4"]


def random_model(game: str, value_function: str = "afterstate", seed: int = 0) -> Model:
    size = VALUE_FUNCTIONS[value_function] * SHAPE.table_size
    weights = np.random.default_rng(seed).uniform(0, 50, size).astype(np.float32)
    return Model(make_game(game), SHAPE, value_function, weights)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("value_function", VALUE_FUNCTIONS)
def test_it_holds_what_every_agent_must(value_function: str, game: str) -> None:
    check_agent(NTupleAgent(random_model(game, value_function)), make_game(game), games=2)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("value_function", VALUE_FUNCTIONS)
def test_its_values_are_those_of_the_naive_network(value_function: str, game: str) -> None:
    model = random_model(game, value_function)
    agent = NTupleAgent(model)
    plain = Plain(model.game, SHAPE, model.weights, value_function, ends_are_zero=True)
    rng = random.Random(2)
    for _ in range(10):
        board = random_board(model.game, rng)
        expected = {action: float(q_values) for action, q_values in plain.worths(board).items()}
        assert agent.values(board) == pytest.approx(expected, rel=1e-5)
        if expected:
            assert agent.move(board) == plain.best(board)


@pytest.mark.parametrize("value_function", VALUE_FUNCTIONS)
def test_in_16_bits_it_values_moves_nearly_the_same(value_function: str) -> None:
    """Off by half a unit for each of three look-ups at most, and by the rounding of 32-bit floats."""
    model = random_model(GAMES[0], value_function)
    small = model.in_16_bits()
    assert small.weights.dtype == np.int16
    assert small.in_16_bits() is small
    rng = random.Random(3)
    for _ in range(20):
        board = random_board(model.game, rng)
        expected = NTupleAgent(model).values(board)
        assert NTupleAgent(small).values(board) == pytest.approx(expected, rel=1e-6, abs=3 * 0.51 * small.quantum)


@pytest.mark.parametrize("compact", [False, True])
def test_a_model_file_plays_the_games_of_the_model_in_16_bits(compact: bool, tmp_path: Path) -> None:
    model, path = random_model(GAMES[0]), tmp_path / "model.safetensors"
    model.save(path, compact=compact)
    agent = make_agent(f"ntuple:model={path}")
    assert agent.spec == f"ntuple:model={path}"
    board = model.game.start(1)
    assert agent.values(board) == NTupleAgent(model.in_16_bits()).values(board)
    expected = evaluate(NTupleAgent(model.in_16_bits()), model.game, games=50, threads=1).scores
    np.testing.assert_array_equal(evaluate(agent, model.game, games=50, threads=1).scores, expected)


def test_a_model_file_that_was_replaced_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    board = make_game(GAMES[0]).start(1)
    values = []
    for seed in (1, 2):
        model = random_model(GAMES[0], seed=seed)
        model.save(path)
        values.append(make_agent(f"ntuple:model={path}").values(board))
        assert values[-1] == NTupleAgent(model.in_16_bits()).values(board)
    assert values[0] != values[1]


@pytest.mark.parametrize("other", ["2048", "2048:rows=3", "threes:rows=3,columns=3"])
def test_a_model_refuses_another_game_or_board(other: str) -> None:
    agent, game = NTupleAgent(random_model(GAMES[0])), make_game(other)
    message = "the model was trained for 2048:rows=3,columns=3 and cannot play"
    with pytest.raises(UsageError, match=message):
        agent.values(game.start(1))
    with pytest.raises(UsageError, match=message):
        evaluate(agent, game, games=1)


def test_a_model_plays_variants_of_its_game_on_the_same_board() -> None:
    agent, variant = NTupleAgent(random_model(GAMES[0])), make_game("2048:rows=3,columns=3,four=0.5")
    assert evaluate(agent, variant, games=5, threads=1).games == 5


def test_where_no_model_comes_with_the_package_it_says_how_to_train_one() -> None:
    with pytest.raises(SpecError, match=r"no model for 2048:rows=2 comes with the package: train one"):
        make_agent("ntuple").values(make_game("2048:rows=2").start(1))


def test_a_file_that_is_missing_or_no_model_is_refused(tmp_path: Path) -> None:
    board = make_game(GAMES[0]).start(1)
    missing, other = tmp_path / "missing.safetensors", tmp_path / "other.safetensors"
    other.write_text("no model")
    with pytest.raises(FileError, match=r"missing\.safetensors: cannot be read"):
        make_agent(f"ntuple:model={missing}").values(board)
    with pytest.raises(FileError, match=r"other\.safetensors: not a safetensors file"):
        make_agent(f"ntuple:model={other}").values(board)
