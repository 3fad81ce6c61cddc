"""`tilewright demo`: both baselines on both games."""

from tests.cli.conftest import Command
from tilewright import evaluate, make_agent, make_game
from tilewright.cli.output import with_margin


def test_it_compares_the_baselines_on_both_games(command: Command) -> None:
    said = command("demo", "--games", "50", "--seed", "2")
    assert (said.code, said.err) == (0, "")
    for game in ("2048", "threes"):
        table = said.out.partition(f"{game}, 50 games each\n")[2].partition("\n\n")[0]
        for agent in ("random", "greedy"):
            result = evaluate(make_agent(agent), make_game(game), games=50, seed=2)
            row = next(line for line in table.splitlines() if line.startswith(agent))
            assert with_margin(result.score, 1) in row
            assert f" {result.scores.max():,} " in row
            assert f" {max(result.reach):,} " in row


def test_it_says_what_to_try_next_and_that_works(command: Command) -> None:
    last = command("demo", "--games", "1").out.splitlines()[-1]
    program, *arguments = last.removeprefix("next: ").split()
    assert program == "tilewright"
    assert command(*arguments[:-1], "10").code == 0
