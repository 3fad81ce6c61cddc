"""Solved boards against published values, against a second and slower solver, and against games that are played."""

from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tests.exact.naive import Naive
from tests.games.naive import Naive2048
from tests.learning.exact import solve_2048
from tilewright.exact.solve import Progress

TWO_BY_TWO = "2048:rows=2,columns=2"
TWO_BY_THREE = "2048:rows=2,columns=3"
THREE_BY_THREE = "2048:rows=3,columns=3"


@pytest.mark.parametrize(("goal", "published"), [(8, 1.0), (16, 0.96251125), (32, 0.08288728907155415)])
def test_win_probabilities_of_2x2_are_the_published_ones(goal: int, published: float) -> None:
    digits = 1e-12 if goal == 32 else 1e-8
    assert abs(tw.solve(TWO_BY_TWO, goal=goal, threads=1).value - published) < digits


@pytest.mark.parametrize(
    ("game", "goal", "live"),
    [
        (TWO_BY_TWO, 8, 15),
        (TWO_BY_TWO, 16, 35),
        (TWO_BY_TWO, 32, 57),
        (TWO_BY_TWO, None, 74),  # a 64 cannot be made
        (THREE_BY_THREE, 8, 1_186),
        (THREE_BY_THREE, 16, 16_834),
        (THREE_BY_THREE, 32, 124_372),
    ],
)
def test_the_number_of_states_with_a_move_is_the_published_one(game: str, goal: int | None, live: int) -> None:
    table = tw.solve(game, goal=goal, threads=1)
    assert table.live_states == live == table.layer_sizes[:, 2].sum()
    assert table.canonical_states == table.layer_sizes[:, 1].sum()


@pytest.mark.slow
def test_3x3_to_1024_has_the_published_number_of_states() -> None:
    """The published number counts one state for all lost boards, and one for all won ones."""
    table = tw.solve(THREE_BY_THREE, goal=1024)
    assert table.live_states + 2 == 25_179_014
    assert 0.0113 < table.value < 0.0114


@pytest.mark.parametrize("goal", [None, 16, 32])
def test_2x2_is_what_the_naive_rules_give(goal: int | None) -> None:
    table, naive = tw.solve(TWO_BY_TWO, goal=goal, threads=1), Naive(goal)
    assert abs(table.value - naive.mean(2, 2)) < 1e-12 * max(1, table.value)
    assert table.states == len(naive.met)
    for state in naive.met:
        expected = naive.values(state)
        found = table.values([list(row) for row in state.board])
        assert list(found) == list(expected)
        assert found == pytest.approx(expected, rel=1e-12)


def test_2x3_to_16_is_what_the_naive_rules_give() -> None:
    for game, (rows, columns) in ((TWO_BY_THREE, (2, 3)), ("2048:rows=3,columns=2", (3, 2))):
        table, naive = tw.solve(game, goal=16, threads=1), Naive(16)
        assert abs(table.value - naive.mean(rows, columns)) < 1e-12
        assert table.states == len(naive.met)


@pytest.mark.slow
def test_2x3_is_what_the_naive_rules_give() -> None:
    solved = solve_2048(2, 3)
    table = tw.solve(TWO_BY_THREE)
    assert abs(table.value / solved.mean(solved.best) - 1) < 1e-12
    assert table.states == len(solved.moves)
    for state, value in list(solved.best.items())[::50]:
        assert table.value_of([list(row) for row in state.board]) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "rules", "tiles"),
    [
        ("four=0,start_tiles=1", Naive2048(four=0), 1),
        ("four=1", Naive2048(four=1), 2),
        ("four=0.5,start_tiles=3", Naive2048(four=0.5), 3),
        ("cascade=true", Naive2048(cascade=True), 2),
    ],
)
def test_variants_are_what_the_naive_rules_give(options: str, rules: Naive2048, tiles: int) -> None:
    table, naive = tw.solve(f"{TWO_BY_TWO},{options}", threads=1), Naive(rules=rules)
    assert abs(table.value - naive.mean(2, 2, tiles)) < 1e-10
    assert table.states == len(naive.met)


def test_the_probability_of_a_four_is_not_rounded() -> None:
    """The game draws with 32 bits; 0.1 of them is 0.10000000009, which would show in the eleventh digit."""
    exact = tw.solve(TWO_BY_TWO, goal=32, threads=1).value
    rounded = tw.solve(f"{TWO_BY_TWO},four={round(0.1 * 2**32) / 2**32!r}", goal=32, threads=1).value
    assert abs(exact - 0.08288728907155415) < 1e-15 < abs(rounded - exact)


def test_the_bits_do_not_depend_on_threads_or_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.exact.layers._SMALL_BLOCK", 64)
    table = tw.solve(THREE_BY_THREE, goal=16, threads=1)
    for other in (
        tw.solve(THREE_BY_THREE, goal=16, threads=3),
        tw.solve(THREE_BY_THREE, goal=16, threads=2, out=tmp_path / "table"),
    ):
        assert other.value == table.value
        assert (other.keys == table.keys).all()
        assert (other.afterstate_values == table.afterstate_values).all()


def test_symmetry_changes_nothing_but_the_number_of_states() -> None:
    wide, tall = tw.solve(TWO_BY_THREE, threads=1), tw.solve("2048:rows=3,columns=2", threads=1)
    assert wide.value == pytest.approx(tall.value, rel=1e-13)
    assert (wide.states, wide.canonical_states) == (tall.states, tall.canonical_states) == (85_844, 21_752)


@pytest.mark.parametrize(
    ("game", "goal", "games"), [(TWO_BY_TWO, None, 100_000), (TWO_BY_THREE, None, 20_000), (TWO_BY_THREE, 64, 20_000)]
)
def test_the_mean_of_many_games_is_the_exact_value(game: str, goal: int | None, games: int) -> None:
    """Games by the table, with a fixed seed; false alarm: five standard errors, 6e-7 each."""
    table = tw.solve(game, goal=goal, threads=1)
    found = tw.evaluate(tw.make_agent("exact", table=table), game, games=games, seed=1, threads=1)
    results = found.scores if goal is None else found.codes >= table.game.code(goal)
    assert abs(results.mean() - table.value) < 5 * results.std() / np.sqrt(games)


def test_progress_is_told_and_ends_at_one() -> None:
    told: list[Progress] = []
    table = tw.solve(TWO_BY_THREE, threads=1, progress=told.append)
    fractions = [progress.done for progress in told]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1
    assert told[-1].states == told[-1].total == table.canonical_states
    assert [progress.is_counting for progress in told] == sorted((p.is_counting for p in told), reverse=True)


@pytest.mark.parametrize(
    ("game", "goal", "reason"),
    [
        (THREE_BY_THREE, 2048, "goal=2048: cannot be made; the largest tile on a board of 3x3 is 1,024"),
        (TWO_BY_TWO, 64, "the largest tile on a board of 2x2 is 32"),
        (f"{TWO_BY_TWO},four=0", 32, "the largest tile on a board of 2x2 is 16"),
        (THREE_BY_THREE, 4, "must be at least 8"),
        (THREE_BY_THREE, 100, "must be a tile of 2048"),
        (THREE_BY_THREE, True, "must be a tile of 2048"),
        ("2048", 16384, "must be at most 8,192"),
        ("threes:rows=2,columns=2,start_tiles=2", None, "only 2048 and its variants can be solved"),
    ],
)
def test_what_cannot_be_solved_is_refused(game: str, goal: int | None, reason: str) -> None:
    with pytest.raises(tw.UsageError) as caught:
        tw.solve(game, goal=goal)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
