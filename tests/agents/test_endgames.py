"""Agents with endgame tables: values are corrected where the board is in a table, and nowhere else."""

from pathlib import Path

import pytest

import tilewright as tw
from tests.exact.test_endgame import with_tiles

PLAIN = "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("endgames")
    found = {name: folder / name for name in ("07ff-64", "077f-64")}
    for name in found:
        tw.solve(f"endgame:{name}", out=found[name], threads=1)
    tw.solve("2048:rows=2,columns=2", out=folder / "game", threads=1)
    return {**found, "game": folder / "game"}


def test_values_are_charged_for_the_probability_they_lose(tables: dict[str, Path]) -> None:
    game = tw.make_game("2048")
    board = game.parse([list(row) for row in with_tiles((2, 2, 2, 2, 4))])
    probabilities = tw.load_table(tables["07ff-64"]).values(board)
    before = tw.make_agent("ntuple").values(board)
    stake, best = max(before.values()), max(probabilities.values())
    expected = {move: value - stake * (best - probabilities[move]) for move, value in before.items()}
    assert expected != before
    player = tw.make_agent(f"ntuple:endgames={tables['077f-64']}+{tables['07ff-64']}").player(game)
    for image in game.symmetries(board):
        analysis = player.analyse(image)
        assert sorted(analysis.values.values()) == pytest.approx(sorted(expected.values()), rel=1e-4)
        assert analysis.move == max(analysis.values, key=lambda move: analysis.values[move])


def probabilities_of(table: tw.ExactTable, board: tw.Board) -> dict[str, float]:
    """The probability behind every move that keeps the walls in place; 1 for all moves once the tile is made."""
    game = table.game
    tiles = [tile for row in board.tiles for tile in row]
    if 64 in tiles[:5]:
        return dict.fromkeys(game.legal(board), 1.0)

    def keeps_walls(move: str) -> bool:
        after = game.slide(board, move)[0].tiles
        return [tile for row in after for tile in row][5:] == tiles[5:]

    try:
        return {move: p for move, p in table.values(board).items() if keeps_walls(move)}
    except tw.BoardError:  # a wall has been displaced
        return {}


@pytest.mark.parametrize(
    ("tiles", "is_charged"),
    [((2, 2, 2, 2, 4), True), ((32, 32, 2, 4, 0), False)],  # the second one makes the 64, ends or displaces a wall
)
def test_a_search_charges_its_leaves(tiles: tuple[int, ...], is_charged: bool, tables: dict[str, Path]) -> None:
    game, table, network = tw.make_game("2048"), tw.load_table(tables["07ff-64"]), tw.make_agent("ntuple")
    board = game.parse([list(row) for row in with_tiles(tiles)])
    stake, root = max(network.values(board).values()), max(probabilities_of(table, board).values())

    def leaf(following: tw.Board) -> float:
        known = probabilities_of(table, following)
        values = network.values(following)
        return max((q + stake * (known.get(move, root) - root) for move, q in values.items()), default=0.0)

    expected = {}
    for move in game.legal(board):
        after, reward = game.slide(board, move)
        expected[move] = reward + sum(p * leaf(following) for following, p in game.outcomes(after))
    agent = tw.make_agent(f"expectimax:depth=2,endgames={tables['077f-64']}+{tables['07ff-64']}")
    assert agent.values(board) == pytest.approx(expected, rel=1e-4)
    plain = tw.make_agent("expectimax:depth=2").values(board)
    assert (expected != pytest.approx(plain, rel=1e-4)) is is_charged


@pytest.mark.parametrize("agent", ["ntuple:", "expectimax:depth=2,"])
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
