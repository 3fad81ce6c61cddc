"""Step sizes: how far each weight moves.

A step size is a NamedTuple type; `update_weights` distributes the error of one value over the weights it was read from.
`alpha` is divided by the number of weights read, as in TDL2048+: with a fixed alpha of 1, one update removes the whole
error. Papers that give α per weight (Szubert, Yeh) use 1/n of it: 0.0025 on 17 look-ups is an alpha of 0.0425 here.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright._core.bits import prefetch
from tilewright._core.jit import Float, Int, Word, implements
from tilewright.ntuple.stages import written_index
from tilewright.ntuple.weights import Indices, WeightTables, lookups, read_weight

__all__ = ["PROMOTED_FRACTION", "FixedStepSize", "StepSize", "TemporalCoherence", "prefetch_update", "update_weights"]

u64 = np.uint64
PROMOTED_FRACTION = np.float32(0.1)  # of its coherence sums that a weight takes over from the stage before


class FixedStepSize(NamedTuple):
    """Every weight moves by the same fraction of the error."""

    alpha: NDArray[np.float32]  # float32[1]: may change between games


class TemporalCoherence(NamedTuple):
    """Temporal coherence (Beal & Smith 1999, Jaśkowski 2016): the step of a weight is alpha · |E| / A.

    E is the sum of the errors of the weight, A the sum of their absolute values. A weight whose errors agree in sign
    moves by the whole alpha, one whose errors cancel out hardly moves.

    A promoted weight begins with the value and the step of the stage before, but with a fraction of the sums, so that
    it soon follows what is different in its own stage.
    """

    alpha: NDArray[np.float32]  # float32[1]
    sums: NDArray[np.float32]  # float32[2 * weights]: E and A of every weight, side by side; updated in place


StepSize: TypeAlias = FixedStepSize | TemporalCoherence


def update_weights(
    step_size: StepSize, tables: WeightTables, indices: Indices, first: Int, offset: Word, error: Float
) -> Float:
    """Move the weights at indices[first:first + lookups] + offset by the error, and return their new sum.

    An index that is listed twice moves twice and is summed as it was after each of its moves: on boards with equal
    symmetries the returned sum lags behind the value that the weights now have.
    """
    raise TypeError("update_weights is a verb for kernels")


def prefetch_update(step_size: StepSize, indices: Indices, first: Int, n: Int, offset: Word) -> None:
    """Prefetch what `update_weights` needs besides the weights."""
    raise TypeError("prefetch_update is a verb for kernels")


@implements(update_weights, FixedStepSize)
def update_by_fixed_step(
    step_size: FixedStepSize, tables: WeightTables, indices: Indices, first: Int, offset: Word, error: Float
) -> Float:
    """Add the same step to every weight."""
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
def prefetch_nothing(step_size: FixedStepSize, indices: Indices, first: Int, n: Int, offset: Word) -> None:
    """Do nothing: a fixed step needs the weights only."""


@implements(prefetch_update, TemporalCoherence)
def prefetch_sums(step_size: TemporalCoherence, indices: Indices, first: Int, n: Int, offset: Word) -> None:
    """Prefetch E and A of every weight."""
    for k in range(first, first + n):
        prefetch(step_size.sums, u64(2) * (indices[k] + offset))


@implements(update_weights, TemporalCoherence)
def update_by_coherence(
    step_size: TemporalCoherence, tables: WeightTables, indices: Indices, first: Int, offset: Word, error: Float
) -> Float:
    """Scale the step of every weight by |E| / A, then add the error to both sums."""
    n = lookups(tables)
    share = error / np.float32(n)
    size = abs(share)
    full_step = step_size.alpha[0] * share
    value = np.float32(0)
    for k in range(first, first + n):
        index = indices[k] + offset
        source = written_index(tables.stages, tables.weights, index, tables.stage_size)
        e, a = step_size.sums[u64(2) * source], step_size.sums[u64(2) * source + u64(1)]
        if source != index:
            e, a = PROMOTED_FRACTION * e, PROMOTED_FRACTION * a
        weight = tables.weights[source] + (full_step * abs(e) / a if a > 0 else full_step)
        tables.weights[index] = weight
        value += weight
        step_size.sums[u64(2) * index] = e + share
        step_size.sums[u64(2) * index + u64(1)] = a + size
    return value
