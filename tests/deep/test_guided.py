"""Tree search with a prior: the bounds and the visits of PUCT, and what the prior does."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.deep.small import make_small_network
from tilewright import SpecError, UsageError, evaluate, make_agent, make_game
from tilewright._core import memory
from tilewright.agents.base import BatchAgent
from tilewright.agents.uct import UctAgent
from tilewright.deep.guided import GuidedUctAgent, priors_of
from tilewright.deep.model import DeepModel
from tilewright.games.rules import ACTIONS
from tilewright.search.puct import make_forest, plant_roots, run_rollouts
from tilewright.testing import check_agent

GAME = "2048:rows=2,columns=2"


def biased_model(action: str, logit: float) -> DeepModel:
    """A policy network that prefers one move everywhere."""
    network = make_small_network(game=GAME, algorithm="policy")
    assert network.action_head is not None
    with torch.no_grad():
        for weight in network.parameters():
            weight.zero_()
        network.get_parameter(f"action_head.{len(network.action_head) - 1}.bias")[ACTIONS.index(action)] = logit
    return DeepModel(network)


@pytest.fixture(scope="module")
def prior(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("prior") / "model.safetensors"
    biased_model("left", 1.0).save(path)
    return path


def test_it_passes_the_conformance_suite_and_plays_games_side_by_side(prior: Path) -> None:
    game, agent = make_game(GAME), make_agent(f"uct:prior={prior},rollouts=10")
    assert isinstance(agent, BatchAgent)
    assert agent.spec == f"uct:rollouts=10,prior={prior}"
    assert make_agent(agent.spec) == agent
    check_agent(agent, game, games=2)
    together = evaluate(agent, game, games=6, seed=1)
    alone = [evaluate(agent, game, games=n + 1, seed=1).scores[n] for n in (0, 3, 5)]
    assert together.scores[[0, 3, 5]].tolist() == alone


def test_a_prior_is_named_so_that_no_search_is_left_unguided(prior: Path) -> None:
    assert isinstance(UctAgent(10, prior=prior), GuidedUctAgent)
    with pytest.raises(TypeError, match="positional"):
        UctAgent(10, "score", "random", 0, "", 2.0, prior)


def test_trees_that_do_not_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    forest = make_forest(3, 99)
    nodes = sum(array.nbytes for array in forest if array.shape[:2] == (3, 100))
    monkeypatch.setattr(memory, "available_memory", lambda: nodes)
    make_forest(3, 99)
    monkeypatch.setattr(memory, "available_memory", lambda: nodes - 1)
    with pytest.raises(UsageError, match="a guided search of 3 games with 99 rollouts takes 43,200 bytes"):
        make_forest(3, 99)


def test_values_are_the_fractions_of_the_rollouts(prior: Path) -> None:
    values = make_agent(f"uct:prior={prior},rollouts=50").values(make_game(GAME).parse("2 2 / 4 0"))
    assert sum(values.values()) == pytest.approx(1.0)
    assert set(values) == set(make_game(GAME).legal("2 2 / 4 0"))


def test_priors_are_probabilities_of_the_legal_moves() -> None:
    game = make_game(GAME)
    cells, extra = (np.array([word], np.uint64) for word in game.parse("2 2 / 4 8").state)
    found = priors_of(biased_model("left", 2.0).policy, game, cells, extra)[0]
    assert found == pytest.approx([0, 1 / (1 + np.exp(2)), 0, np.exp(2) / (1 + np.exp(2))])


def test_a_strong_prior_decides_and_none_does_not() -> None:
    """With enough exploration, moves are tried in proportion to their priors; a flat prior tries all."""
    game = make_game(GAME)
    board = game.parse("2 2 / 4 0")
    for action in ("left", "down"):
        agent = GuidedUctAgent(rollouts=60, c=1000.0, prior=biased_model(action, 6.0))
        assert agent.move(board) == action
        flat = GuidedUctAgent(rollouts=60, c=1000.0, prior=biased_model(action, 0.0)).values(board)
        assert min(flat.values()) > 0.15


def test_visits_follow_the_bounds() -> None:
    """The tree is replayed by hand: at every node of every rollout the highest bound is chosen."""
    game, agent = make_game(GAME), GuidedUctAgent(rollouts=30, prior=biased_model("left", 1.0))
    forest, rollouts = make_forest(1, 30), agent._make_rollouts(game)
    cells, extra = (np.array([word], np.uint64) for word in game.parse("2 2 / 4 0").state)
    plant_roots(forest, game.rules, cells, extra, np.array([[1, 2]], np.uint64))
    policy, nodes = biased_model("left", 1.0).policy, np.zeros(1, np.int64)
    forest.prior[0, 0] = priors_of(policy, game, cells, extra)[0]
    for number in range(30):
        visits, total = forest.visits[0, 0].copy(), forest.total[0, 0].copy()
        count, squares = forest.moments[0, 0], forest.moments[0, 2]
        scale = 2.0 * (np.sqrt(squares / count) if squares > 0 else 1.0)
        run_rollouts(forest, rollouts, game.rules, 2.0, nodes)
        if nodes[0] >= 0 and forest.legal[0, nodes[0]]:
            place = 0, nodes[0]
            forest.prior[place] = priors_of(policy, game, forest.cells[place][None], forest.extra[place][None])[0]
        (chosen,) = np.flatnonzero(forest.visits[0, 0] - visits)
        mean = total.sum() / number if number else 0.0
        means = np.where(visits, total / np.maximum(visits, 1), mean)
        bounds = means + scale * forest.prior[0, 0] * np.sqrt(max(number, 1)) / (1 + visits)
        legal = [action for action in range(4) if forest.legal[0, 0] >> action & 1]
        assert chosen == max(legal, key=lambda action: bounds[action])
    assert forest.visits[0, 0].sum() == 30


def test_networks_that_are_no_policies_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "model.safetensors"
    DeepModel(make_small_network(game=GAME, algorithm="afterstate")).save(other)
    board = make_game(GAME).start(1)
    with pytest.raises(SpecError, match="is for the agent afterstate, not policy"):
        make_agent(f"uct:prior={other}").values(board)
    with pytest.raises(UsageError, match=r"cannot play 2048$"):
        GuidedUctAgent(prior=biased_model("left", 1.0)).values(make_game("2048").start(1))


@pytest.mark.parametrize("prior", [None, [], {}, [1]])
def test_what_is_no_prior_is_refused(prior: object) -> None:
    with pytest.raises(SpecError, match=r"agent uct, option prior=.*: must be a file, or a DeepModel in memory"):
        make_agent("uct", prior=prior)
