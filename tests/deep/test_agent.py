"""Deep networks as agents: like any other, and refused where they do not fit."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from tests.deep.small import AFTERSTATE, SUPERVISED, small, train
from tests.envs import reference
from tests.training.sessions import tiny
from tests.training.sessions import train as train_ntuple
from tilewright import SpecError, UsageError, evaluate, make_agent, make_game
from tilewright.agents.base import BatchAgent
from tilewright.deep.agent import DqnAgent
from tilewright.deep.model import load_deep_model
from tilewright.errors import FileError
from tilewright.games.episode import Episode
from tilewright.games.policy import make_results
from tilewright.testing import check_agent

GAME = "2048:rows=2,columns=2"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("deep")
    configs = {"dqn": small(total_steps=512), "afterstate": AFTERSTATE, "policy": SUPERVISED}
    return {name: train(config, folder / name).folder.model_file for name, config in configs.items()}


@pytest.mark.parametrize("name", ["dqn", "afterstate", "policy"])
def test_it_passes_the_conformance_suite(name: str, models: dict[str, Path]) -> None:
    check_agent(make_agent(f"{name}:model={models[name]}"), make_game(GAME))


@pytest.mark.parametrize("name", ["dqn", "afterstate", "policy"])
def test_games_played_side_by_side_are_those_played_alone(name: str, models: dict[str, Path]) -> None:
    agent, game = make_agent(f"{name}:model={models[name]}"), make_game(GAME)
    results = make_results(40)
    assert isinstance(agent, BatchAgent)
    agent.play_batch(game, 3, 10, results)
    for number in range(40):
        episode = Episode(game, 3, 10 + number)
        while not episode.is_over:
            episode.move(agent.move(episode.board, episode.stream))
        ours = (results.scores[number], results.moves[number], game.value(int(results.codes[number])))
        assert ours == (episode.score, len(episode.history), game.largest(episode.board))


def test_the_option_invalid_is_for_whole_games_of_action_values(models: dict[str, Path]) -> None:
    game = make_game(GAME)
    legal, random = (
        evaluate(f"dqn:model={models['dqn']},invalid={how}", game, games=100) for how in ("never", "random")
    )
    assert (legal.scores != random.scores).any()
    with pytest.raises(SpecError, match="invalid"):
        make_agent(f"afterstate:model={models['afterstate']},invalid=random")
    with pytest.raises(SpecError, match="did you mean 'random'"):
        make_agent("dqn:invalid=randon")


def test_evaluation_plays_more_games_than_a_batch(models: dict[str, Path]) -> None:
    agent = make_agent(f"dqn:model={models['dqn']}")
    reported: list[int] = []
    found = evaluate(agent, make_game(GAME), games=300, seed=1, progress=reported.append)
    assert reported == [250, 50]
    first = evaluate(agent, make_game(GAME), games=250, seed=1)
    assert np.array_equal(found.scores[:250], first.scores)


def test_an_afterstate_agent_adds_the_reward_to_the_value(models: dict[str, Path]) -> None:
    game = make_game(GAME)
    board, model = game.parse("2 2 / 4 4"), load_deep_model(models["afterstate"])
    values = make_agent(f"afterstate:model={models['afterstate']}").values(board)
    for action in ("left", "right"):
        after, reward = game.slide(board, action)
        value = 10 * float(model.network.predict(reference.grid(after)[None])[0, 0])
        assert values[action] == pytest.approx(reward + value, rel=1e-5)
    assert list(values) == ["right", "left"]


def test_two_plies_are_the_expectation_over_all_new_tiles(models: dict[str, Path]) -> None:
    game, spec = make_game(GAME), f"afterstate:model={models['afterstate']}"
    agent, deeper = make_agent(spec), make_agent(f"{spec},depth=2")
    for board in (game.parse("2 2 / 4 0"), game.parse("2 4 / 4 8")):
        expected = {}
        for action in game.legal(board):
            after, reward = game.slide(board, action)
            following = [(chance, max(agent.values(b).values(), default=0.0)) for b, chance in game.outcomes(after)]
            expected[action] = reward + sum(chance * value for chance, value in following)
        assert deeper.values(board) == pytest.approx(expected, rel=1e-5)


def test_a_policy_agent_gives_probabilities_of_the_legal_moves(models: dict[str, Path]) -> None:
    game = make_game(GAME)
    board, model = game.parse("2 2 / 4 4"), load_deep_model(models["policy"])
    weights = np.exp(model.network.predict(reference.grid(board)[None])[0])
    values = make_agent(f"policy:model={models['policy']}").values(board)
    total = weights[1] + weights[3]
    assert values == pytest.approx({"right": weights[1] / total, "left": weights[3] / total}, rel=1e-5)


def test_a_dqn_agent_gives_the_outputs_of_the_legal_moves_in_points(models: dict[str, Path]) -> None:
    game = make_game(GAME)
    board, model = game.parse("2 2 / 4 4"), load_deep_model(models["dqn"])
    outputs = model.network.predict(reference.grid(board)[None])[0]
    values = make_agent(f"dqn:model={models['dqn']}").values(board)
    assert values == pytest.approx({"right": 10 * outputs[1], "left": 10 * outputs[3]}, rel=1e-5)


def test_a_loaded_agent_needs_no_file(models: dict[str, Path], tmp_path: Path) -> None:
    game, copy = make_game(GAME), tmp_path / "copy.safetensors"
    copy.write_bytes(models["dqn"].read_bytes())
    agent = make_agent(f"dqn:model={copy}")
    board = game.start(1)
    expected = agent.values(board)
    loaded = pickle.loads(pickle.dumps(agent.loaded(game)))  # noqa: S301  (as a cluster sends it)
    copy.unlink()
    assert loaded.values(board) == expected
    assert DqnAgent(load_deep_model(models["dqn"])).values(board) == expected


def test_a_model_that_does_not_fit_is_refused(models: dict[str, Path], tmp_path: Path) -> None:
    board = make_game(GAME).start(1)
    with pytest.raises(UsageError, match=r"trained for 2048:rows=2,columns=2 and cannot play 2048$"):
        make_agent(f"dqn:model={models['dqn']}").values(make_game("2048").start(1))
    with pytest.raises(SpecError, match="is for the agent afterstate, not dqn: afterstate:model=PATH"):
        make_agent(f"dqn:model={models['afterstate']}").values(board)
    with pytest.raises(SpecError, match="agent dqn needs a trained network: dqn:model=PATH"):
        make_agent("dqn").values(board)
    with pytest.raises(FileError, match="cannot be read: No such file"):
        make_agent(f"dqn:model={tmp_path}/none").values(board)
    ntuple = train_ntuple(tiny(games=20), tmp_path / "ntuple").folder.model_file
    with pytest.raises(FileError, match="not a deep model of this version: its format is tilewright-ntuple"):
        make_agent(f"dqn:model={ntuple}").values(board)
