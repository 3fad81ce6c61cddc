"""Time inside a kernel, for searches that must end by a deadline."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from tilewright._core.jit import Int, inline

__all__ = ["nanoseconds", "time_for_another"]

GROWTH = 4  # the next depth takes at least this many times as long as the last (expectimax 10 to 30, α-β 5 to 12)
_MONOTONIC = 1  # CLOCK_MONOTONIC of Linux


@intrinsic
def nanoseconds(typingctx: Any) -> Any:
    """The time now, from a clock that never goes back: int64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        i32, i64 = ir.IntType(32), ir.IntType(64)
        time = cgutils.alloca_once(builder, ir.ArrayType(i64, 2))  # struct timespec: seconds, nanoseconds
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(i32, [i32, time.type]), "clock_gettime"
        )
        builder.call(function, [i32(_MONOTONIC), time])
        seconds, rest = (builder.extract_value(builder.load(time), i) for i in (0, 1))
        return builder.add(builder.mul(seconds, i64(1_000_000_000)), rest)

    return types.int64(), codegen


@inline
def time_for_another(began: Int, deadline: Int) -> bool:
    """Whether a search that deepens can hope to finish one more depth, by the time that the last one took.

    What is not finished counts for nothing; so a search that has no such hope stops, and the move comes sooner.
    """
    now = nanoseconds()
    return now + GROWTH * (now - began) <= deadline
