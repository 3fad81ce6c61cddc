"""Step rules: how much of an error each weight takes.

A rule is a NamedTuple type; `update_weights` spreads the error of one value over the weights it was read from. The steps are
*shares of the error*: a fixed step of 1 removes it wholly. Papers that give α per weight (Szubert, Yeh) mean the share
divided by the number of look-ups: 0.0025 on 17 look-ups is a share of 0.0425.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.bits import prefetch
from tilewright._core.jit import Int, Word, implements
from tilewright.ntuple.stages import written_index
from tilewright.ntuple.weights import Indices, WeightTables, lookups, read_weight

__all__ = ["INHERITED", "FixedStepSize", "StepSize", "TemporalCoherence", "prefetch_update", "update_weights"]

u64 = np.uint64
StepSize: TypeAlias = Any  # FixedStep or Coherence
INHERITED = np.float32(0.1)  # how much of its sums a weight takes over from the stage before, with its value


class FixedStepSize(NamedTuple):
    """Every weight moves by the same share of the error."""

    alpha: NDArray[np.float32]  # float32[1]: may be changed between games


class TemporalCoherence(NamedTuple):
    """Temporal coherence (Beal & Smith 1999, Jaśkowski 2016): a weight whose errors agree in sign moves by
    the whole share, one whose errors cancel out hardly at all.

    A promoted weight begins with the value and the step that the stage before had for it, but with a part of the sums:
    so it keeps what is known, and soon follows what is different from now on.
    """

    alpha: NDArray[np.float32]  # float32[1]
    errors: NDArray[np.float32]  # float32[2 * weights]: for each weight the sum of its errors, and of their sizes


def update_weights(
    step_size: StepSize, tables: WeightTables, indices: Indices, first: Int, offset: Word, error: Any
) -> Any:
    """Move the weights at places[first:] + shift so that their sum comes nearer by `error`; returns the new sum.

    A place that is listed twice moves twice, and is summed as it was after each of its moves: on boards with equal
    symmetric images the sum returned lags behind the value that the weights now have.
    """
    raise TypeError("correct is a verb for kernels")


def prefetch_update(step_size: StepSize, indices: Indices, first: Int, n: Int, offset: Word) -> None:
    """Ask for what `update_weights` will need beside the weights."""
    raise TypeError("fetch is a verb for kernels")


@implements(update_weights, FixedStepSize)
def correct_fixed(
    step_size: FixedStepSize, tables: WeightTables, indices: Indices, first: Int, offset: Word, error: Any
) -> Any:
    n = lookups(tables)
    step = step_size.alpha[0] * error / np.float32(n)
    value = np.float32(0)
    for k in range(first, first + n):
        index = indices[k] + offset
        weight = read_weight(tables, index) + step
        tables.weights[index] = weight
        value += weight
    return value


@implements(prefetch_update, FixedStepSize)
def fetch_nothing(step_size: FixedStepSize, indices: Indices, first: Int, n: Int, offset: Word) -> None:
    pass


@implements(prefetch_update, TemporalCoherence)
def fetch_errors(step_size: TemporalCoherence, indices: Indices, first: Int, n: Int, offset: Word) -> None:
    for k in range(first, first + n):
        prefetch(step_size.errors, u64(2) * (indices[k] + offset))


@implements(update_weights, TemporalCoherence)
def correct_coherently(
    step_size: TemporalCoherence, tables: WeightTables, indices: Indices, first: Int, offset: Word, error: Any
) -> Any:
    n = lookups(tables)
    part = error / np.float32(n)
    size = abs(part)
    full_step = step_size.alpha[0] * part
    value = np.float32(0)
    for k in range(first, first + n):
        index = indices[k] + offset
        known = written_index(tables.stages, tables.weights, index, tables.stage_size)
        total, sizes = step_size.errors[u64(2) * known], step_size.errors[u64(2) * known + u64(1)]
        if known != index:
            total, sizes = INHERITED * total, INHERITED * sizes
        weight = tables.weights[known] + (full_step * abs(total) / sizes if sizes > 0 else full_step)
        tables.weights[index] = weight
        value += weight
        step_size.errors[u64(2) * index] = total + part
        step_size.errors[u64(2) * index + u64(1)] = sizes + size
    return value
