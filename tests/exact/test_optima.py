"""The known values of perfect play are those that the solver finds."""

import pytest

import tilewright as tw
from tilewright.exact.optima import perfect_score


@pytest.mark.parametrize(
    "game",
    [
        "2048:rows=2,columns=2",
        "2048:rows=2,columns=3,win_tile=64",
        "2048:rows=3,columns=2",
        pytest.param("2048:rows=2", marks=pytest.mark.slow),
        pytest.param("2048:columns=2", marks=pytest.mark.slow),
        pytest.param("2048:rows=3,columns=3", marks=pytest.mark.slow),
    ],
)
def test_known_values_are_solved_ones(game: str) -> None:
    assert tw.solve(game).value == pytest.approx(perfect_score(tw.make_game(game)), rel=1e-13)


@pytest.mark.parametrize("game", ["2048", "2048:rows=2,columns=2,four=0.2", "threes"])
def test_other_games_are_not_known(game: str) -> None:
    assert perfect_score(tw.make_game(game)) is None


def test_the_value_of_3x4_is_the_published_one() -> None:
    assert perfect_score(tw.make_game("2048:rows=3")) == pytest.approx(50_724.26)
