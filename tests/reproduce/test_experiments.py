"""The files of the papers: everything that they declare can be run, and the results are those of the papers."""

import math

import pytest

from tilewright.agents import make_agent
from tilewright.errors import UsageError
from tilewright.games import make_game
from tilewright.reproduce.experiments import SCALES, Experiment, all_experiments, find_experiments
from tilewright.reproduce.figures import CURVES
from tilewright.reproduce.results import check_column
from tilewright.reproduce.suite import plan_trials

EXPERIMENTS = list(all_experiments().values())


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.path)
@pytest.mark.parametrize("scale", SCALES)
def test_every_row_can_be_trained_and_played(experiment: Experiment, scale: str) -> None:
    size = experiment.scales[scale]
    labels = [row.label for row in experiment.rows]
    assert set(size.rows) <= set(labels)
    trials = plan_trials(experiment, size)
    assert len(trials) == size.seeds * len(experiment.rows_at(size)) > 0
    for trial in trials[:60]:
        make_agent(trial.evaluations[0].agent.replace("{model}", "model.safetensors"))
        assert ("{model}" in trial.evaluations[0].agent) == (trial.training is not None)
        make_game(trial.evaluations[0].game)
        games = size.slow_evaluation_games if trial.row.slow and size.slow_evaluation_games else size.evaluation_games
        assert sum(job.games for job in trial.evaluations) == games
        assert len({job.key for job in trial.evaluations}) == len(trial.evaluations)


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.path)
def test_columns_and_figures_are_known(experiment: Experiment) -> None:
    for column in experiment.columns:
        check_column(column)
    names = [experiment.row_name(row) for row in experiment.rows]
    assert len(set(names)) == len(names)
    for figure in experiment.figures:
        assert figure in CURVES or figure == "reach-list" or figure.removeprefix("points-") in experiment.columns
    for row in experiment.rows:
        for stated in row.paper.values():
            assert math.isfinite(stated.value)
            assert stated.margin >= 0


def test_some_results_are_those_that_the_papers_print() -> None:
    """Read off the papers once more, by hand."""
    rows = {(one.path, row.label): row.paper for one in EXPERIMENTS for row in one.rows}
    assert rows["szubert-2014/table-1", "TD-afterstate, α = 0.0025"]["score"].value == 51320.93
    assert rows["szubert-2014/table-1", "Q-learning, α = 0.01"]["win"].value == 0.4438
    assert rows["yeh-2016/table-2", "three stages, 3-ply"]["reach-32768"].value == 0.1378
    assert rows["yeh-2016/table-3", "strategy 3"]["reach-32768"].value == 0.1831
    assert rows["yeh-2016/table-5", "three stages, 3-ply"]["score"].value == 220393
    assert rows["goenawan-2020/table-4", "500 rollouts, the authors' rules"]["board-sum"].value == 2444.58
    assert rows["chen-2019/figure-7", "afterstate values"]["reach-4096"].value == 0.299


def test_a_paper_or_one_of_its_experiments_is_found_by_name() -> None:
    assert [one.path for one in find_experiments("yeh-2016/table-1")] == ["yeh-2016/table-1"]
    assert {one.paper for one in find_experiments("goenawan-2020")} == {"goenawan-2020"}
    message = r"there is no experiment 'yeh-2016/table-9' \(did you mean 'yeh-2016/table-\d'\?\); papers: "
    with pytest.raises(UsageError, match=message):
        find_experiments("yeh-2016/table-9")
