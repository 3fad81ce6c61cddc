"""Games in plain Python: 2048 written as a LineGame is the very same game, and mistakes are explained."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tests.games.naive import Naive2048
from tests.games.sampling import assert_follows, spawned
from tilewright.errors import SpecError
from tilewright.testing import check_game


class Plain2048(tw.LineGame):
    """2048 up to 32768."""

    four: float = 0.1
    tile_values = tuple(2**k for k in range(1, 16))
    win_tile = 2048

    def slide_line(self, line: list[int]) -> tuple[list[int], int]:
        return Naive2048(largest_tile=32768).move_line(line)

    def spawns(self) -> dict[int, float]:
        return {2: 1 - self.four, 4: self.four} if self.four else {2: 1.0}


class Triples(tw.LineGame):
    """Few tiles, three kinds of new ones, odd rewards, and a line slides by one cell only."""

    tile_values = [0, 1, 3, 9, 27]  # type: ignore[assignment]  # noqa: RUF012
    rows = 2
    columns = 3
    start_tiles = 3

    def slide_line(self, line: list[int]) -> tuple[list[int], int]:
        for i in range(len(line) - 1):
            near, far = line[i], line[i + 1]
            if far and (near == 0 or near == far < 27):
                line[i : i + 2] = [3 * near or far]
                return [*line, 0], 7 if near else 0
        return line, 0

    def spawns(self) -> dict[int, float]:
        return {3: 0.25, 9: 0.125, 1: 0.625}


SHAPES = [(4, 4), (3, 3), (2, 4), (4, 3)]


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_2048_in_plain_python_has_the_moves_and_outcomes_of_2048(rows: int, columns: int) -> None:
    plain, game = Plain2048(rows, columns), tw.make_game("2048", rows=rows, columns=columns)
    random = np.random.default_rng(rows + 10 * columns)
    for _ in range(100):
        codes = random.choice([0, 0, 1, 1, 2, 3, 13, 14], (rows, columns))
        codes[0, 0] = 1
        tiles = np.array(game.tile_values)[codes]
        assert plain.legal(tiles) == game.legal(tiles)
        assert plain.largest(tiles) == game.largest(tiles)
        assert plain.tile_sum(tiles) == game.tile_sum(tiles)
        assert [one.tiles for one in plain.symmetries(tiles)] == [one.tiles for one in game.symmetries(tiles)]
        for move in game.legal(tiles):
            after, reward = game.slide(tiles, move)
            ours, our_reward = plain.slide(tiles, move)
            assert (ours.tiles, our_reward) == (after.tiles, reward)
            assert [(b.tiles, p) for b, p in plain.outcomes(ours)] == [(b.tiles, p) for b, p in game.outcomes(after)]


@pytest.mark.parametrize("agent", ["random", "greedy", "heuristic:depth=2", "minimax:depth=2"])
def test_agents_play_the_same_games_of_both(agent: str) -> None:
    results = []
    for game in (Plain2048(3, 3), tw.make_game("2048:rows=3,columns=3")):
        found = tw.evaluate(agent, game, games=20, seed=5, threads=1)
        results.append((found.scores.tolist(), found.moves.tolist(), found.codes.tolist()))
    assert results[0] == results[1]


def test_the_first_boards_are_those_of_2048() -> None:
    for options in ({}, {"start_tiles": 5}, {"four": 0.75}, {"four": 0.0}):
        plain, game = Plain2048(**options), tw.make_game("2048", **options)
        assert [plain.start(seed).tiles for seed in range(20)] == [game.start(seed).tiles for seed in range(20)]


@pytest.mark.parametrize("game", [Plain2048(2, 2), Triples(), Triples(rows=4, columns=4), Triples(3, 4)])
def test_they_conform(game: tw.Game) -> None:
    check_game(game, games=2)


def test_new_tiles_follow_their_probabilities() -> None:
    game = Triples(3, 4)
    after = game.parse("1 0 3 0 / 0 0 0 9 / 27 0 0 0")
    outcomes = game.outcomes(after)
    assert len(outcomes) == 3 * 8
    assert {round(probability * 8, 6) for _, probability in outcomes} == {0.25, 0.125, 0.625}
    for board, probability in outcomes:
        new = game.tile_sum(board) - game.tile_sum(after)
        assert probability == {3: 0.25, 9: 0.125, 1: 0.625}[new] / 8
    assert_follows(spawned(game, after, 100_000), dict(outcomes))


def test_the_class_says_the_defaults_and_the_spec_reads_back() -> None:
    game = Triples()
    assert repr(game) == "Triples(rows=2, columns=3, start_tiles=3, win_tile=None)"
    assert tuple(Triples.tile_values) == (0, 1, 3, 9, 27)
    assert isinstance(Triples.tile_values, tuple)
    assert repr(Plain2048()) == "Plain2048(rows=4, columns=4, start_tiles=2, win_tile=2048, four=0.1)"
    assert Plain2048().win_code == 11
    assert Plain2048.name == "Plain2048"
    for made in (game, Triples(3, 4, win_tile=27), Plain2048(four=0.5)):
        assert tw.make_game(made.spec) == made
    assert Plain2048(four=0.5).spec == f"{__name__}:Plain2048,four=0.5"
    assert Plain2048(four=0.5) != Plain2048(four=0.25)
    assert Plain2048(four=0.5).rules is Plain2048(four=0.5).rules


def test_codes_beyond_the_tiles_are_refused() -> None:
    with pytest.raises(tw.BoardError, match=r"cell 2 \(row 1, column 2\): 5 is not a tile code; the largest is 4"):
        Triples().parse("150000")


def test_a_win_is_the_winning_tile() -> None:
    episode = tw.Episode(Triples(win_tile=27), start="9 9 0 / 0 0 0")
    assert not episode.is_won
    assert episode.move("left").is_won


def test_a_game_may_be_a_decorated_dataclass() -> None:
    @dataclass(frozen=True)
    class Decorated(Triples):
        bonus: int = 3
        rows = 4

    assert repr(Decorated(bonus=5)).endswith("Decorated(rows=4, columns=3, start_tiles=3, win_tile=None, bonus=5)")


def make(**members: Any) -> type[tw.LineGame]:
    """A game of which some parts are wrong."""
    return type("Mine", (Triples,), members)


def sliding(result: Any) -> Any:
    """A `slide_line` that has this result on the line 3 3 0 or 3 3."""

    def slide_line(self: Any, line: list[int]) -> Any:
        if line[:2] == [3, 3] and not any(line[2:]):
            return result(list(line)) if callable(result) else result
        return Triples().slide_line(line)

    return slide_line


def raising(line: list[int]) -> None:
    raise IndexError("no such cell")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"tile_values": 7}, "tile_values must list the tiles, the smallest first"),
        ({"tile_values": "123"}, "tile_values must list the tiles, the smallest first"),
        ({"tile_values": ()}, "tile_values has 0 tiles; a game has 1 to 15"),
        ({"tile_values": tuple(range(1, 17))}, "tile_values has 16 tiles; a game has 1 to 15"),
        ({"tile_values": (1, 9, 3)}, "tile_values must rise from tile to tile"),
        ({"tile_values": (1, 1, 3)}, "tile_values must rise from tile to tile"),
        ({"tile_values": (1, 2.5)}, "tile_values: 2.5 is not a tile; tiles are whole numbers from 1"),
        ({"tile_values": (-1, 3)}, "tile_values: -1 is not a tile"),
        ({"tile_values": (1, 2**40)}, "tile_values: 1099511627776 is not a tile"),
        ({"win_tile": 5}, r"option win_tile=5: must be one of tile_values, \(1, 3, 9, 27\)"),
        ({"start_tiles": 7}, "option start_tiles=7: must be a whole number from 1 to 6"),
        ({"rows": 5}, "option rows=5: must be a whole number from 2 to 4"),
    ],
)
def test_wrong_attributes_are_refused_when_the_game_is_made(members: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=f"^game Mine(:|,) ?{message}"):
        make(**members)()


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, r"returned None; return the new line and the reward, as \(\[4, 0, 0, 0\], 4\)"),
        ([9, 0, 0], r"returned \[9, 0, 0\]; return the new line and the reward"),
        (([9, 0], 7), r"returned \[9, 0\]; the new line must have 3 cells|the new line must have 2 cells"),
        (lambda line: ([9] + [0] * len(line), 7), "the new line must have . cells, 0 for an empty one"),
        (lambda line: ([6] + line[1:], 7), "6 is not in tile_values: add it there, or do not merge to it"),
        (lambda line: ([None] + line[1:], 7), "None is not in tile_values"),
        (lambda line: ([9.0] + line[1:], 7), "9.0 is not in tile_values"),
        (lambda line: ([9, *([0] * (len(line) - 1))], 7.5), "has the reward 7.5; return a whole number from 0 to"),
        (lambda line: ([9, *([0] * (len(line) - 1))], -7), "has the reward -7; return a whole number from 0 to"),
        (lambda line: ([9, *([0] * (len(line) - 1))], 2**40), "has the reward 1099511627776; return a whole number"),
        (lambda line: (line, 7), "moves nothing but has the reward 7; return 0 for a line that does not move"),
        (raising, "raised IndexError: no such cell"),
    ],
)
def test_a_wrong_slide_is_explained(result: Any, message: str) -> None:
    game = make(slide_line=sliding(result))()
    with pytest.raises(SpecError, match=rf"^game Mine: slide_line\(\[3, 3(, 0)?\]\) .*({message})"):
        game.start()


def test_a_slide_must_leave_an_empty_cell_and_add_no_tile() -> None:
    def backwards(self: Any, line: list[int]) -> tuple[list[int], int]:
        return line[::-1], 0

    def growing(self: Any, line: list[int]) -> tuple[list[int], int]:
        return ([1, *line[1:]], 0) if line[0] == 0 else (line, 0)

    with pytest.raises(SpecError, match="a full line that moves must have an empty cell afterwards"):
        make(slide_line=backwards)().start()
    with pytest.raises(SpecError, match=r"slide_line\(\[0, 0\]\) returned \[1, 0\]; a move must not add tiles"):
        make(slide_line=growing, rows=2, columns=2, start_tiles=1)().start()


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, "returned None; return tiles with their probabilities"),
        ({}, "returned {}; return tiles with their probabilities"),
        ([1, 3], r"returned \[1, 3\]; return tiles with their probabilities"),
        ({2: 1.0}, "2 is not in tile_values"),
        ({0: 0.5, 1: 0.5}, "0 is not in tile_values"),
        ({1: 0.5, 3: 0.6}, "the probabilities add up to 1.1; they must add up to 1"),
        ({1: 1.5, 3: -0.5}, "1 has the probability 1.5; it must be above 0 and at most 1"),
        ({1: 1.0, 3: 0.0}, "3 has the probability 0.0; it must be above 0 and at most 1"),
        ({1: "all"}, "1 has the probability 'all'; it must be above 0"),
        ({1: float("nan")}, "1 has the probability nan"),
    ],
)
def test_wrong_spawns_are_explained(result: Mapping[int, float], message: str) -> None:
    game = make(spawns=lambda self: result)()
    with pytest.raises(SpecError, match=rf"^game Mine: spawns\(\):? {message}"):
        game.start()


def test_what_is_not_written_is_asked_for() -> None:
    class Nothing(tw.LineGame):
        pass

    class NoTiles(tw.LineGame):
        slide_line = Triples.slide_line
        spawns = Triples.spawns

    with pytest.raises(TypeError, match=r"abstract methods? .*slide_line"):
        Nothing()  # type: ignore[abstract]
    with pytest.raises(SpecError, match=r"game NoTiles: tile_values must list the tiles, .* as tile_values = \(2, 4"):
        NoTiles()
