"""Supervised learning: labels are the teacher's, positions come back from files, and the network learns to agree."""

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from tests.deep.small import SMALL, expected_score, make_small_network
from tests.envs import reference
from tests.learning.exact import solve_2048
from tilewright import Board, UsageError, evaluate, make_agent, make_game
from tilewright._core import memory
from tilewright._core.files import read_tensors, write_tensors
from tilewright.agents.base import Agent
from tilewright.deep.learner import make_optimizer
from tilewright.deep.policy import NetworkPolicy
from tilewright.deep.positions import LabelledGames, Positions, StoredPositions, write_positions
from tilewright.deep.supervised import SupervisedLearner
from tilewright.deep.teacher import Teacher
from tilewright.errors import ConfigError, FileError
from tilewright.games.rules import ACTIONS, State
from tilewright.ntuple.model import Model
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.rng import Stream

GAME = "2048:rows=2,columns=2"
MOVES = dataclasses.replace(
    SMALL, algorithm="supervised", teacher="greedy", reward_scale=1.0, learning_rate=3e-3, n_envs=8, batch_size=128
)
QUICK = dataclasses.replace(MOVES, n_envs=64, train_freq=64, batch_size=256, learning_rate=1e-2, learning_rate_end=1e-3)


@pytest.fixture(scope="module")
def ntuple(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The spec of a teacher with values: a network of random weights."""
    path = tmp_path_factory.mktemp("teacher") / "model.safetensors"
    shape = NTupleArchitecture(("0145",), symmetric=False)
    weights = np.random.default_rng(3).uniform(0, 50, shape.table_size).astype(np.float32)
    Model(make_game(GAME), shape, "afterstate", weights).save(path)
    return f"ntuple:model={path}"


def boards_of(positions: Positions) -> list[Board]:
    words = zip(positions.cells.tolist(), positions.extra.tolist(), strict=True)
    return [Board(make_game(GAME), State(*pair)) for pair in words]


def collect(source: LabelledGames | StoredPositions, rounds: int) -> tuple[Positions, list[tuple[int, int]]]:
    parts: list[Positions] = []
    games: list[tuple[int, int]] = []
    for _ in range(rounds):
        positions, finished = source.advance()
        parts.append(positions)
        games += [(game.score, game.largest_code) for game in finished]
    return Positions(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True))), games


def labelled_games(teacher: str, *, num_taught: int = 4, goal_tile: int = 0) -> LabelledGames:
    return LabelledGames(
        Teacher(teacher, make_game(GAME)), 4, 1, num_taught=num_taught, goal_tile=goal_tile, has_values=True
    )


def test_labels_are_the_moves_and_values_of_the_agent(ntuple: str) -> None:
    positions, games = collect(labelled_games(ntuple), 40)
    assert games
    agent = make_agent(ntuple)
    for board, action, q_values in zip(boards_of(positions), positions.actions, positions.q_values, strict=True):
        assert ACTIONS[action] == agent.move(board)
        found = {name: float(value) for name, value in zip(ACTIONS, q_values, strict=True) if np.isfinite(value)}
        assert found == pytest.approx(agent.values(board))


def test_an_agent_in_python_teaches_too() -> None:
    """It has no policy for kernels."""
    taught, expected = (collect(labelled_games(spec), 10)[0] for spec in (f"{__name__}:Clockwise", "greedy"))
    assert (taught.cells[:4] == expected.cells[:4]).all()
    agent = Clockwise()
    assert [ACTIONS[action] for action in taught.actions] == [agent.move(board) for board in boards_of(taught)]


class Clockwise(Agent):
    """Prefers the moves in their order."""

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        return {move: -float(i) for i, move in enumerate(board.game.legal(board))}


def test_games_end_at_the_goal_and_the_student_plays_its_own() -> None:
    def first_legal(cells: NDArray[np.uint64], extra: NDArray[np.uint64]) -> NDArray[np.int64]:
        game = make_game(GAME)
        boards = [Board(game, State(*pair)) for pair in zip(cells.tolist(), extra.tolist(), strict=True)]
        return np.array([ACTIONS.index(game.legal(board)[0]) for board in boards])

    source = labelled_games("greedy", num_taught=2, goal_tile=8)
    before = [source.advance(first_legal) for _ in range(30)]
    codes = {game.largest_code for _, finished in before for game in finished}
    assert max(codes) == 3  # a game that ends has an 8, or is over before
    game, played = make_game(GAME), set()
    for (positions, _), (following, finished) in itertools.pairwise(before):
        if finished:
            continue
        for i, (board, after) in enumerate(zip(boards_of(positions), boards_of(following), strict=True)):
            move = ACTIONS[positions.actions[i]] if i < 2 else game.legal(board)[0]
            assert after in dict(game.outcomes(game.slide(board, move)[0]))
            played.add(i)
    assert played == {0, 1, 2, 3}


def test_positions_come_back_from_a_file_again_and_again(ntuple: str, tmp_path: Path) -> None:
    expected, games = collect(labelled_games(ntuple), 30)
    path = tmp_path / "positions.safetensors"
    write_positions(path, labelled_games(ntuple), 4 * 30)
    stored = StoredPositions(path, make_game(GAME), ntuple, 8, has_values=True)
    found, games_found = collect(stored, 30)  # twice through the file
    for name in Positions._fields:
        assert np.array_equal(np.concatenate([getattr(expected, name)] * 2), getattr(found, name))
    assert games_found == games + games
    assert path.stat().st_size < 120 * 25 + 24 * len(games) + 1500


def test_files_of_other_positions_are_refused(ntuple: str, tmp_path: Path) -> None:
    path, game = tmp_path / "positions.safetensors", make_game(GAME)
    write_positions(path, labelled_games(ntuple), 40)
    with pytest.raises(FileError, match=r"its teacher is ntuple:.*, not greedy"):
        StoredPositions(path, game, "greedy", 8, has_values=False)
    with pytest.raises(FileError, match="its game is 2048:rows=2,columns=2, not 2048:rows=3,columns=3"):
        StoredPositions(path, make_game("2048:rows=3,columns=3"), ntuple, 8, has_values=False)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(FileError) as half:
        StoredPositions(path, game, ntuple, 8, has_values=True)
    assert str(path) in str(half.value)
    assert "\n" not in str(half.value)


def test_labels_that_cannot_be_are_refused(ntuple: str, tmp_path: Path) -> None:
    path, game = tmp_path / "positions.safetensors", make_game(GAME)
    write_positions(path, labelled_games(ntuple), 40)
    tensors, metadata = read_tensors(path)
    metadata.pop("sha256")
    legal = np.isfinite(tensors["q_values"])
    row = np.flatnonzero(~legal.all(axis=1))[0]
    illegal_move, no_value = tensors["actions"].copy(), tensors["q_values"].copy()
    illegal_move[row] = np.flatnonzero(~legal[row])[0]
    other = np.flatnonzero(legal.sum(axis=1) > 1)[0]
    no_value[other, next(a for a in np.flatnonzero(legal[other]) if a != tensors["actions"][other])] = -np.inf
    no_move, no_number = np.full_like(tensors["actions"], 127), np.where(legal, tensors["q_values"], np.nan)
    changes = ({"actions": illegal_move}, False), ({"q_values": no_value}, True), ({"actions": no_move}, True)
    for change, has_values in (*changes, ({"q_values": no_number}, True)):
        write_tensors(path, dict(tensors) | change, metadata)
        with pytest.raises(FileError, match="labels that are impossible"):
            StoredPositions(path, game, ntuple, 8, has_values=has_values)
    write_tensors(path, tensors, metadata | {"game": "chess"})
    with pytest.raises(FileError, match=r"positions\.safetensors: .*chess"):
        StoredPositions(path, game, ntuple, 8, has_values=True)


def test_a_file_that_does_not_fit_into_memory_is_not_begun(
    ntuple: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 2 * 40 * 33 - 1)
    with pytest.raises(UsageError, match="a file of 40 labelled positions takes 2,640 bytes of memory"):
        write_positions(tmp_path / "positions", labelled_games(ntuple), 40)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("symmetry", [False, True])
def test_the_loss_of_moves_is_their_cross_entropy(symmetry: bool) -> None:
    learner = SupervisedLearner(dataclasses.replace(MOVES, symmetry=symmetry))
    positions, _ = learner.source.advance()
    symmetries = np.arange(8) if symmetry else np.zeros(8, np.int64)
    loss, matches = learner._loss_of_moves(positions, symmetries)
    game, expected, chosen = make_game(GAME), [], []
    for board, action, which in zip(boards_of(positions), positions.actions, symmetries, strict=True):
        image = game.symmetries(board)[which]
        (move,) = learner.symmetries.transform_actions(np.array([int(action)]), np.array([which]))
        logits = learner.network.predict(reference.grid(image)[None])[0]
        legal = [ACTIONS.index(name) for name in game.legal(image)]
        assert move in legal
        expected.append(np.log(np.exp(logits[legal]).sum()) - logits[move])
        chosen.append(max(legal, key=lambda a: logits[a]) == move)
    assert loss.item() == pytest.approx(np.mean(expected), rel=1e-5)
    assert matches.tolist() == chosen


def test_the_loss_of_values_is_that_of_values_and_policies(ntuple: str) -> None:
    config = dataclasses.replace(
        MOVES, teacher=ntuple, labels="values", mask=False, temperature=20.0, vf_coef=0.5, reward_scale=10.0
    )
    learner = SupervisedLearner(config)
    positions, _ = learner.source.advance()
    loss, _ = learner._loss_of_values(positions, np.arange(8))
    game, errors = make_game(GAME), list[float]()
    divergences: list[float] = []
    for board, q_values in zip(boards_of(positions), positions.q_values, strict=True):
        found, wanted = [], []
        for name in game.legal(board):
            after, reward = game.slide(board, name)
            images = [reference.grid(image)[None] for image in game.symmetries(after)]
            found.append([reward + 10 * learner.network.predict(image)[0, 0] for image in images])
            wanted.append(q_values[ACTIONS.index(name)])
        which = len(divergences)
        own, labels = np.array([values[which] for values in found]), np.array(wanted)
        errors += (((own - labels) / 10) ** 2).tolist()
        policy, target = (np.exp(values / 20) / np.exp(values / 20).sum() for values in (own, labels))
        divergences.append(-(target * np.log(policy)).sum())
    assert loss.item() == pytest.approx(0.5 * np.mean(errors) + np.mean(divergences), rel=1e-4)


def test_it_learns_the_moves_of_its_teacher(ntuple: str) -> None:
    learner = SupervisedLearner(dataclasses.replace(QUICK, teacher=ntuple))
    while learner.steps < 30_000:
        learner.learn(learner.steps / 30_000)
    assert learner.accuracy > 0.97
    expected = evaluate(ntuple, GAME, games=2000, seed=1).scores.mean()
    assert expected_score(learner, solve_2048(2, 2)) == pytest.approx(expected, rel=0.03)


def test_it_learns_the_values_of_its_teacher(ntuple: str) -> None:
    config = dataclasses.replace(
        QUICK, teacher=ntuple, labels="values", mask=False, teacher_fraction=0.5, temperature=1.0
    )
    learner = SupervisedLearner(config)
    while learner.steps < 30_000:
        learner.learn(learner.steps / 30_000)
    assert learner.accuracy > 0.9
    positions, _ = labelled_games(ntuple).advance()
    policy = NetworkPolicy(learner.network, config.reward_scale)
    found = policy.q_values(make_game(GAME), positions.cells, positions.extra)
    legal = np.isfinite(found)
    assert np.abs(found[legal] - positions.q_values[legal]).mean() < 0.2 * np.abs(positions.q_values[legal]).mean()


def test_bad_teachers_and_keys_are_refused(ntuple: str, tmp_path: Path) -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"teacher": ""}, "teacher = '': must be an agent"),
        ({"teacher": "gredy"}, "teacher = 'gredy': there is no agent 'gredy'"),
        ({"labels": "moods"}, r"labels = 'moods'.*allowed: moves, values"),
        ({"temperature": 1.0}, 'temperature = 1.0: needs labels = "values"'),
        ({"labels": "values", "vf_coef": 0.0}, "vf_coef = 0.0: nothing is learned"),
        ({"data": "x", "teacher_fraction": 0.5}, "teacher_fraction = 0.5: must be 1.0"),
        ({"goal_tile": 7}, "goal_tile = 7: "),
        ({"algorithm": "dqn"}, "teacher = 'greedy': must be '' with algorithm = \"dqn\""),
    ]
    for changes, complaint in refused:
        with pytest.raises(ConfigError, match=complaint):
            dataclasses.replace(MOVES, **changes)
    with pytest.raises(UsageError, match="it has no values in points"):
        SupervisedLearner(dataclasses.replace(MOVES, labels="values"))
    threes = dataclasses.replace(MOVES, teacher=ntuple, game="threes:rows=2,columns=2,start_tiles=2")
    with pytest.raises(UsageError) as other:
        SupervisedLearner(threes)
    assert "\n" not in str(other.value)


def test_a_network_of_tuples_reads_lines_and_squares() -> None:
    network = make_small_network("tuples", algorithm="afterstate")
    assert network.tuples is not None
    with torch.no_grad():
        for table in (network.tuples.lines, network.tuples.squares):
            table.combinations.normal_()
    codes = torch.randint(16, (3, 4, 4))
    vectors = network.tuples(codes)
    assert vectors.shape == (3, 17, 32)
    for number, cells in ((1, [4, 5, 6, 7]), (6, [2, 6, 10, 14]), (8 + 4, [5, 6, 9, 10])):
        table = network.tuples.lines if number < 8 else network.tuples.squares
        read = codes.flatten(1)[:, cells]
        place = (read * 16 ** torch.arange(4)).sum(dim=1)
        expected = table.combinations[place] + sum(table.tiles[k, read[:, k]] for k in range(4))
        assert torch.allclose(vectors[:, number], expected, atol=1e-5)
    optimizer = make_optimizer(network, 0.1)
    for _ in range(2):  # the vectors that are kept for play follow the weights
        assert np.allclose(network.predict(codes.byte().numpy()), network(codes).detach().numpy(), atol=1e-5)
        network(codes).sum().backward()
        optimizer.step()
