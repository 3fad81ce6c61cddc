"""Stages of a game, each with its own weights (Yeh et al. 2016, III).

A stage begins when certain large tiles are on the board, and those of the stages before it: "16384+8192". Tiles made of
them count as well. So "16384+8192" asks that the tiles of 16384 and above sum up to at least 16384, and those of 8192
and above to at least 16384 + 8192. As long as no tile is larger than 32768, such sums never fall, so a search can cross
from one stage to the next but not back. A larger tile counts as it is downgraded, and making one may lead back to an
earlier stage. The alphabet of the network makes no difference.

With *weight promotion* (Jaśkowski 2016) a weight of a later stage that was never written is read from the stage before,
so that a new stage begins with everything that is learned already.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from tilewright._core.bits import popcount
from tilewright._core.jit import Float, Int, Word, implements, inline
from tilewright._core.text import excerpt
from tilewright.errors import SpecError, UsageError
from tilewright.games.base import Game
from tilewright.games.bitboard import LOWEST_BITS, empty_cells

__all__ = [
    "UNWRITTEN",
    "UNWRITTEN_16",
    "OneStage",
    "PromotingStages",
    "Stages",
    "TileStages",
    "Weights",
    "condition_codes",
    "freeze_stages",
    "is_unwritten",
    "parse_stages",
    "stage_of",
    "written_index",
]

u64 = np.uint64
Weights: TypeAlias = NDArray[Any]  # float32 or int16
UNWRITTEN = -1e38  # marks a weight of a promoting stage that was never written
UNWRITTEN_16 = -32_768  # the same in 16 bits


class OneStage(NamedTuple):
    """No later stages."""


class TileStages(NamedTuple):
    """The conditions of the later stages, in order. A tile of code c counts 2**c."""

    least: NDArray[np.int64]  # the smallest code that counts
    needed: NDArray[np.int64]  # the sum that the tiles must reach
    stage: NDArray[np.int64]  # the stage that is reached with it


class PromotingStages(NamedTuple):
    """The same, with weight promotion."""

    least: NDArray[np.int64]
    needed: NDArray[np.int64]
    stage: NDArray[np.int64]


Stages: TypeAlias = OneStage | TileStages | PromotingStages


def freeze_stages(stages: Stages) -> Stages:
    """Return stages of the same type of which none but the first ever begins."""
    nothing = np.zeros(0, np.int64)
    return type(stages)(*(nothing for _ in stages))


def stage_of(stages: Stages, cells: Word) -> Int:
    """Return the number of the stage that a board is in; 0 is the first."""
    raise TypeError("stage_of is a verb for kernels")


@implements(stage_of, OneStage)
def first_stage(stages: OneStage, cells: Word) -> Int:
    """Return 0."""
    return 0


@implements(stage_of, TileStages, PromotingStages)
def stage_by_tiles(stages: TileStages | PromotingStages, cells: Word) -> Int:
    """Return the last stage whose conditions, and those of all stages before it, hold."""
    stage = 0
    for i in range(len(stages.least)):
        if _tile_mass(cells, stages.least[i]) < stages.needed[i]:
            break
        stage = stages.stage[i]
    return stage


@inline
def _tile_mass(cells: Word, least: Int) -> Int:
    """Return the sum of all tiles of at least that code."""
    mass = np.int64(0)
    for code in range(least, 16):
        others = cells ^ (u64(code) * LOWEST_BITS)
        mass += np.int64(popcount(empty_cells(others, LOWEST_BITS))) << code
    return mass


def is_unwritten(stages: Stages, weights: Weights, weight: Float) -> bool:
    """Tell whether a weight only marks that it was never written."""
    raise TypeError("is_unwritten is a verb for kernels")


@implements(is_unwritten, OneStage, TileStages)
def never_unwritten(stages: OneStage | TileStages, weights: Weights, weight: Float) -> bool:
    """Return false: without promotion every weight counts."""
    return False


@implements(is_unwritten, PromotingStages)
def marked_unwritten(stages: PromotingStages, weights: Weights, weight: Float) -> bool:
    """Compare with the mark of the weights' type."""
    return weight <= _unwritten(weights)


def written_index(stages: Stages, weights: Weights, index: Word, stage_size: Word) -> Word:
    """Return the index, or that of the same weight in the last earlier stage that wrote it."""
    raise TypeError("written_index is a verb for kernels")


@implements(written_index, OneStage, TileStages)
def own_index(stages: OneStage | TileStages, weights: Weights, index: Word, stage_size: Word) -> Word:
    """Return the index as it is."""
    return index


@implements(written_index, PromotingStages)
def promoted_index(stages: PromotingStages, weights: Weights, index: Word, stage_size: Word) -> Word:
    """Go back from stage to stage, at most to the first: learning that diverges may leave anything there."""
    while is_unwritten(stages, weights, weights[index]):
        if index < stage_size:
            break
        index -= stage_size
    return index


def _unwritten(weights: Weights) -> Float:
    raise TypeError("_unwritten is a verb for kernels")


@overload(_unwritten, jit_options={"forceinline": True})
def _unwritten_of_type(weights):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  (Numba compares signatures)
    if isinstance(weights.dtype, types.Integer):
        return lambda weights: np.int16(UNWRITTEN_16)
    return lambda weights: np.float32(UNWRITTEN)


def parse_stages(conditions: tuple[str, ...], game: Game, *, promote: bool = False) -> Stages:
    """Return what kernels take of conditions like ("16384", "16384+8192").

    Raises:
        SpecError: A condition names no tiles of the game, or does not come after the one before it.

    >>> parse_stages(("16384", "16384+8192"), make_game("2048")).least
    array([14, 13])
    """
    if not conditions:
        return OneStage()
    wanted = [condition_codes(condition, game) for condition in conditions]
    totals = [sum(1 << code for code in codes) for codes in wanted]
    if totals != sorted(set(totals)):
        raise SpecError(f"stages {', '.join(conditions)}: each must come after the one before it")
    checks = np.array(_checks(wanted), np.int64)
    kind = PromotingStages if promote else TileStages
    return kind(*(np.ascontiguousarray(column) for column in checks.T))


def condition_codes(condition: str, game: Game) -> list[int]:
    """Return the tile codes of one condition, the largest first.

    Raises:
        SpecError: The game has no such tiles.

    >>> condition_codes("8192+16384", make_game("2048"))
    [14, 13]
    """
    codes = []
    words = condition.split("+")
    if len(words) > game.rows * game.columns:
        raise SpecError(f"stage {excerpt(condition)}: {len(words):,} tiles are more than the board has cells")
    for word in words:
        try:
            codes.append(game.code(int(word) or -1))
        except (UsageError, ValueError):
            tile = excerpt(word.strip())
            raise SpecError(f"stage {excerpt(condition)}: {tile} is not a tile of {game.name}") from None
    if max(codes) > 15:
        raise SpecError(f"stage {condition!r}: the largest tile with weights is {game.value(15)}")
    return sorted(codes, reverse=True)


def _checks(wanted: list[list[int]]) -> list[tuple[int, int, int]]:
    """Return the conditions to check in order, as (least, needed, stage), each only once."""
    checks: list[tuple[int, int, int]] = []
    for number, codes in enumerate(wanted, start=1):
        own = [(code, sum(1 << larger for larger in codes[: i + 1])) for i, code in enumerate(codes)]
        new = [check for check in own if check not in [(least, needed) for least, needed, _ in checks]]
        checks += [(least, needed, number - 1) for least, needed in new[:-1]]
        checks += [(least, needed, number) for least, needed in (new or own)[-1:]]
    return checks
