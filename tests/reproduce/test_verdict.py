"""Verdicts follow from the tests of the claims, from the paper's figures and from the effort."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tilewright.play.statistics import Estimate, mean_of, paired, rate_of, two_sample
from tilewright.reproduce.experiments import Comparison, Experiment, PaperValue, Row, Scale
from tilewright.reproduce.results import Cell, RowResult
from tilewright.reproduce.verdict import compare_rows, effort_of, judge

FULL = Scale("full", evaluation_games=1000, training_games=1000)
STANDARD = Scale("standard", evaluation_games=1000, training_games=100)


def estimate(value: float, margin: float) -> Estimate:
    return Estimate(value, value - margin, value + margin)


def row(label: str, ours: Estimate, paper: float | None = None, column: str = "score") -> RowResult:
    stated = {} if paper is None else {column: PaperValue(paper, 0.02 * paper)}
    theirs = None if paper is None else estimate(paper, 0.02 * paper)
    return RowResult(Row(label, paper=stated), label, (), {column: Cell(ours, theirs)})


def verdict(rows: list[RowResult], scale: Scale = FULL, *, claims: bool = True, **changes: Any) -> str:
    comparisons = (Comparison("a", "b"),) if claims else ()
    experiment = Experiment(
        "p", "P", "t", "T", "", columns=("score",), figures=(), rows=tuple(one.row for one in rows),
        scales={"full": FULL, "standard": STANDARD}, comparisons=comparisons, **changes,
    )  # fmt: skip
    found = judge(experiment, scale, rows, compare_rows(comparisons, {one.name: one for one in rows}))
    assert found is not None
    return found.word


def test_two_samples_are_compared_as_scipy_does() -> None:
    generator = np.random.default_rng(0)
    one, other = generator.normal(10, 3, 4000), generator.normal(10.2, 5, 3000)
    found = two_sample(mean_of(one), mean_of(other))
    assert found is not None
    expected = stats.ttest_ind(one, other, equal_var=False)
    assert found.p == pytest.approx(expected.pvalue, rel=0.02)
    assert found.sign == (0 if expected.pvalue > 0.05 else np.sign(expected.statistic))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 31])
def test_pairs_are_compared_as_scipy_does(n: int) -> None:
    generator = np.random.default_rng(n)
    one, other = generator.normal(1, 1, n), generator.normal(0, 1, n)
    found = paired(one, other)
    assert found is not None
    assert found.p == pytest.approx(stats.ttest_rel(one, other).pvalue, rel=1e-5)
    assert paired(one[:1], other[:1]) is None


def test_overlapping_intervals_may_differ() -> None:
    merge_score, board_sum = estimate(48_039, 3_613), estimate(41_754, 2_907)
    assert merge_score.low is not None
    assert board_sum.high is not None
    assert merge_score.low < board_sum.high
    assert Cell(merge_score, board_sum).differs


def test_claims_and_figures_of_the_paper_make_a_reproduction() -> None:
    assert verdict([row("a", estimate(99, 2), 100), row("b", estimate(51, 2), 50)]) == "reproduced"


def test_the_claim_with_other_figures_is_the_direction_only() -> None:
    assert verdict([row("a", estimate(200, 2), 100), row("b", estimate(20, 2), 50)]) == "direction only"
    matching = [row("a", estimate(99, 2), 100), row("b", estimate(51, 2), 50)]
    assert verdict(matching, Scale("full", training_games=1000, changes={"alpha": 1.0})) == "direction only"


def test_without_a_claim_and_results_to_compare_with_there_is_only_what_was_found() -> None:
    beside = row("a", estimate(200, 2), 100)
    beside = dataclasses.replace(beside, row=dataclasses.replace(beside.row, beside=True))
    assert verdict([beside], claims=False) == ""
    experiment = Experiment(
        "p", "P", "t", "T", "", columns=("score",), figures=(), rows=(beside.row,), scales={"full": FULL}
    )
    found = judge(experiment, FULL, [beside], [])
    assert found is not None
    assert found.ours == "a: mean score 200 ± 2 (paper 100 ± 2)"
    assert judge(experiment, FULL, [], []) is None


def test_a_reversed_claim_contradicts_the_paper_if_the_effort_is_its_own() -> None:
    rows = [row("a", estimate(50, 2)), row("b", estimate(100, 2))]
    assert verdict(rows) == "contradicted"
    assert verdict(rows, STANDARD) == "not at this scale"


def test_a_claim_that_no_test_sees_is_open() -> None:
    assert verdict([row("a", estimate(101, 20), 100), row("b", estimate(100, 20), 50)]) == "not at this scale"


def test_wide_intervals_alone_are_no_agreement() -> None:
    assert verdict([row("a", estimate(60, 60), 100)], claims=False) == "contradicted"
    assert verdict([row("a", estimate(60, 60), 100)], STANDARD, claims=False) == "not at this scale"
    assert verdict([row("a", estimate(140, 2), 100)], claims=False) == "direction only"


def test_a_figure_without_an_interval_is_compared_as_if_it_had_ours() -> None:
    def rows(paper: float) -> list[RowResult]:
        cell = Cell(estimate(42_952, 1_308), Estimate(paper, None, None))
        return [RowResult(Row("a"), "a", (), {"score": cell})]

    assert verdict(rows(41_000), claims=False) == "reproduced"
    assert verdict(rows(39_365), claims=False) == "direction only"


def test_later_stages_are_compared_with_the_stage_before() -> None:
    def staged(last: float) -> list[RowResult]:
        curve = [{"stage": 2, "score_mean": score} for score in (10.0, last)]
        training = {"curve": curve, "stages": [{"stage": 2, "games": 1, "baseline_score": 50.0}]}
        return [RowResult(Row("a"), "a", (SimpleNamespace(training=training),), {})]  # type: ignore[arg-type]

    assert verdict(staged(60.0), claims=False, stages_improve=True) == "direction only"
    assert verdict(staged(40.0), claims=False, stages_improve=True) == "contradicted"
    assert verdict(staged(40.0), STANDARD, claims=False, stages_improve=True) == "not at this scale"


def test_rates_are_compared_in_points() -> None:
    rows = [row("a", rate_of(955, 1000), 0.97, "win")]
    assert verdict(rows, claims=False) == "reproduced"
    assert verdict([row("a", rate_of(800, 1000), 0.97, "win")], STANDARD, claims=False) == "not at this scale"


def test_several_claims_share_the_error() -> None:
    """p = 0.03 refutes a single claim, and none of two."""
    a, b = row("a", estimate(100, 2)), row("b", estimate(103.1, 2))
    one = compare_rows([Comparison("a", "b")], {"a": a, "b": b})[0]
    assert one.difference is not None
    assert 0.025 < one.difference.p < 0.05
    assert (one.sign(1), one.sign(2)) == (-1, 0)


def test_effort_is_the_part_of_the_training() -> None:
    experiment = Experiment("p", "P", "t", "T", "", (), (), (), {"full": FULL, "standard": STANDARD})
    assert effort_of(experiment, STANDARD) == 0.1
    assert effort_of(experiment, FULL) == 1
