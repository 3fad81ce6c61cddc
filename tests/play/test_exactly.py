"""Exact results of agents: the naive Markov chain, games that are played, and perfect play as the upper bound."""

import numpy as np
import pytest

import tilewright as tw
from tests.learning.exact import solve_2048
from tilewright.agents.base import Agent
from tilewright.play.exactly import percent_of_perfect

TWO_BY_TWO, TWO_BY_THREE = "2048:rows=2,columns=2", "2048:rows=2,columns=3"


@pytest.fixture(scope="module")
def tables() -> dict[str, tw.ExactTable]:
    return {game: tw.solve(game, threads=1) for game in (TWO_BY_TWO, TWO_BY_THREE)}


class UpFirst(Agent):
    """Always the first legal move: written in Python."""

    def values(self, board, stream=None):  # type: ignore[no-untyped-def]
        return {move: -i for i, move in enumerate(board.game.legal(board))}


@pytest.mark.parametrize("agent", ["heuristic:depth=1", "minimax:depth=2", "up first"])
def test_it_is_the_value_of_the_naive_markov_chain(agent: str) -> None:
    player = UpFirst() if agent == "up first" else tw.make_agent(agent)
    game, solved = tw.make_game(TWO_BY_TWO), solve_2048(2, 2)
    policy = {
        state: player.move(game.parse([list(row) for row in state.board]))
        for state, moves in solved.moves.items()
        if moves
    }
    found = tw.evaluate_exactly(player, game, threads=1)
    assert found.score == pytest.approx(solved.mean(solved.values_under(policy)), rel=1e-12)
    visits = solved.visits(policy)
    assert found.states == sum(1 for chance in visits.values() if chance > 0)
    ends = {state: chance for state, chance in visits.items() if not solved.moves[state]}
    for tile, probability in found.reach.items():
        assert probability == pytest.approx(sum(p for s, p in ends.items() if max(map(max, s.board)) >= tile))


def test_games_that_are_played_have_this_mean() -> None:
    """False alarm: five standard errors, 6e-7 each."""
    found = tw.evaluate_exactly("heuristic:depth=1", TWO_BY_THREE, threads=1)
    played = tw.evaluate("heuristic:depth=1", TWO_BY_THREE, games=20_000, seed=1, threads=1)
    for sample, expected in (
        (played.scores, found.score),
        (played.moves, found.moves),
        (played.codes >= 6, found.reach[64]),
    ):
        assert abs(sample.mean() - expected) < 5 * sample.std() / np.sqrt(20_000)


@pytest.mark.parametrize("game", [TWO_BY_TWO, TWO_BY_THREE])
def test_perfect_play_is_perfect_and_nothing_else_is_better(game: str, tables: dict[str, tw.ExactTable]) -> None:
    table = tables[game]
    assert tw.evaluate_exactly(tw.make_agent("exact", table=table), game, threads=1).percent_of(table) == pytest.approx(
        100
    )
    for agent in ("heuristic:depth=1", "minimax:depth=2"):
        percent = tw.evaluate_exactly(agent, game, threads=1).percent_of(table)
        assert percent < 100 + 1e-9 if game == TWO_BY_TWO else percent < 99  # the smallest board is played perfectly


def test_the_bits_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.exact.layers._SMALL_BLOCK", 16)
    one, three = (tw.evaluate_exactly("heuristic:depth=1", TWO_BY_THREE, threads=n) for n in (1, 3))
    assert (one.score, one.reach, one.states) == (three.score, three.reach, three.states)


def test_per_cent_of_perfect_of_a_goal_and_of_a_sample(tables: dict[str, tw.ExactTable]) -> None:
    goal = tw.solve(TWO_BY_TWO, goal=32, threads=1)
    exact = tw.evaluate_exactly("heuristic:depth=1", TWO_BY_TWO, threads=1)
    assert percent_of_perfect(exact, goal).value == pytest.approx(100 * exact.reach[32] / goal.value)
    played = tw.evaluate("heuristic:depth=1", TWO_BY_TWO, games=5_000, seed=1, threads=1)
    for table in (goal, tables[TWO_BY_TWO]):
        estimate = percent_of_perfect(played, table)
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low < exact.percent_of(table) < estimate.high  # a fixed seed, for which it holds


@pytest.mark.parametrize(
    ("agent", "game", "reason"),
    [
        ("greedy", TWO_BY_TWO, "greedy: draws random numbers"),
        ("random", TWO_BY_TWO, "draws random numbers"),
        ("montecarlo:rollouts=2", TWO_BY_TWO, "draws random numbers"),
        ("heuristic:ms=1", TWO_BY_TWO, "depend on the time"),
        ("heuristic", "threes", "only 2048"),
    ],
)
def test_what_has_no_exact_value_is_refused(agent: str, game: str, reason: str) -> None:
    with pytest.raises(tw.UsageError, match=reason):
        tw.evaluate_exactly(agent, game, threads=1)


@pytest.mark.parametrize(("game", "size"), [("2048", "4x4"), ("2048:rows=3", "3x4")])
def test_a_board_that_is_too_large_is_refused_at_once(game: str, size: str) -> None:
    with pytest.raises(tw.UsageError, match=f"a board of {size} is too large for exact results"):
        tw.evaluate_exactly(UpFirst(), game, threads=1)


def test_games_that_reach_too_many_boards_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.play.exactly.MAX_STATES", 10_000)
    with pytest.raises(tw.UsageError, match="more than 10,000 boards"):
        tw.evaluate_exactly("heuristic:depth=1", "2048:rows=3,columns=3", threads=1)


def test_a_table_of_another_game_is_refused(tables: dict[str, tw.ExactTable]) -> None:
    with pytest.raises(tw.SpecError, match="cannot play"):
        tw.evaluate_exactly("heuristic:depth=1", TWO_BY_TWO, threads=1).percent_of(tables[TWO_BY_THREE])
