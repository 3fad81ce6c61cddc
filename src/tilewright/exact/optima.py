"""Known expected scores of perfect play, so that results can be put beside them without solving again."""

from tilewright.exact.problem import rules_spec
from tilewright.games.base import Game
from tilewright.games.twenty48 import Twenty48

__all__ = ["perfect_score"]

_PERFECT_SCORES = {
    "2048:rows=2,columns=2": 66.96414945710126,
    "2048:rows=2,columns=3": 480.2582717759585,
    "2048:rows=3,columns=2": 480.2582717759585,
    "2048:rows=2": 2641.873035692249,
    "2048:columns=2": 2641.873035692249,
    "2048:rows=3,columns=3": 5468.486797410302,
    "2048:rows=3": 50_724.26,  # from two 2s: Kaneko & Yamashita, arXiv 2510.04580
}


def perfect_score(game: Game) -> float | None:
    """Return the expected score of perfect play; None where it is not known.

    >>> perfect_score(make_game("2048:rows=2,columns=2"))
    66.96414945710126
    """
    return _PERFECT_SCORES.get(rules_spec(game)) if type(game) is Twenty48 else None
