"""Machine instructions on 64-bit words.

`popcount`, `trailing_zeros`, `prefetch` and `read_shared` are LLVM operations, which exist for every processor. `pdep`
and `pext` are BMI2 instructions of x86. On other processors, and on those that run them slowly, `pdep_portable` and
`pext_portable` are compiled instead (see `jit.portable`).
"""

from collections.abc import Callable, Sequence

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.typing import Context, Signature
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from tilewright._core.jit import Instruction, Word, inline, portable

__all__ = [
    "pdep",
    "pdep_portable",
    "pext",
    "pext_portable",
    "popcount",
    "prefetch",
    "read_shared",
    "stack_array",
    "trailing_zeros",
]

u64 = np.uint64
ONE = u64(1)


@intrinsic
def popcount(typingctx: Context, word: types.Type) -> Instruction:
    """Count the set bits: 0b1011 -> 3."""

    def codegen(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]
    ) -> ir.Value:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen


@intrinsic
def trailing_zeros(typingctx: Context, word: types.Type) -> Instruction:
    """Find the index of the lowest set bit: 0b1000 -> 3; 64 for zero."""

    def codegen(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]
    ) -> ir.Value:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), codegen


@intrinsic
def prefetch(typingctx: Context, array: types.Array, index: types.Type) -> Instruction:
    """Load array[index] into the cache ahead of its use. Has no other effect; an index outside the array is allowed."""

    def codegen(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]
    ) -> ir.Value:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        pointer, i32 = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(builder.gep(data, [args[1]]), pointer)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [pointer, i32, i32, i32]), "llvm.prefetch.p0"
        )
        builder.call(function, [address, i32(0), i32(3), i32(1)])
        return context.get_dummy_value()

    return types.void(array, types.uint64), codegen


@intrinsic
def read_shared(typingctx: Context, array: types.Array, index: types.Type) -> Instruction:
    """Return array[index], of an int64 array that another thread may change at any time.

    A kernel that never writes to an array may otherwise read it once, and keep what it read.
    """

    def codegen(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]
    ) -> ir.Value:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load_atomic(builder.gep(data, [args[1]]), "monotonic", 8)

    return types.int64(array, types.int64), codegen


@intrinsic(prefer_literal=True)
def stack_array(typingctx: Context, length: types.Type) -> Instruction | None:
    """Return an uninitialised int64[length] on the stack of the calling function; `length` is a constant.

    Kernels own no memory: this is how they get a few numbers to work with. The array must not be returned.
    """
    if not isinstance(length, types.IntegerLiteral):
        return None
    array_type = types.Array(types.int64, 1, "C")

    def codegen(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]
    ) -> ir.Value:
        size, item = ir.Constant(ir.IntType(64), length.literal_value), ir.Constant(ir.IntType(64), 8)
        data = cgutils.alloca_once(builder, ir.IntType(64), size=size)
        array = context.make_array(array_type)(context, builder)
        populate_array(array, data, shape=[size], strides=[item], itemsize=item, meminfo=None)
        return array._getvalue()

    return array_type(length), codegen


def _bmi2(name: str) -> Callable[[Word, Word], Word]:
    @intrinsic
    def instruction(typingctx: Context, word: types.Type, mask: types.Type) -> Instruction:
        def codegen(
            context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]
        ) -> ir.Value:
            i64 = ir.IntType(64)
            function = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(i64, [i64, i64]), f"llvm.x86.bmi.{name}.64"
            )
            return builder.call(function, args)

        return types.uint64(types.uint64, types.uint64), codegen

    return instruction


@inline
def pdep_portable(word: Word, mask: Word) -> Word:
    """Spread the low bits of `word` to the set bits of `mask`: (0b101, 0b11010) -> 0b10010."""
    out = u64(0)
    while mask:
        lowest = mask & (~mask + ONE)
        if word & ONE:
            out |= lowest
        word >>= ONE
        mask ^= lowest
    return out


@inline
def pext_portable(word: Word, mask: Word) -> Word:
    """Gather the bits of `word` under `mask` into the low bits: (0b10010, 0b11010) -> 0b101."""
    out, position = u64(0), ONE
    while mask:
        lowest = mask & (~mask + ONE)
        if word & lowest:
            out |= position
        position <<= ONE
        mask ^= lowest
    return out


pdep = pdep_portable if portable() else _bmi2("pdep")
pext = pext_portable if portable() else _bmi2("pext")
