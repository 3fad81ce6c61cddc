"""The agent `exact` plays perfectly, says what its values are, and refuses what its table does not have."""

from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tests.exact.naive import Naive
from tests.games.naive import State
from tilewright.agents.defaults import ready_agents
from tilewright.testing import check_agent

GAME = "2048:rows=2,columns=2"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[int | None, Path]:
    folder = tmp_path_factory.mktemp("tables")
    for goal in (None, 32):
        tw.solve(GAME, goal=goal, out=folder / f"{goal}", threads=1)
    return {goal: folder / f"{goal}" for goal in (None, 32)}


@pytest.mark.parametrize("goal", [None, 32])
def test_it_conforms(goal: int | None, files: dict[int | None, Path]) -> None:
    check_agent(f"exact:table={files[goal]}", GAME, games=2)


@pytest.mark.parametrize("goal", [None, 32])
def test_its_values_are_exact_and_its_moves_the_best(goal: int | None, files: dict[int | None, Path]) -> None:
    naive, player = Naive(goal), tw.make_agent(f"exact:table={files[goal]}").player(tw.make_game(GAME))
    naive.mean(2, 2)
    for state in naive.met:
        expected = naive.values(state)
        analysis = player.analyse([list(row) for row in state.board])
        assert analysis.values == pytest.approx(expected, rel=1e-12)
        if expected:
            assert analysis.move is not None
            assert expected[analysis.move] == pytest.approx(max(expected.values()), rel=1e-12)


def test_it_says_what_its_values_are(files: dict[int | None, Path]) -> None:
    game = tw.make_game(GAME)
    units = {
        goal: tw.make_agent("exact", table=file).player(game).analyse("2 2 / 4 0").unit for goal, file in files.items()
    }
    assert units == {None: "points", 32: "probability"}


def test_once_the_goal_is_made_every_move_is_worth_one(files: dict[int | None, Path]) -> None:
    assert tw.make_agent(f"exact:table={files[32]}").values(tw.make_game(GAME).parse("32 2 / 4 0")) == {
        "right": 1.0,
        "down": 1.0,
    }


def test_a_review_has_exact_losses(files: dict[int | None, Path], tmp_path: Path) -> None:
    games = tmp_path / "games.jsonl"
    tw.evaluate("random", GAME, games=1, seed=3, record=games)
    found = tw.review(next(tw.read_games(games)), f"exact:table={files[None]}")
    naive = Naive()
    for move in found.moves:
        values = naive.values(State(move.board.tiles))
        assert move.loss == pytest.approx(max(values.values()) - values[move.played], abs=1e-9)
    assert found.total_loss > 0
    assert found.summary()["unit"] == "points"


@pytest.mark.parametrize("board", ["16 16 / 16 16", "64 0 / 0 0", "1024 512 / 0 0"])
def test_boards_that_no_game_reaches_are_refused(board: str, files: dict[int | None, Path]) -> None:
    game = tw.make_game(GAME)
    agent = tw.make_agent(f"exact:table={files[None]}")
    with pytest.raises(tw.BoardError, match="the table does not have it"):
        agent.values(game.parse(board))
    with pytest.raises(tw.BoardError, match="the table does not have it"):
        agent.player(game).play(board, 0, tw.stream_for(1), 5)


@pytest.mark.parametrize(
    "game",
    [
        "2048",
        "threes:rows=2,columns=2,start_tiles=2",
        f"{GAME},four=0.2",
        f"{GAME},start_tiles=1",
        f"{GAME},cascade=true",
    ],
)
def test_a_table_of_another_game_is_refused(game: str, files: dict[int | None, Path]) -> None:
    with pytest.raises(tw.SpecError, match="is of 2048:rows=2,columns=2; it cannot play") as caught:
        tw.evaluate(f"exact:table={files[None]}", game, games=1)
    assert "\n" not in str(caught.value)


def test_the_tile_that_wins_makes_no_other_game(files: dict[int | None, Path]) -> None:
    found = tw.evaluate(f"exact:table={files[32]}", f"{GAME},win_tile=32", games=1000, seed=1, threads=1)
    assert found.win_rate is not None
    assert 0.05 < found.win_rate.value < 0.12


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "table"
    agent, board = tw.make_agent(f"exact:table={file}"), tw.make_game(GAME).parse("2 2 / 4 0")
    tw.solve(GAME, goal=16, out=file, threads=1)
    before = agent.values(board)
    file.unlink()
    tw.solve(GAME, goal=32, out=file, threads=1)
    assert max(agent.values(board).values()) < max(before.values())


def test_it_is_not_offered_without_a_table() -> None:
    assert "exact" not in ready_agents(tw.make_game(GAME))
    with pytest.raises(tw.SpecError, match="the option table is missing"):
        tw.make_agent("exact")
    with pytest.raises(tw.FileError, match="cannot be read"):
        tw.make_agent("exact:table=nowhere").player(tw.make_game(GAME))


def test_many_threads_play_the_same_games(files: dict[int | None, Path]) -> None:
    one, two = (tw.evaluate(f"exact:table={files[None]}", GAME, games=500, seed=2, threads=n).scores for n in (1, 2))
    assert np.array_equal(one, two)
