"""Results of trials and rows are those of the games, and records say all of it."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from tests.reproduce.tiny import GAME, QUICK
from tilewright.agents import make_agent
from tilewright.errors import UsageError
from tilewright.games import make_game
from tilewright.play.evaluate import Evaluation, evaluate
from tilewright.play.statistics import Estimate, mean_of
from tilewright.reproduce.experiments import Experiment, Scale
from tilewright.reproduce.results import (
    Cell,
    check_column,
    collect_rows,
    collect_trials,
    format_estimate,
    to_records,
)
from tilewright.reproduce.runner import run_and_report
from tilewright.reproduce.store import Store
from tilewright.reproduce.suite import FIRST_EVALUATION_SEED, SEEDS_PER_TRIAL, plan_trials

PARTS = (20, 10)  # games of the two evaluations of a slow or untrained row


def random_games(seed: int) -> list[Evaluation]:
    """Random moves need no training: the games of that row, played again."""
    first, agent, game = FIRST_EVALUATION_SEED + SEEDS_PER_TRIAL * seed, make_agent("random"), make_game(GAME)
    return [evaluate(agent, game, games=n, seed=first + i, threads=1) for i, n in enumerate(PARTS)]


def test_rows_are_means_over_the_seeds(experiment: Experiment, undisturbed: Store) -> None:
    rows = collect_rows(experiment, QUICK, undisturbed)
    assert [row.name for row in rows] == ["plain", "plain, slow", "staged", "random"]
    means = [np.concatenate([part.scores for part in random_games(seed)]).mean() for seed in range(2)]
    assert rows[3].cells["score"].ours == mean_of(np.array(means))
    assert rows[3].trials[0].training is None
    sums = rows[3].trials[0].board_sums
    assert len(sums) == 30
    assert (sums >= rows[3].trials[0].tiles).all()
    training = rows[2].trials[1].training
    assert training is not None
    assert [stage["stage"] for stage in training["stages"]] == [2, 3]


def test_there_is_one_record_a_trial_with_the_results_of_its_games(experiment: Experiment, undisturbed: Store) -> None:
    trials = [trial.record for trial in plan_trials(experiment, QUICK)]
    records = to_records(collect_trials(trials, undisturbed))
    assert [(record["row"], record["seed"]) for record in records] == [
        (row, seed) for row in ("plain", "plain, slow", "staged", "random") for seed in (0, 1)
    ]
    assert len({tuple(record) for record in records}) == 1, "all records have the same columns"
    for seed in (0, 1):
        record, parts = records[6 + seed], random_games(seed)
        scores, moves, codes = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("scores", "moves", "codes")
        )
        whole = Evaluation("random", parts[0].game, 0, 1, scores, moves, codes, seconds=1.0)
        facts = whole.summary()
        assert facts["win"] is not None
        assert record["experiment"] == "tiny-2026/table-1"
        assert (record["config"], record["agent"], record["game"], record["games"]) == (None, "random", GAME, 30)
        assert record["score_mean"] == pytest.approx(facts["score"]["mean"])
        assert [record["score_low"], record["score_high"]] == pytest.approx(facts["score"]["ci95"])
        assert (record["score_median"], record["score_max"]) == (facts["score"]["median"], facts["score"]["max"])
        assert (record["max100"], record["max100_low"], record["training_games"]) == (None, None, None)
        assert record["win_rate"] == facts["win"]["rate"]
        assert [record["win_rate_low"], record["win_rate_high"]] == facts["win"]["ci95"]
        assert record["moves"] == facts["moves"]
        for tile, rate in facts["reach"].items():
            assert record[f"reach_{tile}"] == rate["rate"]
            assert [record[f"reach_{tile}_low"], record[f"reach_{tile}_high"]] == rate["ci95"]
    trained = records[5]
    assert (trained["config"], trained["seed"], trained["training_games"]) == ("staged", 1, 150)
    assert trained["run_folder"] == "trainings/staged_seed=1"
    found = undisturbed.find(trials[5].evaluations[0])
    assert found is not None
    assert (trained["machine"], trained["version"], trained["date"]) == (found.machine, found.version, found.date)


def test_trials_that_are_not_finished_have_no_record(experiment: Experiment, undisturbed: Store) -> None:
    trials = [trial.record for trial in plan_trials(experiment, QUICK)]
    other = QUICK.__class__("quick", seeds=3, evaluation_games=30, slow_evaluation_games=25)
    more = [trial.record for trial in plan_trials(experiment, other)]
    assert len(more) > len(trials)
    assert collect_trials(more, undisturbed)[-1].trial == trials[-1]
    assert len(collect_trials(more, undisturbed)) == len(trials)
    assert collect_rows(experiment, other, undisturbed) == []


@pytest.mark.parametrize(
    ("ours", "paper", "differs"),
    [
        (Estimate(10, 9, 11), Estimate(11, 10, 12), False),
        (Estimate(10, 9, 11), Estimate(11.8, 10.8, 12.8), True),  # although the intervals overlap
        (Estimate(10, 9, 11), Estimate(13, 12, 14), True),
        (Estimate(10, None, None), Estimate(13, 12, 14), False),
        (None, Estimate(13, 12, 14), False),
        (Estimate(10, 9, 11), None, False),
    ],
)
def test_results_differ_where_a_two_sample_test_says_so(
    ours: Estimate | None, paper: Estimate | None, differs: bool
) -> None:
    assert Cell(ours, paper).differs is differs


def test_the_best_seed_is_chosen_by_its_win_rate_and_then_evaluated_with_other_games(
    experiment: Experiment, undisturbed: Store, tmp_path: Path
) -> None:
    scale = Scale("quick", seeds=3, evaluation_games=50, selection_games=30)
    best_of = dataclasses.replace(experiment, rows=experiment.rows[:1], best_by="win")
    result = run_and_report([(best_of, scale, Path("best"))], tmp_path, threads=1)
    *chosen_from, best = result.trials
    rates = [trial.rate("win") for trial in chosen_from]
    assert [len(trial.scores) for trial in (*chosen_from, best)] == [30, 30, 30, 50]
    assert best.trial.seed == int(np.argmax([rate.value for rate in rates if rate]))
    assert best.trial.row == "plain, the best seed"
    assert not set(best.trial.evaluations) & {key for trial in chosen_from for key in trial.trial.evaluations}
    (row,) = collect_rows(best_of, scale, Store(tmp_path))
    assert row.trials[0].scores.tolist() == best.scores.tolist()
    assert row.cells["score"].ours == mean_of(best.scores)
    assert "the best of 3 seeds by win rate in 30 games" in (tmp_path / "best" / "report.md").read_text()


@pytest.mark.parametrize(
    ("column", "estimate", "text"),
    [
        ("score", Estimate(51320.9, 50962.5, 51679.3), "51,321 ± 358"),
        ("win", Estimate(0.906, 0.896, 0.915), "90.6 % (89.6 – 91.5)"),
        ("reach-2048", Estimate(0.5, None, None), "50.0 %"),
        ("reach-2048", Estimate(0.9997, 0.9994, 1.0), "99.97 % (99.94 – 100.0)"),
        ("reach-32768", Estimate(0.0, 0.0, 0.0004), "0.0 % (0.0 – 0.04)"),
        ("max", Estimate(261526, None, None), "261,526"),
        ("seconds", Estimate(7.25, None, None), "7.2 s"),
        ("training-seconds", Estimate(7967.5, 1, 2), "2 h 13 min"),
        ("seconds", Estimate(288197, None, None), "3 d 8 h"),
        ("seconds", Estimate(59.97, None, None), "1 min 0 s"),
        ("seconds", Estimate(3599.7, None, None), "1 h 0 min"),
        ("score", None, "–"),
    ],
)
def test_estimates_are_formatted_for_people(column: str, estimate: Estimate | None, text: str) -> None:
    assert format_estimate(column, estimate) == text


def test_an_unknown_column_is_one_line() -> None:
    for column in ("score", "win", "reach-2048", "ends-512"):
        check_column(column)
    for column in ("wins", "reach-", "reach-x", "speeds"):
        with pytest.raises(UsageError, match=f"^column '{column}' .*allowed: score, "):
            check_column(column)
