"""Time inside a kernel, for searches with a deadline."""

import sys
import time
from collections.abc import Sequence

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.typing import Context, Signature
from numba.extending import intrinsic

from tilewright._core.jit import Instruction, Int, inline

__all__ = ["MAX_MS", "MIN_MS", "NO_TIME_LIMIT", "nanoseconds", "time_for_another", "time_limit"]

MIN_MS, MAX_MS = 0.001, 3_600_000  # of a search: a microsecond to an hour
NO_TIME_LIMIT = 2**62  # nanoseconds

GROWTH = 4  # the next depth takes at least this many times as long as the last (expectimax 10 to 30, α-β 5 to 12)


def time_limit(milliseconds: float | None) -> int:
    """Return a limit in nanoseconds, at least one; None is no limit, and a short time is never rounded to that.

    >>> time_limit(2.5), time_limit(1e-9), time_limit(None) == NO_TIME_LIMIT
    (2500000, 1, True)
    """
    return NO_TIME_LIMIT if milliseconds is None else max(1, round(milliseconds * 1e6))


@intrinsic
def nanoseconds(typingctx: Context) -> Instruction:
    """Return the time of a clock that never goes back, as int64; on Windows it has a resolution of milliseconds."""

    def posix(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]) -> ir.Value:
        i32, i64 = ir.IntType(32), ir.IntType(64)
        now = cgutils.alloca_once(builder, ir.ArrayType(i64, 2))  # struct timespec: seconds, nanoseconds
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(i32, [i32, now.type]), "clock_gettime"
        )
        builder.call(function, [i32(time.CLOCK_MONOTONIC), now])  # the number differs between systems
        seconds, rest = (builder.extract_value(builder.load(now), i) for i in (0, 1))
        return builder.add(builder.mul(seconds, i64(1_000_000_000)), rest)

    def windows(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]
    ) -> ir.Value:
        i64 = ir.IntType(64)
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(i64, []), "GetTickCount64")
        return builder.mul(builder.call(function, []), i64(1_000_000))

    return types.int64(), windows if sys.platform == "win32" else posix


@inline
def time_for_another(began: Int, deadline: Int) -> bool:
    """Tell whether iterative deepening can hope to complete one more depth, judging by the time of the last one.

    A depth that is not completed does not count. A search without that hope stops, and its move comes sooner.
    """
    now = nanoseconds()
    return now + GROWTH * (now - began) <= deadline
