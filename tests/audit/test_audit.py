"""An audit finds one planted bug of each kind, with a small example, and nothing where nothing is wrong."""

import pytest
from scipy import stats

from tests.audit import engines
from tilewright import UsageError
from tilewright.audit import AuditReport, audit_engine
from tilewright.audit.chance_checks import chi_square_p
from tilewright.audit.engines import EngineFactory
from tilewright.audit.report import CHECKS
from tilewright.audit.rules import WRONG_RULES, Tiles


def audit(engine: type[engines.RightEngine], moves: int = 1500, starts: int = 300) -> AuditReport:
    factory = EngineFactory(engine.__name__, "", engine)
    return audit_engine(factory, moves=moves, agent_moves=0, starts=starts, seed=1)


@pytest.mark.parametrize("engine", [engines.RightEngine, engines.Exponents, engines.Planes])
def test_nothing_is_found_where_nothing_is_wrong(engine: type[engines.RightEngine]) -> None:
    report = audit(engine, moves=3000)
    assert report.findings == []
    assert [result.name for result in report.results] == list(CHECKS)
    unchecked = {result.name for result in report.results if result.verdict == "not checked"}
    assert unchecked == ({"legal moves"} if engine is engines.Exponents else set())


def test_the_form_of_boards_actions_and_rewards_is_found_out() -> None:
    report = audit(engines.Exponents, moves=300)
    assert (report.encoding, report.directions) == ("exponents", ("down", "up", "left", "right"))
    notes = {result.name: result.notes for result in report.results}
    assert notes["rewards"] == ["the reward is the logarithm to base 2 of the sum of the merged tiles"]
    assert {result.name: result.notes for result in audit(engines.Planes, moves=300).results}["rewards"] == [
        "the reward is 0.1 times the sum of the merged tiles"
    ]


@pytest.mark.parametrize("message", WRONG_RULES)
def test_a_wrong_rule_of_lines_is_named(message: str) -> None:
    report = audit(engines.with_rule(message), moves=600, starts=0)
    found = {(result.name, finding.message) for result in report.results for finding in result.findings}
    assert (WRONG_RULES[message][0], message) in found
    (finding,) = [finding for finding in report.findings if finding.message == message]
    assert finding.example is not None
    assert count_tiles(finding.example.board) <= 6
    assert "expected" in finding.example.line


@pytest.mark.parametrize(
    ("engine", "check", "message", "tiles"),
    [
        (engines.RewardsTheNewTile, "rewards", "the reward is not the sum of the merged tiles", 6),
        (engines.OmitsMerges, "legal moves", "a legal move is missing", 3),
        (engines.ListsEverything, "legal moves", "a move that changes nothing is listed", 2),
        (engines.AddsATileAfterAnIllegalMove, "illegal moves", "a move that slides nothing changes the board", 8),
        (engines.EndsOnAFullBoard, "game over", "the game ends while a move is legal", 16),
        (engines.NeverEnds, "game over", "the game continues although no move is legal", 16),
        (engines.AddsNothingToCrowdedBoards, "new tiles", "no tile is added", 13),
        (engines.AddsTwoTilesNow, "new tiles", "2 tiles are added at once", 10),
        (engines.AddsEights, "new tiles", "a 8 is added", 8),
        (engines.AddsEights, "first boards", "a first board has a 8", 2),
        (engines.ManyFours, "tile values", "expected 10 %", None),
        (engines.StaleEmptyCells, "tile places", "is the list of empty cells made before the move?", None),
        (engines.PrefersTheTop, "tile places", "new tiles are not spread evenly", None),
        (engines.FirstTilesInTheCorners, "first boards", "new tiles are not spread evenly", None),
        (engines.IgnoresTheSeed, "seeding", "the same seed gives two different games", 3),
        (engines.SharesAGenerator, "seeding", "two engines that are reset with the same seed and played in turns", 3),
        (engines.AlwaysTheSameGame, "seeding", "different seeds give the same game", None),
        (engines.ReturnsItsOwnArray, "arrays", "an array that was returned changes with the next step", 2),
    ],
)
def test_a_planted_bug_is_found(engine: type[engines.RightEngine], check: str, message: str, tiles: int | None) -> None:
    report = audit(engine)
    (result,) = [result for result in report.results if result.name == check]
    (finding,) = [finding for finding in result.findings if message in finding.message]
    if tiles is None:
        assert finding.example is None
    else:
        assert finding.example is not None
        assert count_tiles(finding.example.board) <= tiles


@pytest.mark.parametrize(
    "engine",
    [engines.RewardsTheNewTile, engines.OmitsMerges, engines.NeverEnds, engines.ManyFours, engines.ReturnsItsOwnArray],
)
def test_one_bug_is_not_reported_as_another(engine: type[engines.RightEngine]) -> None:
    accused = {result.name for result in audit(engine).results if result.findings}
    allowed = {"tile values", "first boards"} if engine is engines.ManyFours else set()
    assert len(accused - allowed) == (0 if allowed else 1)


def count_tiles(tiles: Tiles) -> int:
    return sum(tile != 0 for row in tiles for tile in row)


def test_an_engine_that_shows_no_boards_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot be read as boards"):
        audit(engines.ShowsNoise)


@pytest.mark.parametrize("degrees", [1, 2, 3, 15, 24])
def test_the_chi_square_distribution_is_that_of_scipy(degrees: int) -> None:
    for statistic in (0.0, 0.3, 4.0, 25.0, 80.0):
        assert chi_square_p(statistic, degrees) == pytest.approx(stats.chi2.sf(statistic, degrees), rel=1e-9)


def test_correct_engines_are_rarely_accused() -> None:
    p_values = []
    for seed in range(12):
        report = audit_engine(
            EngineFactory("", "", engines.RightEngine), moves=600, agent_moves=0, starts=260, seed=1000 * seed
        )
        assert report.findings == []
        for result in report.results:
            p_values += [float(note.rpartition("p = ")[2].rstrip(")")) for note in result.notes if "p = " in note]
    assert len(p_values) == 12 * 5
    assert 0.3 < sum(p_values) / len(p_values) < 0.7  # uniform, not always large
    assert stats.kstest(p_values, "uniform").pvalue > 1e-4
