"""What an experiment shows about its paper: its claims tested, its results compared, and a verdict in a word.

reproduced           the claims hold, and the results agree with the paper
direction only       the claims hold, but the results differ, or ours are better
contradicted         a claim is reversed, with at least half of the paper's effort
not at this scale    with less effort than the paper's, a claim is not seen or a result not reached
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.play.statistics import Difference, Estimate, paired, two_sample
from tilewright.reproduce.experiments import Comparison, Experiment, Scale
from tilewright.reproduce.results import (
    Cell,
    RowResult,
    column_values,
    format_difference,
    format_estimate,
    heading,
    is_rate,
)
from tilewright.training.config import AnyConfig, read_config

__all__ = ["VERDICTS", "TestedComparison", "Verdict", "compare_rows", "effort_of", "judge"]

VERDICTS = ("reproduced", "direction only", "contradicted", "not at this scale")
LEVEL = 0.05  # of all tests of an experiment together (Bonferroni)
# A result is close to the paper's within the first tolerance, and compatible with it within the second if no test
# tells them apart: a wide interval alone is no agreement.
CLOSE, COMPATIBLE = 0.05, 0.15  # of the paper's score
CLOSE_RATE, COMPATIBLE_RATE = 0.03, 0.10
ENOUGH_EFFORT = 0.5
NEUTRAL_KEYS = {"curve_games", "n_envs"}  # keys that a scale may set without making it another configuration
_NOT_COMPARED = ("speed", "seconds", "training-seconds", "max", "max100", "largest")


@dataclass(frozen=True)
class Verdict:
    """A verdict with its reason.

    Attributes:
        word: One of VERDICTS; empty if the paper states neither a claim that is tested nor a result to compare with.
        why: The reason, in a sentence or two.
        ours: What was found here, in a sentence.
    """

    word: str
    why: str
    ours: str


@dataclass(frozen=True)
class TestedComparison:
    """A claim of the paper with its test.

    Attributes:
        comparison: The claim.
        better: The result of the row that the paper finds better.
        worse: The result of the other row.
        difference: The first minus the second; None if there are no intervals.
    """

    comparison: Comparison
    better: Estimate
    worse: Estimate
    difference: Difference | None

    def sign(self, tests: int) -> int:
        """1 if the claim holds, -1 if it is reversed, 0 if it is open, as one of a number of tests."""
        if self.difference is None or self.difference.p >= LEVEL / max(1, tests):
            return 0
        return self.difference.sign

    def __str__(self) -> str:
        column = self.comparison.column
        text = (
            f"{self.comparison.better} {format_estimate(column, self.better)} against "
            f"{self.comparison.worse} {format_estimate(column, self.worse)} ({heading(column)})"
        )
        if self.difference is None:
            return text
        return f"{text}: {format_difference(column, self.difference)}"


def compare_rows(comparisons: Sequence[Comparison], rows: Mapping[str, RowResult]) -> list[TestedComparison]:
    """Test the claims whose two rows are finished.

    Rows with several seeds are compared seed by seed; others by two samples of games.

    Args:
        comparisons: The claims.
        rows: The results by the names that the claims use.
    """
    tested = []
    for comparison in comparisons:
        better, worse = rows.get(comparison.better), rows.get(comparison.worse)
        if better is None or worse is None:
            continue
        ours, other = _ours(better, comparison.column), _ours(worse, comparison.column)
        if ours is not None and other is not None:
            difference = _paired(better, worse, comparison.column) or two_sample(ours, other)
            tested.append(TestedComparison(comparison, ours, other, difference))
    return tested


def _ours(row: RowResult, column: str) -> Estimate | None:
    return row.cells[column].ours if column in row.cells else None


def _paired(better: RowResult, worse: RowResult, column: str) -> Difference | None:
    seeds = [[trial.trial.seed for trial in row.trials] for row in (better, worse)]
    if seeds[0] != seeds[1] or len(seeds[0]) < 2:
        return None
    one, other = (column_values(column, row.trials) for row in (better, worse))
    return paired(np.array(one), np.array(other)) if len(one) == len(other) else None


def effort_of(experiment: Experiment, scale: Scale) -> float:
    """Return how large a part of the full effort a scale makes: of the training, or of the games without a training."""
    full = experiment.scales.get("full", scale)
    for name in ("training_games", "stage_games", "training_steps"):
        if getattr(full, name):
            return float(getattr(scale, name) / getattr(full, name))
    if scale.training_steps:  # the full scale has the steps of the configurations
        steps = [_steps(row.config, row.changes) for row in experiment.rows_at(scale)]
        return min(1.0, scale.training_steps / max(steps))
    return min(1.0, scale.evaluation_games / full.evaluation_games)


def _steps(config: str | AnyConfig, changes: Mapping[str, object]) -> int:
    return int(str(read_config(config, **changes).to_dict()["total_steps"]))


def judge(
    experiment: Experiment, scale: Scale, rows: Sequence[RowResult], tested: Sequence[TestedComparison]
) -> Verdict | None:
    """Judge an experiment at a scale.

    Args:
        experiment: The experiment.
        scale: The scale.
        rows: The rows that are finished.
        tested: The claims with their tests.

    Returns:
        The verdict; None if nothing is finished.
    """
    cells = [(name, cell) for row in rows if not row.row.beside for name, cell in row.cells.items()]
    cells = [(name, cell) for name, cell in cells if cell.paper is not None and name not in _NOT_COMPARED]
    stages = _stage_signs(rows) if experiment.stages_improve else []
    if not rows:
        return None
    if not (experiment.comparisons or cells or stages):
        return Verdict("", experiment.remark, _found(rows, tested))
    effort = effort_of(experiment, scale)
    changed = set(scale.changes) - NEUTRAL_KEYS
    matches = [_matches(name, cell, len(cells)) for name, cell in cells]
    signs = [*(test.sign(len(tested)) for test in tested), *stages]
    word = _word(signs, matches, [_exceeds(cell) for _, cell in cells], effort, changed=bool(changed))
    why = [
        _claims_in_words(signs),
        _results_in_words(matches),
        _effort_in_words(effort, scale, changed),
        experiment.remark,
    ]
    return Verdict(word, " ".join(filter(None, why)), _found(rows, tested))


def _word(
    signs: Sequence[int], matches: Sequence[bool], exceeds: Sequence[bool], effort: float, *, changed: bool
) -> str:
    enough = effort >= ENOUGH_EFFORT
    if -1 in signs:
        return "contradicted" if enough else "not at this scale"
    if signs and 1 not in signs:
        return "not at this scale"
    if matches and all(matches) and 0 not in signs and not changed:
        return "reproduced"
    if signs or (exceeds and all(good or match for good, match in zip(exceeds, matches, strict=True))):
        return "direction only"
    if not enough or changed:
        return "not at this scale"
    return "direction only" if sum(matches) > len(matches) / 2 else "contradicted"


def _stage_signs(rows: Sequence[RowResult]) -> list[int]:
    """Tell for every later stage whether the last tenth of its games is better than the stage before on its boards."""
    signs = []
    for row in rows:
        for training in (trial.training for trial in row.trials if trial.training):
            for stage in training["stages"]:
                scores = [point["score_mean"] for point in training["curve"] if point.get("stage") == stage["stage"]]
                last = scores[-max(1, len(scores) // 10) :]
                if last:
                    signs.append(1 if sum(last) / len(last) > stage["baseline_score"] else -1)
    return signs


def _matches(column: str, cell: Cell, tests: int) -> bool:
    """Whether a result is close to the paper's, or compatible with it."""
    if cell.ours is None or cell.paper is None:
        return False
    apart = abs(cell.ours.value - cell.paper.value)
    close, compatible = CLOSE_RATE, COMPATIBLE_RATE
    if not is_rate(column):
        close, compatible = CLOSE * abs(cell.paper.value), COMPATIBLE * abs(cell.paper.value)
    difference = cell.difference
    if difference is None and cell.paper.margin is None and cell.ours.margin is not None:
        # Where the paper states no interval, its own is taken to be as wide as ours.
        value, margin = cell.paper.value, cell.ours.margin
        difference = two_sample(cell.ours, Estimate(value, value - margin, value + margin))
    told_apart = difference is not None and difference.p < LEVEL / tests
    return apart <= close or (apart <= compatible and not told_apart)


def _exceeds(cell: Cell) -> bool:
    return cell.ours is not None and cell.paper is not None and cell.ours.value >= cell.paper.value


def _claims_in_words(signs: Sequence[int]) -> str:
    if not signs:
        return ""
    if len(signs) == 1:
        words = {1: "The claim holds.", -1: "The claim is reversed.", 0: "The claim is neither seen nor refuted."}
        return words[signs[0]]
    verbs = {1: ("holds", "hold"), -1: ("is reversed", "are reversed"), 0: ("is open", "are open")}
    counted = [(signs.count(sign), one, several) for sign, (one, several) in verbs.items()]
    parts = [f"{count} {one if count == 1 else several}" for count, one, several in counted if count]
    return f"Of {len(signs)} comparisons, {', '.join(parts)}."


def _results_in_words(matches: Sequence[bool]) -> str:
    if not matches:
        return ""
    return f"{sum(matches)} of {len(matches)} results {'agrees' if sum(matches) == 1 else 'agree'} with the paper."


def _effort_in_words(effort: float, scale: Scale, changed: Collection[str]) -> str:
    parts = []
    if effort < 1:
        trains = scale.training_games or scale.stage_games or scale.training_steps
        parts.append(f"{100 * effort:.2g} % of the full {'training' if trains else 'number of games'}")
    if changed:
        parts.append("a configuration that differs from the paper's")
    return f"Run with {' and '.join(parts)}." if parts else ""


def _found(rows: Sequence[RowResult], tested: Sequence[TestedComparison]) -> str:
    """Say in a sentence what was found: the comparisons, or the best row beside the paper."""
    if tested:
        return "; ".join(map(str, tested[:3])) + (" …" if len(tested) > 3 else "")
    stated = [row for row in rows if not row.row.beside and any(cell.paper for cell in row.cells.values())]
    row = (stated or list(rows))[-1]
    parts: list[str] = []
    for name, cell in row.cells.items():
        if cell.ours is not None and len(parts) < 3:
            paper = f" (paper {format_estimate(name, cell.paper)})" if cell.paper else ""
            parts.append(f"{heading(name)} {format_estimate(name, cell.ours)}{paper}")
    return f"{row.name}: {', '.join(parts)}"
