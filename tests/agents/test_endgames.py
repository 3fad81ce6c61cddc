"""Agents with endgame tables: values are corrected where the board is in a table, and nowhere else."""

from pathlib import Path

import pytest

import tilewright as tw
from tests.exact.test_endgame import with_tiles
from tilewright.games.policy import NO_ACTION, act_one
from tilewright.games.rules import typed_state
from tilewright.rng import stream_for

PLAIN = "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("endgames")
    found = {name: folder / name for name in ("07ff-64", "077f-64")}
    for name in found:
        tw.solve(f"endgame:{name}", out=found[name], threads=1)
    tw.solve("2048:rows=2,columns=2", out=folder / "game", threads=1)
    return {**found, "game": folder / "game"}


@pytest.mark.parametrize("agent", ["ntuple:", "expectimax:depth=2,", "heuristic:depth=2,"])
def test_values_are_charged_for_the_probability_they_lose(agent: str, tables: dict[str, Path]) -> None:
    game = tw.make_game("2048")
    board = game.parse([list(row) for row in with_tiles((2, 2, 2, 2, 4))])
    probabilities = tw.load_table(tables["07ff-64"]).values(board)
    before = tw.make_agent(agent.rstrip(":,")).values(board)
    stake, best = max(before.values()), max(probabilities.values())
    expected = {move: value - stake * (best - probabilities[move]) for move, value in before.items()}
    assert expected != before
    player = tw.make_agent(f"{agent}endgames={tables['077f-64']}+{tables['07ff-64']}").player(game)
    for image in game.symmetries(board):
        analysis = player.analyse(image)
        assert sorted(analysis.values.values()) == pytest.approx(sorted(expected.values()), rel=1e-4)
        assert analysis.move == max(analysis.values, key=lambda move: analysis.values[move])


@pytest.mark.parametrize("agent", ["ntuple:", "expectimax:depth=2,", "heuristic:", "heuristic:depth=2,"])
def test_other_boards_are_played_as_without_tables(agent: str, tables: dict[str, Path]) -> None:
    with_tables = tw.make_agent(f"{agent}endgames={tables['077f-64']}+{tables['07ff-64']}")
    assert with_tables.values(PLAIN) == tw.make_agent(agent.rstrip(":,")).values(PLAIN)
    if agent == "ntuple:":
        scores = [tw.evaluate(player, games=2, seed=1).scores for player in (with_tables, tw.make_agent("ntuple"))]
        assert (scores[0] == scores[1]).all()


def test_what_is_no_endgame_table_is_refused(tables: dict[str, Path], tmp_path: Path) -> None:
    for files, reason in (
        (tables["game"], "is of a whole game, no endgame"),
        (tmp_path / "nothing", "cannot be read"),
        (f"{tables['07ff-64']}+", "cannot be read"),
    ):
        with pytest.raises(tw.UsageError, match=reason):
            tw.make_agent(f"ntuple:endgames={files}").player(tw.make_game("2048"))


def test_a_search_that_was_stopped_plays_no_move_of_the_table(tables: dict[str, Path]) -> None:
    game = tw.make_game("2048")
    board = game.parse([list(row) for row in with_tiles((2, 2, 2, 2, 4))])
    player = tw.make_agent(f"expectimax:depth=2,endgames={tables['07ff-64']}").player(game)
    assert player.move(board)
    policy = player.policy
    player.stop()
    assert act_one(policy, game.rules, typed_state(board.state), stream_for(0)) == NO_ACTION
