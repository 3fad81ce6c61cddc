"""Checks of chance: values and places of new tiles, first boards, seeding.

The statistical checks are chi-square tests. Their error rate is shared equally among them (Bonferroni): a correct
engine is accused by any of them with at most the stated probability.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright.audit.driving import Evidence, replay
from tilewright.audit.engines import EngineFactory
from tilewright.audit.reading import Reading
from tilewright.audit.report import CheckResult, Example, Finding
from tilewright.audit.rules import Tiles, empty_cells, slide, write_tiles

__all__ = ["STATISTICAL_TESTS", "check_first_boards", "check_places", "check_seeding", "check_values", "chi_square_p"]

STATISTICAL_TESTS = 5  # values, places and vacated places of new tiles, values and places of first tiles
_MIN_TILES = 500  # below, a test has no power
_SEEDS = 5


def chi_square_p(statistic: float, degrees: int) -> float:
    """The probability that a chi-square variable is at least as large as a statistic.

    >>> round(chi_square_p(3.841, 1), 3), round(chi_square_p(24.996, 15), 3)
    (0.05, 0.05)
    """
    half = statistic / 2
    if half <= 0:
        return 1.0
    if degrees % 2:
        total, term, shape = math.erfc(math.sqrt(half)), math.sqrt(half / math.pi) * 2 * math.exp(-half), 1.5
    else:
        total, term, shape = math.exp(-half), half * math.exp(-half), 2.0
    while shape <= degrees / 2:
        total += term
        term *= half / shape
        shape += 1
    return total


class _NewTile(NamedTuple):
    """A new tile of a step that is right otherwise."""

    before: Tiles
    after: Tiles  # without the new tile
    cell: tuple[int, int]
    value: int


def _new_tiles(evidence: Evidence) -> list[_NewTile]:
    found = []
    for step in evidence.transitions:
        if not step.is_legal:
            continue
        after, _ = slide(step.before, step.direction)
        differing = [(r, c) for r, row in enumerate(after) for c, tile in enumerate(row) if tile != step.after[r][c]]
        if len(differing) == 1 and after[differing[0][0]][differing[0][1]] == 0:
            (r, c) = differing[0]
            found.append(_NewTile(step.before, after, (r, c), step.after[r][c]))
    return found


def check_values(evidence: Evidence, four: float, alpha: float) -> CheckResult:
    """Test how often a new tile is a 4."""
    values = [tile.value for tile in _new_tiles(evidence)]
    return CheckResult("tile values", len(values), *_test_fours(values, four, alpha))


def _test_fours(values: Sequence[int], four: float, alpha: float) -> tuple[list[Finding], list[str]]:
    n, fours = len(values), sum(value == 4 for value in values)
    if n < _MIN_TILES:
        return [], [f"only {n} tiles: too few for a test"]
    rate = fours / n
    shown = f"{100 * rate:.2f} % of {n:,} new tiles are a 4"
    if four in (0.0, 1.0):
        return ([Finding(f"{shown}, expected {100 * four:g} %")] if rate != four else []), []
    p = chi_square_p((fours - n * four) ** 2 / (n * four * (1 - four)), 1)
    if p < alpha:
        return [Finding(f"{shown}, expected {100 * four:g} % (p = {p:.1g})")], []
    return [], [f"{shown} (p = {p:.2g})"]


def check_places(evidence: Evidence, alpha: float) -> CheckResult:
    """Test whether every empty cell gets the new tile with the same probability."""
    tiles = _new_tiles(evidence)
    result = CheckResult("tile places", len(tiles))
    if len(tiles) < _MIN_TILES:
        result.notes.append(f"only {len(tiles)} tiles: too few for a test")
        return result
    rows, columns = len(tiles[0].after), len(tiles[0].after[0])
    cells = rows * columns
    excess, covariance = np.zeros(cells), np.zeros((cells, cells))
    expected = np.zeros(cells)
    for _, after, (r, c), _ in tiles:
        chances = np.zeros(cells)
        empty = [row * columns + column for row, column in empty_cells(after)]
        chances[empty] = 1 / len(empty)
        expected += chances
        covariance += np.diag(chances) - np.outer(chances, chances)
        excess[r * columns + c] += 1
    excess -= expected
    statistic = float(excess @ np.linalg.pinv(covariance, hermitian=True) @ excess)
    _judge_places(result, statistic, cells - 1, excess, expected, columns, alpha)
    _judge_vacated(result, tiles, alpha)
    return result


def _judge_vacated(result: CheckResult, tiles: list[_NewTile], alpha: float) -> None:
    """Test whether cells that the move has vacated get their part: a stale list of empty cells leaves them out."""
    found, expected, variance = 0, 0.0, 0.0
    for before, after, (r, c), _ in tiles:
        empty = empty_cells(after)
        part = sum(before[row][column] != 0 for row, column in empty) / len(empty)
        found += before[r][c] != 0
        expected += part
        variance += part * (1 - part)
    p = chi_square_p((found - expected) ** 2 / variance, 1) if variance else 1.0
    shown = f"cells that the move has vacated got {found:,} tiles, expected {expected:,.0f}"
    if p < alpha:
        result.findings.append(Finding(f"{shown} (p = {p:.1g}): is the list of empty cells made before the move?"))
    else:
        result.notes.append(f"vacated cells: p = {p:.2g}")


def _judge_places(
    result: CheckResult,
    statistic: float,
    degrees: int,
    excess: NDArray[np.float64],
    expected: NDArray[np.float64],
    columns: int,
    alpha: float,
) -> CheckResult:
    p = chi_square_p(statistic, degrees)
    if p >= alpha:
        result.notes.append(f"places: p = {p:.2g}")
        return result
    worst = int(np.argmax(np.abs(excess) / np.sqrt(np.maximum(expected, 1))))
    found = expected[worst] + excess[worst]
    result.findings.append(
        Finding(
            f"new tiles are not spread evenly (chi-square {statistic:.0f} with {degrees} degrees of freedom, "
            f"p = {p:.1g}): row {worst // columns + 1}, column {worst % columns + 1} got {found:,.0f} tiles, "
            f"expected {expected[worst]:,.0f}"
        )
    )
    return result


def check_first_boards(evidence: Evidence, four: float, alpha: float) -> CheckResult:
    """Test the first boards: the number of their tiles, values and places."""
    starts = evidence.starts
    counts = Counter(sum(tile != 0 for row in tiles for tile in row) for tiles in starts)
    result = CheckResult("first boards", len(starts))
    values = [tile for tiles in starts for row in tiles for tile in row if tile]
    strange = sorted(set(values) - {2, 4})
    if strange:
        example = min((tiles for tiles in starts if set(strange) & {t for row in tiles for t in row}), key=str)
        result.findings.append(
            Finding(f"a first board has a {strange[0]}", 1, Example(example, "", "2 and 4 only", write_tiles(example)))
        )
        return result
    if len(counts) > 1:
        result.findings.append(Finding(f"first boards have {_join(sorted(counts))} tiles, not always as many"))
        return result
    (tiles_each,) = counts
    result.notes.append(
        f"{tiles_each} tile{'s' if tiles_each > 1 else ''}{'' if tiles_each == 2 else ', the original has 2'}"
    )
    findings, notes = _test_fours(values, four, alpha)
    result.findings += findings
    result.notes += notes
    if len(values) < _MIN_TILES:
        return result
    columns, cells = len(starts[0][0]), len(starts[0]) * len(starts[0][0])
    excess = np.zeros(cells)
    for tiles in starts:
        excess += [tile != 0 for row in tiles for tile in row]
    expected = np.full(cells, len(values) / cells)
    excess -= expected
    # Tiles of one board are in different cells: their counts have the covariance of draws without replacement.
    variance = len(starts) * tiles_each * (cells - tiles_each) / (cells * (cells - 1))
    return _judge_places(result, float((excess**2).sum() / variance), cells - 1, excess, expected, columns, alpha)


def _join(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:-1])) + f" or {numbers[-1]}"


def check_seeding(factory: EngineFactory, reading: Reading, seed: int) -> CheckResult:
    """Check that a seed decides the game: one engine twice, two engines in turns, and another seed."""
    result = CheckResult("seeding", 0)
    if not factory.draws_tiles:
        result.notes.append("the engine leaves chance to its caller")
        return result
    engine, first, second = factory.make(), factory.make(), factory.make()
    games = []
    for number in range(seed, seed + _SEEDS):
        result.tested += 1
        (once,), (again,) = replay([engine], reading, number), replay([engine], reading, number)
        games.append(tuple(once))
        if once != again:
            result.findings = [_seed_finding("the same seed gives two different games", once, again)]
            return result
        left, right = replay([first, second], reading, number)
        if left != right or left != once:
            other = right if right != once else left
            message = "two engines that are reset with the same seed and played in turns play different games"
            result.findings = [_seed_finding(message, once, other)]
            return result
    if len(set(games)) < _SEEDS:
        result.findings = [Finding("different seeds give the same game", _SEEDS - len(set(games)))]
    return result


def _seed_finding(message: str, expected: list[Tiles], found: list[Tiles]) -> Finding:
    step = next((i for i, pair in enumerate(zip(expected, found, strict=False)) if pair[0] != pair[1]), 0)
    example = Example(expected[max(step - 1, 0)], "", write_tiles(expected[step]), write_tiles(found[step]))
    return Finding(f"{message}, from board {step} on", 1, example)
