"""Stages of a game, each with weights of its own (Yeh et al. 2016, III).

Where stages *promote*, a weight of a later stage that was never written is read from the stage before (Jaśkowski 2016),
so that a new stage begins with all that is known already.

A stage begins when certain large tiles are on the board, and those of the stages before it: "16384+8192". Tiles that
were made of them count as well. So "16384+8192" asks that the tiles of 16384 and more have a sum of at least 16384,
and those of 8192 and more one of at least 16384 + 8192. Such sums never fall, whatever merges: a stage is a matter of
the board alone, needs no memory of what came before, and a search can cross from one stage to the next.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from tilewright._core.bits import popcount
from tilewright._core.jit import Int, Word, implements, inline
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
    "condition_codes",
    "frozen",
    "is_unwritten",
    "parse_stages",
    "stage_of",
    "written_index",
]

u64 = np.uint64
Stages: TypeAlias = Any  # OneStage, TileStages or PromotingStages
UNWRITTEN = -1e38  # a weight of a promoting stage that was never written
UNWRITTEN_16 = -32_768  # the same in 16 bits


class OneStage(NamedTuple):
    pass


class TileStages(NamedTuple):
    """What the later stages need, one after the other. Tiles are counted by 2 to the power of their codes."""

    least: NDArray[np.int64]  # the smallest code that counts
    needed: NDArray[np.int64]  # how much must be there
    stage: NDArray[np.int64]  # which stage is reached with it


class PromotingStages(NamedTuple):
    least: NDArray[np.int64]
    needed: NDArray[np.int64]
    stage: NDArray[np.int64]


def frozen(stages: Stages) -> Stages:
    """The same kind of stages, of which none but the first ever begins."""
    nothing = np.zeros(0, np.int64)
    return type(stages)(*(nothing for _ in stages))


def stage_of(stages: Stages, cells: Word) -> Int:
    """The number of the stage that a board is in; 0 is the first."""
    raise TypeError("stage_of is a verb for kernels")


@implements(stage_of, OneStage)
def always_the_first(stages: OneStage, cells: Word) -> Int:
    return 0


@implements(stage_of, TileStages)
def stage_by_tiles(stages: TileStages, cells: Word) -> Int:
    return _stage(stages, cells)


@implements(stage_of, PromotingStages)
def promoting_stage_by_tiles(stages: PromotingStages, cells: Word) -> Int:
    return _stage(stages, cells)


@inline
def _stage(stages: Stages, cells: Word) -> Int:
    stage = 0
    for i in range(len(stages.least)):
        if _mass(cells, stages.least[i]) < stages.needed[i]:
            break
        stage = stages.stage[i]
    return stage


@inline
def _mass(cells: Word, least: Int) -> Int:
    """The sum of all tiles of at least that code."""
    mass = np.int64(0)
    for code in range(least, 16):
        others = cells ^ (u64(code) * LOWEST_BITS)
        mass += np.int64(popcount(empty_cells(others, LOWEST_BITS))) << code
    return mass


def is_unwritten(stages: Stages, weights: NDArray[Any], weight: Any) -> bool:
    """Whether a weight is only the mark of one that was never written."""
    raise TypeError("is_unwritten is a verb for kernels")


@implements(is_unwritten, OneStage)
def never_of_one_stage(stages: OneStage, weights: NDArray[Any], weight: Any) -> bool:
    return False


@implements(is_unwritten, TileStages)
def never_of_stages_apart(stages: TileStages, weights: NDArray[Any], weight: Any) -> bool:
    return False


@implements(is_unwritten, PromotingStages)
def marked_as_unwritten(stages: PromotingStages, weights: NDArray[Any], weight: Any) -> bool:
    return weight <= _unwritten(weights)


def written_index(stages: Stages, weights: NDArray[Any], index: Word, stage_size: Word) -> Word:
    """The place, or where its weight is read instead while it was never written."""
    raise TypeError("written_place is a verb for kernels")


@implements(written_index, OneStage)
def the_only_place(stages: OneStage, weights: NDArray[Any], index: Word, stage_size: Word) -> Word:
    return index


@implements(written_index, TileStages)
def the_own_place(stages: TileStages, weights: NDArray[Any], index: Word, stage_size: Word) -> Word:
    return index


@implements(written_index, PromotingStages)
def the_last_place_written(stages: PromotingStages, weights: NDArray[Any], index: Word, stage_size: Word) -> Word:
    while is_unwritten(stages, weights, weights[index]):
        index -= stage_size
    return index


def _unwritten(weights: NDArray[Any]) -> Any:
    raise TypeError("_unwritten is for kernels")


@overload(_unwritten, jit_options={"forceinline": True})
def _unwritten_of_type(weights):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  (Numba compares signatures)
    if isinstance(weights.dtype, types.Integer):
        return lambda weights: np.int16(UNWRITTEN_16)
    return lambda weights: np.float32(UNWRITTEN)


def parse_stages(conditions: tuple[str, ...], game: Game, *, promote: bool = False) -> Stages:
    """What kernels take of conditions like ("16384", "16384+8192"); raises SpecError where one cannot be.

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
    """The tile codes of one condition, the largest first; raises SpecError where there are no such tiles.

    >>> condition_codes("8192+16384", make_game("2048"))
    [14, 13]
    """
    codes = []
    for word in condition.split("+"):
        try:
            codes.append(game.code(int(word) or -1))
        except (UsageError, ValueError):
            raise SpecError(f"stage {condition!r}: {word.strip()!r} is no tile of {game.name}") from None
    if max(codes) > 15:
        raise SpecError(f"stage {condition!r}: the largest tile that a network knows is {game.value(15)}")
    return sorted(codes, reverse=True)


def _checks(wanted: list[list[int]]) -> list[tuple[int, int, int]]:
    """What is looked at in turn, as (least, needed, stage reached with it), without what was looked at before."""
    checks: list[tuple[int, int, int]] = []
    for number, codes in enumerate(wanted, start=1):
        own = [(code, sum(1 << larger for larger in codes[: i + 1])) for i, code in enumerate(codes)]
        new = [check for check in own if check not in [(least, needed) for least, needed, _ in checks]]
        checks += [(least, needed, number - 1) for least, needed in new[:-1]]
        checks += [(least, needed, number) for least, needed in (new or own)[-1:]]
    return checks
