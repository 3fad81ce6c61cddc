"""The files of the papers: everything that they declare can be run, and the results are those of the papers."""

import math

import pytest

from tilewright.agents import make_agent
from tilewright.errors import UsageError
from tilewright.games import make_game
from tilewright.reproduce.experiments import SCALES, Experiment, all_experiments, find_experiments
from tilewright.reproduce.figures import CURVES, SCATTER
from tilewright.reproduce.results import check_column
from tilewright.reproduce.suite import plan_trials
from tilewright.training.config import TrainingConfig

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
        if experiment.best_by:
            games = size.selection_games
        assert sum(job.games for job in trial.evaluations) == games
        assert len({job.key for job in trial.evaluations}) == len(trial.evaluations)


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.path)
def test_columns_and_figures_are_known(experiment: Experiment) -> None:
    for column in experiment.columns:
        check_column(column)
    names = [experiment.row_name(row) for row in experiment.rows]
    assert len(set(names)) == len(names)
    for figure in experiment.figures:
        known = figure in CURVES or figure in ("reach-list", SCATTER)
        assert known or figure.removeprefix("points-") in experiment.columns
    for row in experiment.rows:
        for stated in row.paper.values():
            assert math.isfinite(stated.value)
            assert stated.margin >= 0


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.path)
def test_every_experiment_has_a_claim_that_its_rows_can_be_tested_by(experiment: Experiment) -> None:
    assert experiment.claim[-1] in ".)"
    if experiment.best_by:
        check_column(experiment.best_by)
        assert all(size.selection_games for size in experiment.scales.values())
    for comparison in experiment.comparisons:
        for name in (comparison.better, comparison.worse):
            rows = {experiment.row_name(row): experiment for row in experiment.rows}
            place, _, label = name.partition(": ")
            if name not in rows:
                other = find_experiments(f"{experiment.paper}/{place}")[0]
                rows = {f"{place}: {other.row_name(row)}": other for row in other.rows}
            assert comparison.column in rows[name].columns, (name, label)


def test_figures_5_and_6_are_two_sets_of_tuples_without_and_with_large_tiles() -> None:
    (experiment,) = find_experiments("yeh-2016/figures-5-6")
    shapes = []
    for trial in plan_trials(experiment, experiment.scales["full"])[:: experiment.scales["full"].seeds]:
        assert trial.training is not None
        config = trial.training.config
        assert isinstance(config, TrainingConfig)
        shape = config.make_architecture()
        shapes.append((len(max(shape.tuples, key=len)) * (len(min(shape.tuples, key=len))), shape.features))
        assert config.alpha == pytest.approx(0.0025 * shape.lookups(config.make_game()))
    assert shapes == [(24, ()), (24, ("large_tiles",)), (36, ()), (36, ("large_tiles",))]


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
    assert rows["yeh-2016/tuned", "five stages, tuned, 3-ply"]["reach-32768"].value == 0.3175
    assert rows["yeh-2016/tuned-threes", "three stages, tuned, 3-ply"]["score"].value == 234490
    assert rows["yeh-2016/table-5-program", "three stages, 3-ply"]["reach-6144"].value == 0.0783


def test_a_paper_or_one_of_its_experiments_is_found_by_name() -> None:
    assert [one.path for one in find_experiments("yeh-2016/table-1")] == ["yeh-2016/table-1"]
    assert {one.paper for one in find_experiments("goenawan-2020")} == {"goenawan-2020"}
    message = r"there is no experiment 'yeh-2016/table-9' \(did you mean 'yeh-2016/table-\d'\?\); papers: "
    with pytest.raises(UsageError, match=message):
        find_experiments("yeh-2016/table-9")
