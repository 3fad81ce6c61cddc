"""How far weights move: each rule against its transcription in NumPy, step for step."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.learning.plain import Plain, sum_weights
from tests.learning.twins import PLAIN_NETWORK, THREES_NETWORK, assert_same_weights, twins
from tilewright import make_game
from tilewright._core.jit import Int, Word, kernel
from tilewright.learning.step_size import PROMOTED_FRACTION, FixedStepSize, StepSize, TemporalCoherence, update_weights
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.ntuple.stages import UNWRITTEN
from tilewright.ntuple.weights import Indices, WeightTables

STEP_SIZES = ["fixed", "tc"]


@kernel
def _correct_once(
    step_size: StepSize, tables: WeightTables, indices: Indices, first: Int, shift: Word, error: Any
) -> Int:
    return update_weights(step_size, tables, indices, first, shift, error)


def reading(lookups: int, weights: NDArray[np.float32]) -> WeightTables:
    """A network of so many look-ups over these weights."""
    cells = tuple("0123"[:lookups])
    return NTupleArchitecture(cells, symmetric=False).tables(make_game("2048"), weights)


@pytest.mark.parametrize("step_size", STEP_SIZES)
@pytest.mark.parametrize("alpha", [1.0, 0.1])
def test_a_recorded_game_moves_every_weight_as_the_transcription_does(step_size: str, alpha: float) -> None:
    """The errors of TD(0) along a game, with boards whose images are equal: their weights move several times."""
    shape, game = NTupleArchitecture(("012", "0145")), make_game("2048:rows=3,columns=3")
    rng = np.random.default_rng(1)
    plain = Plain(
        game, shape, rng.uniform(0, 40, shape.table_size).astype(np.float32), step_size=step_size, alpha=alpha
    )
    weights, errors = plain.weights.copy(), np.zeros(2 * shape.table_size, np.float32)
    shares = np.array([alpha], np.float32)
    kind = TemporalCoherence(shares, errors) if step_size == "tc" else FixedStepSize(shares)
    record = [step for number in range(4) for step in plain.play(1, number)]
    assert any(len(set(step.indices)) < len(step.indices) for step in record)
    following = np.float32(0)
    for step in reversed(record):
        error = np.float32(step.earned) + following - sum_weights(plain.weights, step.indices)
        indices = np.array([7, *step.indices], np.uint32)
        value = _correct_once(kind, shape.tables(game, weights), indices, 1, np.uint64(0), error)
        following = plain.update_weights(step.indices, error)
        assert np.float32(value) == following
        np.testing.assert_array_equal(weights[step.indices], plain.weights[step.indices])
    np.testing.assert_array_equal(weights, plain.weights)
    if step_size == "tc":
        np.testing.assert_array_equal(errors[0::2], plain.sums)
        np.testing.assert_array_equal(errors[1::2], plain.sizes)


def test_a_fixed_share_of_one_removes_the_error_at_once() -> None:
    weights = np.array([1, 2, 3, 4, 5, 6], np.float32)
    step_size, indices = FixedStepSize(np.ones(1, np.float32)), np.array([0, 1, 2], np.uint32)
    assert _correct_once(step_size, reading(3, weights), indices, 0, np.uint64(3), np.float32(9)) == 15 + 9
    np.testing.assert_array_equal(weights, [1, 2, 3, 7, 8, 9])


def test_coherent_errors_move_a_weight_wholly_and_opposed_ones_hardly() -> None:
    """One weight, errors of 8, 8, -16, 4: the steps are 8, 8, -16, and then E is 0 and nothing moves."""
    weights, errors = np.zeros(1, np.float32), np.zeros(2, np.float32)
    step_size, indices = TemporalCoherence(np.ones(1, np.float32), errors), np.zeros(1, np.uint32)
    moved = [
        _correct_once(step_size, reading(1, weights), indices, 0, np.uint64(0), np.float32(e))
        for e in (8, 8, -16, 4, 12)
    ]
    assert moved == [8, 16, 0, 0, pytest.approx(12 * 4 / 36)]
    np.testing.assert_array_equal(errors, [16, 48])


def test_a_promoted_weight_takes_over_value_step_and_a_part_of_the_sums() -> None:
    """Errors that agreed to a quarter: it moves by a quarter of the error, as it would have before."""
    shape = NTupleArchitecture(("0",), symmetric=False, stages=("64",), promote=True)
    weights = np.array([10] * 16 + [UNWRITTEN] * 16, np.float32)
    errors = np.zeros(2 * 32, np.float32)
    errors[6:8] = [100, 400]
    step_size, indices = TemporalCoherence(np.ones(1, np.float32), errors), np.array([16 + 3], np.uint32)
    tables = shape.tables(make_game("2048"), weights)
    assert _correct_once(step_size, tables, indices, 0, np.uint64(0), np.float32(8)) == 12
    assert (weights[3], weights[19]) == (10, 12)
    np.testing.assert_array_equal(errors[6:8], [100, 400])
    np.testing.assert_allclose(errors[38:40], [100 * PROMOTED_FRACTION + 8, 400 * PROMOTED_FRACTION + 8], rtol=1e-6)
    expected = 12 + 8 * errors[38] / errors[39]
    assert _correct_once(step_size, tables, indices, 0, np.uint64(0), np.float32(8)) == pytest.approx(expected)


def test_a_place_listed_twice_moves_twice_and_is_summed_after_each_move() -> None:
    weights = np.zeros(2, np.float32)
    step_size, indices = FixedStepSize(np.ones(1, np.float32)), np.array([1, 1], np.uint32)
    assert _correct_once(step_size, reading(2, weights), indices, 0, np.uint64(0), np.float32(4)) == 2 + 4
    np.testing.assert_array_equal(weights, [0, 4])


@pytest.mark.parametrize("step_size", STEP_SIZES)
@pytest.mark.parametrize("update", ["online", "backward"])
@pytest.mark.parametrize("network", [PLAIN_NETWORK, THREES_NETWORK], ids=["2048", "threes"])
def test_whole_games_leave_the_weights_of_the_plain_learner(
    step_size: str, update: str, network: dict[str, Any]
) -> None:
    """Backward with symmetric images, one game: in a second one rounding could decide between mirrored moves."""
    games = 1 if network is THREES_NETWORK else 3
    trainer, plain = twins(seed=2, step_size=step_size, update=update, **network)
    before = plain.weights.copy()
    trainer.learn(0, games)
    for number in range(games):
        if update == "online":
            plain.learn_online(2, number)
        else:
            plain.learn_backward(2, number, lambda_=0, n_step=0)
    assert_same_weights(trainer, plain, before)
