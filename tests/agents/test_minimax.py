"""The agent `minimax`: what its options mean, and which it refuses."""

import re

import pytest

from tests.search import naive_minimax as naive
from tilewright import SpecError, make_agent, make_game
from tilewright.cli.main import main
from tilewright.search.heuristic import WEIGHTS
from tilewright.testing import check_agent


@pytest.mark.parametrize(
    "game", ["2048:rows=3,columns=3", "2048:rows=2", "threes", "threes:rows=3,columns=3,start_tiles=5"]
)
def test_it_holds_what_every_agent_must(game: str) -> None:
    check_agent(make_agent("minimax:depth=2"), make_game(game), games=2)


def test_it_plays_the_move_of_the_highest_value() -> None:
    board = make_game("2048").parse("256 128 8 2 / 64 32 4 4 / 2 8 2 0 / 4 2 16 2")
    expected = naive.deepening(board, WEIGHTS["2048"], 2)
    agent = make_agent("minimax:depth=2")
    assert agent.values(board) == pytest.approx(expected, rel=1e-5)
    assert agent.move(board) == max(expected, key=lambda action: expected[action])


def test_without_options_it_looks_three_moves_ahead() -> None:
    board = make_game("threes").start(5)
    assert make_agent("minimax").values(board) == make_agent("minimax:depth=3").values(board)


def test_its_spec_reads_back() -> None:
    for spec in ("minimax", "minimax:depth=4", "minimax:ms=100", "minimax:ms=2.5"):
        assert make_agent(spec).spec == spec


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("depth=0", "option depth=0: must be a whole number from 1 to 16"),
        ("depth=99", "option depth=99: must be a whole number from 1 to 16"),
        ("depth=-1", "option depth=-1: must be"),
        ("depth=two", "option depth=two: must be"),
        ("ms=0", "option ms=0: must be a number from 0.001 to 3,600,000"),
        ("ms=-5", "option ms=-5: must be a number from 0.001"),
        ("ms=nan", "option ms=nan: must be a number from 0.001"),
        ("ms=inf", "option ms=inf: must be a number from 0.001"),
        ("depth=3,ms=100", "give depth=3 or ms=100, not both"),
        ("dept=3", "has no option 'dept' (did you mean 'depth'"),
    ],
)
def test_options_that_cannot_be_are_refused_in_a_line(
    capsys: pytest.CaptureFixture[str], options: str, message: str
) -> None:
    with pytest.raises(SpecError, match=re.escape(message)):
        make_agent(f"minimax:{options}")
    assert main(["move", "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2", "--agent", f"minimax:{options}"]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.splitlines()) == 1
