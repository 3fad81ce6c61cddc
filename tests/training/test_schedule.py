"""The schedule of a training: stages, their ends, and the phases within them."""

import math

import pytest

from tests.training.sessions import tiny
from tilewright.training.schedule import Limit, Phase, Progress, Schedule

IN_TURN = tiny(games=300, stages=("16", "32"), start_pool=10)


def at(games: int, stage: int = 0, start: int = 0, given_stages: int = 0) -> Progress:
    return Progress(games=games, stage=stage, stage_start_games=start, given_stages=given_stages)


def test_one_stage_ends_with_the_budget() -> None:
    schedule = Schedule(tiny(games=300))
    assert schedule.stages == 1
    assert schedule.phase(at(0)) == (Phase(), Limit(300, math.inf))
    assert not schedule.is_stage_over(at(300))
    assert [schedule.done(at(games)) for games in (0, 150, 300, 301)] == [0, 0.5, 1, 1]


def test_the_first_budget_that_is_used_up_ends_the_training() -> None:
    schedule = Schedule(tiny(games=300, minutes=2))
    assert schedule.done(Progress(games=30, seconds=60)) == 0.5
    assert schedule.done(Progress(games=270, seconds=60)) == 0.9
    assert schedule.phase(Progress()) == (Phase(), Limit(300, 120))


def test_stages_in_turn_have_equal_parts_of_what_is_left() -> None:
    schedule = Schedule(IN_TURN)
    assert schedule.stages == 3
    assert schedule.stage_end(at(0)) == Limit(100, math.inf)
    assert schedule.stage_end(at(150, stage=1, start=120)) == Limit(210, math.inf)
    assert schedule.stage_end(at(250, stage=2, start=210)) == Limit(300, math.inf)
    over = [schedule.is_stage_over(at(*now)) for now in ((99,), (100,), (209, 1, 120), (210, 1, 120), (300, 2, 210))]
    assert over == [False, True, False, True, False]


def test_given_stages_are_over_at_once() -> None:
    schedule = Schedule(IN_TURN)
    assert schedule.is_stage_over(at(0, given_stages=2))
    assert schedule.is_stage_over(at(0, stage=1, given_stages=2))
    assert not schedule.is_stage_over(at(0, stage=2, given_stages=2))


@pytest.mark.parametrize(
    ("progress", "phase", "games"),
    [
        (at(0), Phase(0), 100),
        (at(100, 1, 100), Phase(1, taught=True), 125),
        (at(124, 1, 100), Phase(1, taught=True), 125),
        (at(125, 1, 100), Phase(1), 200),
        (at(210, 2, 200), Phase(2, taught=True), 225),
    ],
)
def test_later_stages_are_taught_first(progress: Progress, phase: Phase, games: int) -> None:
    assert Schedule(IN_TURN.replace(teacher_fraction=0.25)).phase(progress) == (phase, Limit(games, math.inf))


def test_stages_are_frozen_for_a_fraction_of_the_training() -> None:
    config = tiny(games=300, minutes=1, stages=("16",), promote=True, stages_from=0.5)
    schedule = Schedule(config)
    assert schedule.stages == 1
    assert schedule.phase(at(0)) == (Phase(frozen=True), Limit(150, 30))
    assert schedule.phase(at(150)) == (Phase(), Limit(300, 60))
    assert schedule.phase(Progress(games=10, seconds=30)) == (Phase(), Limit(300, 60))


def test_progress_comes_back_from_a_dictionary() -> None:
    progress = Progress(5, 6, 7.5, stage=1)
    progress.pending.score_sum = 2**40
    entries = vars(progress) | {"pending": vars(progress.pending)}
    assert Progress.from_dict(entries) == progress
    with pytest.raises(ValueError, match="its counters are not those of a Pending"):
        Progress.from_dict({"luck": 1})


def test_a_stage_starts_at_the_current_game() -> None:
    progress = Progress(games=50, moves=99, seconds=1.5, decays=2, collect_games=8, collect_reached=2)
    progress.pending.games = 3
    progress.start_next_stage()
    assert progress == Progress(
        50, 99, 1.5, 2, decay_checked_at=50, stage=1, stage_start_games=50, stage_start_seconds=1.5, stage_share=0.25
    )
