"""What a method thinks of moves, how it explores, and that learning does not depend on how it is cut into pieces."""

import random
import threading
from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.games.sampling import assert_follows
from tests.games.variants import random_board
from tests.learning.plain import Plain
from tests.learning.twins import twins
from tilewright import evaluate, make_game
from tilewright._core.jit import Int, kernel
from tilewright.agents.ntuple import NTupleAgent
from tilewright.games.board import Board
from tilewright.games.policy import NO_ACTION
from tilewright.games.rules import ACTIONS, Rules, State, typed_state
from tilewright.learning import updates
from tilewright.learning.behaviour import Behaviour, EpsilonGreedy, behaviour_action
from tilewright.ntuple.model import VALUE_FUNCTIONS
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.ntuple.value import ValueFunction, greedy_action, make_value_function
from tilewright.rng import Stream, stream_for
from tilewright.training import trainer
from tilewright.training.config import TrainingConfig
from tilewright.training.trainer import Trainer

SHAPE = NTupleArchitecture(("0124", "456", "89a"), symmetric=False)
GAMES = ["2048:rows=3,columns=3", "threes:rows=3,columns=4"]


@kernel
def _consider_once(value_function: ValueFunction, rules: Rules, state: State) -> tuple[Int, Any, Int, Any]:
    candidate = greedy_action(value_function, rules, state)
    return candidate.action, candidate.after, candidate.reward, candidate.value


@kernel
def _wander_often(
    behaviour: Behaviour,
    value_function: ValueFunction,
    rules: Rules,
    state: State,
    stream: Stream,
    actions: NDArray[np.int64],
) -> None:
    for i in range(len(actions)):
        actions[i] = behaviour_action(
            behaviour, value_function, rules, state, greedy_action(value_function, rules, state), stream
        ).action


def valuing(value_function: str, board: Board, seed: int = 0) -> tuple[ValueFunction, Plain]:
    """A method of the package and the plain one over the same random weights."""
    weights = (
        np.random.default_rng(seed)
        .uniform(-20, 20, VALUE_FUNCTIONS[value_function] * SHAPE.table_size)
        .astype(np.float32)
    )
    tables = SHAPE.tables(board.game, weights)
    return make_value_function(value_function, tables, SHAPE.lookups(board.game)), Plain(
        board.game, SHAPE, weights, value_function
    )


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("value_function", VALUE_FUNCTIONS)
def test_moves_are_valued_by_the_formulas_of_the_paper(value_function: str, game: str) -> None:
    rng = random.Random(1)
    for number in range(40):
        board = random_board(make_game(game), rng)
        fast, plain = valuing(value_function, board, seed=number)
        action, after, reward, value = _consider_once(fast, board.game.rules, typed_state(board.state))
        worths = plain.worths(board)
        assert [ACTIONS[i] for i in range(4) if fast.q_values[i] > -np.inf] == list(worths)
        assert [fast.q_values[ACTIONS.index(name)] for name in worths] == pytest.approx(list(worths.values()), rel=1e-5)
        best = plain.best(board)
        if best is None:
            assert action == NO_ACTION
            assert value == 0
            continue
        assert ACTIONS[action] == best
        assert (Board(board.game, State(*after)), reward) == board.game.slide(board, best)
        assert value == pytest.approx(sum(plain.weights[index] for index in plain.target_state(board, best)), rel=1e-5)


@pytest.mark.parametrize("value_function", VALUE_FUNCTIONS)
@pytest.mark.parametrize(
    ("game", "text"), [(GAMES[0], "2 4 2 / 4 2 4 / 2 4 8"), (GAMES[1], "1 1 1 1 / 1 1 1 1 / 1 1 1 3 hint=2")]
)
def test_a_finished_game_is_over_and_worth_nothing(value_function: str, game: str, text: str) -> None:
    board = make_game(game).parse(text)
    fast, _ = valuing(value_function, board)
    action, _, reward, value = _consider_once(fast, board.game.rules, typed_state(board.state))
    assert (action, reward, value) == (NO_ACTION, 0, 0)
    assert (fast.q_values == -np.inf).all()


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("text", ["2 0 0 / 0 0 4 / 0 2 0", "0 2 0 / 0 4 0 / 0 0 0", "2 4 0 / 0 0 0 / 0 0 0"])
@pytest.mark.parametrize("value_function", VALUE_FUNCTIONS)
def test_epsilon_greedy_is_the_best_move_or_any_legal_one(value_function: str, text: str, epsilon: float) -> None:
    """False alarm: one in a million."""
    board = make_game(GAMES[0]).parse(text)
    fast, plain = valuing(value_function, board, seed=5)
    actions = np.empty(20_000, np.int64)
    behaviour = EpsilonGreedy(np.uint64(round(epsilon * 2**32)))
    _wander_often(behaviour, fast, board.game.rules, typed_state(board.state), stream_for(6), actions)
    best, legal = plain.best(board), board.game.legal(board)
    chances = {name: epsilon / len(legal) + (1 - epsilon) * (name == best) for name in legal}
    counts = Counter(ACTIONS[action] for action in actions)
    if epsilon:
        assert_follows(counts, chances)
    else:
        assert set(counts) == {best}


def test_a_game_longer_than_the_room_is_learned_once_in_a_larger_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for 3 moves doubles until the first game fits, and again for a longer one after it."""
    roomy, _ = twins(seed=8, step_size="tc")
    expected = roomy.learn(0, 40)
    rooms = []

    def narrow(lookups: int, moves: int = 3) -> updates.Workspace:
        rooms.append(moves)
        return updates.make_workspace(lookups, moves)

    monkeypatch.setattr(trainer, "make_workspace", narrow)
    cramped, _ = twins(seed=8, step_size="tc")
    found = cramped.learn(0, 40)
    assert rooms[:3] == [3, 6, 12]
    assert expected.moves[0] <= rooms[-2] < expected.moves.max() <= rooms[-1]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(cramped.weights, roomy.weights)
    np.testing.assert_array_equal(cramped.sums, roomy.sums)


@pytest.mark.parametrize("update", ["online", "backward"])
def test_training_again_or_in_other_pieces_gives_the_same_bits(update: str) -> None:
    weights = []
    for pieces in ([300], [300], [1, 99, 200], [150, 150]):
        trained, _ = twins(seed=8, update=update, step_size="tc")
        scores, first = [], 0
        for count in pieces:
            scores += list(trained.learn(first, count).scores)
            first += count
        weights.append((scores, trained.weights.tobytes(), trained.sums.tobytes()))
    assert len(scores) == 300
    assert all(each == weights[0] for each in weights)


@pytest.mark.parametrize("update", ["online", "backward"])
def test_results_are_those_of_the_games_it_learned_from(update: str) -> None:
    """With a step too small to change a move, learning plays the games of the player that does not learn."""
    trained, plain = twins(seed=9, update=update, step_size="tc", alpha=1e-9)
    found = trained.learn(0, 50)
    expected = evaluate(NTupleAgent(trained.model({})), trained.game, games=50, seed=9, threads=1)
    np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_array_equal(found.moves, expected.moves)
    np.testing.assert_array_equal(found.codes, expected.codes)
    assert list(found.moves[:2]) == [len(plain.play(9, number)) for number in range(2)]


def test_two_threads_learn_as_well_as_one() -> None:
    """Updates lost between threads hardly matter. The bound is loose: three quarters of one thread's mean."""

    def fresh() -> Trainer:
        return Trainer(
            TrainingConfig(
                game="2048:rows=3,columns=3", tuples=("0124", "456", "89a"), symmetric=False, games=1, step_size="tc"
            )
        )

    alone, shared = fresh(), fresh()
    first = alone.learn(0, 500).scores.mean()
    alone.learn(500, 19_500)
    halves = [threading.Thread(target=shared.learn, args=(reset, 10_000)) for reset in (0, 10_000)]
    for thread in halves:
        thread.start()
    for thread in halves:
        thread.join()
    one, two = alone.learn(20_000, 2_000).scores.mean(), shared.learn(20_000, 2_000).scores.mean()
    assert one > 1.5 * first
    assert two > 0.75 * one
